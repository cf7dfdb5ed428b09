"""``lowregret replay`` as a user meets it."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app

POLICIES = ["--policy", "MOSS", "--policy", "UCB1(alpha=2)", "--policy", "RoundRobin"]


def call(*arguments):
    return CliRunner().invoke(app, ["replay", *map(str, arguments)], prog_name="lowregret")


@pytest.fixture
def log(tmp_path):
    draws = np.random.default_rng(1)
    arm = draws.integers(0, 3, 300)
    table = pl.DataFrame({"arm": arm, "reward": (draws.random(300) < arm / 4).astype(int)})
    table.write_csv(tmp_path / "log.csv")
    table.write_parquet(tmp_path / "log.parquet")
    return tmp_path / "log.csv"


def test_json_is_what_the_library_gives_from_csv_and_parquet(log):
    known = lr.replay(log, ["MOSS", "UCB1(alpha=2)", "RoundRobin"], seed=4).to_dict()
    for file in (log, log.with_suffix(".parquet")):
        result = call(file, *POLICIES, "--seed", 4, "--json")
        assert result.exit_code == 0
        assert result.stdout.count("\n") == 1
        assert json.loads(result.stdout) == known | {"log": file.name}
    assert [row["method"] for row in known["estimates"]] == [
        "replay",
        "replay",
        "replay",
        "IPS",
        "SNIPS",
        "DR",
    ]


def test_a_table_is_printed(log):
    result = call(log, "--policy", "MOSS", "--horizon", 60, "--resamples", 20)
    assert result.exit_code == 0
    known = lr.replay(log, "MOSS", 60, resamples=20)["MOSS"]["replay"]
    row = next(line.split() for line in result.stdout.splitlines() if line.strip().startswith("MOSS"))
    assert row[1:3] == ["replay", "60"]
    assert [float(cell) for cell in row[3:]] == pytest.approx(
        [known.mean, known.se, *known.interval], rel=0.006
    )
    assert "log.csv: 300 rows, 3 arms, assumed uniform, horizon 60, seed 0" in result.stdout


def test_what_is_wrong_is_told_in_one_line(log):
    bad = log.with_name("bad.csv")
    bad.write_text("arm,reward,propensity\na,1,2\n")
    wide = log.with_name("wide.csv")
    wide.write_text("arm,reward\na,1\nb,2\n")
    for arguments, words in (
        ((log.with_name("gone.csv"),), "there is no file"),
        ((log.with_suffix(".txt"),), "a log must be a .csv or .parquet file"),
        ((bad,), "the propensity in row 1 of bad.csv must be a number from 1e-100 to 1, got '2'"),
        ((wide, "--policy", "ThompsonBeta"), "--clip on the command line"),
        ((log, "--policy", "Nothing"), "unknown policy 'Nothing'"),
        ((log, "--horizon", 0), "horizon must be an integer of at least 1, got 0"),
    ):
        result = call(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith("lowregret: ") and result.stderr.count("\n") == 1
        assert words in result.stderr


@pytest.mark.filterwarnings("default")
def test_clip_and_a_log_that_is_not_uniform(log):
    log.write_text("arm,reward\n" + "a,3\n" * 90 + "b,0\n" * 10)
    result = call(log, "--policy", "ThompsonBeta", "--clip")
    assert result.exit_code == 0
    assert "ThompsonBeta: rewards clipped to [0, 1]" in result.stdout
    assert result.stderr.startswith(
        "lowregret: warning: replay: the arms of log.csv were not chosen uniformly"
    )
