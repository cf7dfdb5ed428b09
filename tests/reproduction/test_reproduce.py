"""Running the paper's experiments and writing the account of them."""

import json
from pathlib import Path

import polars as pl
import pytest
from analysis_data import frames_of

import lowregret.reproduction.reproduce as reproduction
from lowregret.errors import InputError, StoreError
from lowregret.experiments.spec import Experiment
from lowregret.reproduction.page_sections import Account
from lowregret.reproduction.reproduce import find, play, prepare, write

RUNS = {"paper-1": {"EUCBV": [950.0, 970.0], "MOSS": [700.0, 720.0], "UCB1": [1600.0, 1610.0]}}


TABLES = frames_of(RUNS)


@pytest.fixture(scope="module")
def account() -> Account:
    return find(TABLES)


def short(number: int | None = None, runs: int = 100, seed: int = 1) -> tuple[Experiment, ...]:
    """Give small experiments in place of the paper's."""
    return tuple(
        Experiment(name=name, environments=environment, policies=["EUCBV", "MOSS"], runs=runs, seed=seed)
        for name, environment in {
            "one": {"name": "paper-1", "environment": "bernoulli:0.1,0.5", "horizon": 200},
            "two": {"name": "paper-2", "environment": "gaussian:mean=0.1,0.5;variance=0.1", "horizon": 200},
        }.items()
    )


def test_runs_are_kept_and_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduction, "experiments", short)
    first = play(tmp_path, runs=3)
    shards = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("shards/*")}
    assert len(shards) == 4
    again = play(tmp_path, runs=3)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("shards/*")} == shards
    assert again.finals.equals(first.finals)
    assert first.arms["environment"].unique(maintain_order=True).to_list() == ["paper-1", "paper-2"]
    assert not play(tmp_path, runs=3, seed=2).finals.equals(first.finals)


def test_files(account: Account, tmp_path: Path) -> None:
    files = write(tmp_path, account)
    tables = ["readings", "matches", "points", "claims", "comparisons", "bounds", "chances"]
    names = ["report.html", *(f"{name}.csv" for name in tables), "reproduction.json"]
    assert [path.name for path in files if path.parent == tmp_path] == names
    figures = [path for path in files if path.parent == tmp_path / "figures"]
    assert {path.suffix for path in figures} == {".svg", ".png"}
    assert {path.stem for path in figures} >= {
        "figure-experiment-1",
        "experiment-1-regret",
        "experiment-1-pulls",
    }
    assert all(path.stat().st_size > 1000 for path in figures)
    table = pl.read_csv(tmp_path / "readings.csv")
    assert table.filter(policy="MOSS").select("mean", "published").row(0) == (710.0, 624.16)
    everything = json.loads((tmp_path / "reproduction.json").read_text())
    assert everything["claims"] == account.claims.to_dicts()
    assert list(everything) == tables
    again = find(TABLES).numbers()
    assert all(table.equals(again[name]) for name, table in account.numbers().items())


def test_the_probabilities_of_the_proof_stand_beside_their_bounds(account: Account) -> None:
    eliminated, lemma = account.chances.to_dicts()
    assert (eliminated["event"], eliminated["runs"], eliminated["seen"]) == ("optimal arm eliminated", 2, 0)
    assert lemma["event"] == "Lemma 3"
    assert lemma["low"] <= lemma["exact"] <= lemma["high"] < lemma["bound"]


def test_preparing_leaves_no_files(tmp_path: Path) -> None:
    prepare(tmp_path / "new", runs=1)
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("given", [{"number": 5}, {"runs": 0}, {"seed": -1}])
def test_bad_input_is_refused_before_the_folder_is_made(given: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"got {next(iter(given.values()))}$"):
        prepare(tmp_path / "new", **given)
    assert not (tmp_path / "new").exists()


def test_a_folder_that_went_away_is_told_in_one_sentence(account: Account, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^cannot write to '.*gone': "):
        write(tmp_path / "gone", account)
