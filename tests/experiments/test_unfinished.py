"""The results so far of an experiment that was stopped, and the page that follows a run."""

from pathlib import Path
from threading import Thread

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import lowregret as lr
from lowregret._common.progress import Progress
from lowregret.cli import app
from lowregret.experiments.run import run

STEPS = 1_000
"""Shards of 4 runs each on the environments below."""
TABLES = ("finals", "paths", "pulls", "events", "arms")


def experiment(**changes: object) -> lr.Experiment:
    known = {
        "name": "half",
        "environments": ["bernoulli:0.5,0.6", "bernoulli:0.1,0.9,0.2"],
        "policies": ["EUCBV", "MOSS", "UCB1"],
        "horizon": 200,
        "runs": 20,
    }
    return lr.Experiment(**known | changes)


def stopped(folder: Path, shards: int, **changes: object) -> None:
    """Run an experiment until so many shards are done."""

    def stop(now: Progress) -> None:
        if now.done >= shards:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(experiment(**changes), folder, shard_steps=STEPS, threads=1, progress=stop)


@pytest.fixture
def half(tmp_path: Path) -> Path:
    stopped(tmp_path, 10)
    return tmp_path


def opened(folder: Path) -> lr.Results:
    with pytest.warns(UserWarning, match=r"is unfinished: [\d,]+ of [\d,]+ runs are done$"):
        return lr.open_results(folder)


def test_finished_shards_are_opened_with_a_warning(half: Path) -> None:
    results, whole = opened(half), experiment().run()
    assert results.planned_runs == 2 * 3 * 20
    done = len(results.finals)
    assert 40 <= done < 120
    assert repr(results).endswith(f"seed 0, unfinished: {done} of 120 runs of all pairs)")
    keys = results.finals.select("environment", "policy", "run")
    for name in TABLES:
        table, all_rows = getattr(results, name), getattr(whole, name)
        on = (
            [key for key in keys.columns if key in table.columns]
            if name != "arms"
            else ["environment", "arm"]
        )
        wanted = all_rows.join(keys, on=on, how="semi", maintain_order="left") if name != "arms" else all_rows
        assert_frame_equal(table, wanted)


def test_a_summary_and_a_comparison_use_the_runs_that_are_there(half: Path) -> None:
    results = opened(half)
    assert results.summary()["runs"].sum() == len(results.finals)
    compared = results.compare("MOSS", all=True)
    shared = results.finals.pivot("policy", index=["environment", "run"], values="regret")
    for row in compared.to_dicts():
        both = shared.filter(environment=row["environment"]).select(row["policy"], "MOSS").drop_nulls()
        assert row["runs"] == len(both)


def test_a_damaged_shard_is_left_out(half: Path) -> None:
    before = len(opened(half).finals)
    path = next((half / "shards").iterdir())
    rows = len(pl.read_parquet(path))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert len(opened(half).finals) == before - rows


def test_more_runs_of_a_finished_experiment_are_unfinished(tmp_path: Path) -> None:
    run(experiment(), tmp_path, shard_steps=STEPS)
    stopped(tmp_path, 1, runs=40)
    results = opened(tmp_path)
    assert results.planned_runs == 240
    assert 120 < len(results.finals) < 240


def test_a_finished_experiment_is_opened_without_a_warning(half: Path) -> None:
    run(experiment(), half, shard_steps=STEPS)
    assert lr.open_results(half).planned_runs is None


@pytest.mark.filterwarnings("default")
def test_the_report_shows_what_is_there_and_says_so(half: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(half), "--figures", "none"])
    assert result.exit_code == 0
    assert "is unfinished: " in result.stderr
    text = (half / "report.html").read_text()
    assert '<p class="notice">This experiment is unfinished: ' in text
    assert "data-refresh" not in text
    run(experiment(), half, shard_steps=STEPS)
    result = CliRunner().invoke(app, ["report", str(half), "--figures", "none"])
    assert result.stderr == ""
    assert 'class="notice"' not in (half / "report.html").read_text()


def test_watch_writes_the_page_until_all_runs_are_done(half: Path) -> None:
    found = []
    watching = Thread(
        target=lambda: found.append(CliRunner().invoke(app, ["watch", str(half), "--every", "1"])),
        daemon=True,
    )
    watching.start()
    page = half / "report.html"
    while not page.exists():
        assert watching.is_alive(), found
        watching.join(0.1)
    assert 'data-refresh="1"' in page.read_text()
    run(experiment(), half, shard_steps=STEPS)
    watching.join(300)
    (result,) = found
    assert result.exit_code == 0, result.output
    first, *_, last = result.stdout.splitlines()
    assert " of 120 runs (" in first
    assert last == f"all 120 runs are done: wrote {page}"
    assert "data-refresh" not in page.read_text()


def test_watch_refuses_what_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(app, ["watch", str(tmp_path / "file")])
    assert result.exit_code == 2
    assert "is not a folder" in result.stderr
