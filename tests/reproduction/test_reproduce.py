"""Running the experiments of the paper, and writing the report."""

import json
from pathlib import Path

import polars as pl
import pytest
from analysis_data import frames_of

from lowregret._common.progress import Progress
from lowregret.errors import InputError, StoreError
from lowregret.experiments.spec import Experiment
from lowregret.reproduction import reproduce
from lowregret.reproduction.evaluation import Evaluation, evaluate
from lowregret.reproduction.reproduce import reproduce as reproduce_paper
from lowregret.reproduction.reproduce import run_experiments, write_files

RUNS = {"paper-1": {"EUCBV": [950.0, 970.0], "MOSS": [700.0, 720.0], "UCB1": [1600.0, 1610.0]}}


RESULTS = frames_of(RUNS)


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(RESULTS)


def small(number: int | None = None, runs: int = 100, seed: int = 1) -> tuple[Experiment, ...]:
    """Return small experiments in place of those of the paper."""
    return tuple(
        Experiment(name=name, environments=environment, policies=["EUCBV", "MOSS"], runs=runs, seed=seed)
        for name, environment in {
            "one": {"name": "paper-1", "environment": "bernoulli:0.1,0.5", "horizon": 200},
            "two": {"name": "paper-2", "environment": "gaussian:mean=0.1,0.5;variance=0.1", "horizon": 200},
        }.items()
    )


def test_stored_results_are_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "experiments_to_run", small)
    first = run_experiments(tmp_path, runs=3)
    shards = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("shards/*")}
    assert len(shards) == 4
    again = run_experiments(tmp_path, runs=3)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("shards/*")} == shards
    assert again.finals.equals(first.finals)
    assert first.arms["environment"].unique(maintain_order=True).to_list() == ["paper-1", "paper-2"]
    assert not run_experiments(tmp_path, runs=3, seed=2).finals.equals(first.finals)


def test_progress_grows_from_the_first_shard_to_the_last_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one(*given: int) -> tuple[Experiment, ...]:
        return (small(*given)[0].model_copy(update={"policies": ["EUCBV", "UCB1"]}),)

    monkeypatch.setattr(reproduce, "experiments_to_run", one)
    shares: list[float] = []
    states: list[str] = []

    def show(now: Progress) -> None:
        shares.append(now.share)
        states.append(f"{now.what}, {now.done}" if now.unit == "shards" else now.what)

    reproduce_paper(tmp_path, runs=3, progress=show)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert list(dict.fromkeys(states)) == [
        "paper, 0",
        "paper, 1",
        "paper, 2",
        "drawing charts",
        "writing figures",
    ]
    shares.clear()
    reproduce_paper(tmp_path, runs=3, figures="none", progress=show)  # nothing is left to simulate
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_files(evaluation: Evaluation, tmp_path: Path) -> None:
    files = write_files(tmp_path, evaluation, "all")
    tables = ["readings", "uniform", "matches", "points", "claims", "groups", "comparisons", "bounds"]
    tables.append("estimates")
    names = ["report.html", *(f"{name}.csv" for name in tables), "reproduction.json"]
    assert [path.name for path in files if path.parent == tmp_path] == names
    figures = [path for path in files if path.parent == tmp_path / "figures"]
    assert {path.suffix for path in figures} == {".svg", ".png", ".pdf"}
    assert {path.stem for path in figures} >= {
        "figure-experiment-1",
        "experiment-1-regret",
        "experiment-1-pulls",
    }
    assert all(path.stat().st_size > 1000 for path in figures)
    table = pl.read_csv(tmp_path / "readings.csv")
    assert table.filter(policy="MOSS").select("mean", "published").row(0) == (710.0, 624.16)
    everything = json.loads((tmp_path / "reproduction.json").read_text())
    assert everything["claims"] == evaluation.claims.to_dicts()
    assert list(everything) == tables
    again = evaluate(RESULTS).tables()
    assert all(table.equals(again[name]) for name, table in evaluation.tables().items())


def test_estimated_probabilities_and_their_bounds(evaluation: Evaluation) -> None:
    eliminated, lemma = evaluation.estimates.to_dicts()
    assert (eliminated["event"], eliminated["runs"], eliminated["occurrences"]) == (
        "optimal arm eliminated",
        2,
        0,
    )
    assert lemma["event"] == "Lemma 3"
    assert lemma["low"] <= lemma["exact"] <= lemma["high"] < lemma["bound"]


@pytest.mark.parametrize("given", [{"number": 5}, {"runs": 0}, {"seed": -1}])
def test_bad_input_is_refused_before_the_folder_is_created(given: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"got {next(iter(given.values()))}$"):
        run_experiments(tmp_path / "new", **given)
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made_is_a_store_error(evaluation: Evaluation, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"^cannot write to '.*folder': "):
        write_files(tmp_path / "file" / "folder", evaluation)
