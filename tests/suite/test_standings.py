"""The statistics of the league, and benchmarks/successor.py, on regrets whose answers are known."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from lowregret.analysis.summary import tail_mean
from lowregret.suite.standings import profiles, resample, scores, sign, standings, wins


@pytest.fixture
def regrets():
    """On every testbed A has half the regret of MOSS, and B four times, with some noise that they share."""
    rng = np.random.default_rng(1)
    beds = {}
    for bed, scale in (("x", 1.0), ("y", 100.0), ("z", 5.0)):
        noise = scale * rng.uniform(0.9, 1.1, 200)
        beds[bed] = {"B": 4 * noise, "MOSS": noise, "A": noise / 2}
    del beds["z"]["B"]
    return beds


def test_ranks_and_ratios_are_exact(regrets):
    table = standings(regrets, ["B", "MOSS", "A"])
    assert table["policy"].to_list() == ["A", "MOSS"]  # B did not play everywhere
    assert table["rank"].to_list() == [1.0, 2.0]
    assert table["to_moss"].to_list() == pytest.approx([0.5, 1.0])
    assert table["to_best"].to_list() == pytest.approx([1.0, 2.0])
    assert table["to_moss_low"][0] == pytest.approx(0.5)  # the noise is shared, so the ratio is certain


def test_intervals_cover_the_truth_about_as_often_as_stated():
    rng, covered = np.random.default_rng(2), 0
    for trial in range(60):
        beds = {
            str(k): {"MOSS": rng.exponential(1.0, 50), "A": rng.exponential(np.exp(rng.normal(0, 0.5)), 50)}
            for k in range(30)
        }
        row = standings(beds, ["MOSS", "A"], seed=trial).filter(policy="A").row(0, named=True)
        covered += row["to_moss_low"] <= 1.0 <= row["to_moss_high"]
    assert covered >= 50  # 57 are expected, 49 or fewer with probability below 0.001


def test_resamples_start_with_the_estimate_and_spread_as_the_standard_error():
    values = np.random.default_rng(3).exponential(1.0, 300)
    means, tails = resample([values, values[:40]], np.random.default_rng(4))
    assert means[0].tolist() == pytest.approx([values.mean(), values[:40].mean()])
    assert tails[0].tolist() == pytest.approx([tail_mean(values), tail_mean(values[:40])])
    assert means[1:, 0].std() == pytest.approx(values.std() / np.sqrt(300), rel=0.2)


def test_a_win_is_a_difference_beyond_three_standard_errors(regrets):
    noise = np.random.default_rng(5).normal(0.0, 1.0, 200)
    regrets["tie"] = {"A": 10 + noise, "MOSS": 10 - noise}
    table = {(row["policy"], row["opponent"]): row for row in wins(regrets, ["B", "MOSS", "A"]).to_dicts()}
    assert [table["A", "MOSS"][name] for name in ("testbeds", "wins", "losses")] == [4, 3, 0]
    assert [table["MOSS", "A"][name] for name in ("testbeds", "wins", "losses")] == [4, 0, 3]
    assert [table["B", "A"][name] for name in ("testbeds", "wins", "losses")] == [2, 0, 2]


def test_four_runs_prove_less_than_four_hundred():
    few = np.array([1.0, 1.2, 0.8, 1.1])
    assert sign(few, few + np.array([0.5, 0.1, 0.6, 0.4])) == 0  # four standard errors
    many = np.tile(few, 100)
    assert sign(many, many + np.tile([0.5, 0.1, 0.6, 0.4], 100)) == -1


def test_profiles_are_shares_of_testbeds(regrets):
    table = profiles(regrets, ["MOSS", "A"])
    shares = {policy[0]: part["share"].to_list() for policy, part in table.group_by("policy")}
    assert set(shares["A"]) == {1.0}
    factors = table.filter(policy="MOSS")["factor"].to_list()
    assert shares["MOSS"] == [1.0 if factor >= 2 else 0.0 for factor in factors]


def test_failures_are_runs_no_better_than_uniform_play():
    row = scores(np.array([1.0, 2.0, 3.0, 4.0]), uniform=3.0)
    assert (row["failures"], row["mean"], row["worst05"]) == (0.5, 2.5, 4.0)


def test_the_successor_is_judged_by_its_limits(capsys):
    script = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "successor.py"))
    rng = np.random.default_rng(6)
    noise = rng.uniform(0.5, 1.5, 400)
    good = {"MOSSV": noise, "MOSS": 1.2 * noise, "MOSSVAnytime": 1.2 * noise, "KLUCB": 0.5 * noise}
    bad = {"MOSSV": noise, "MOSS": 0.8 * noise, "MOSSVAnytime": 1.3 * noise}
    tail = np.where(np.arange(400) < 13, 6.0, 1.0)
    doubtful = {"MOSSV": tail, "MOSS": np.where(np.arange(400)[::-1] < 11, 6.0, 1.0)}
    halves = {"good": "development", "bad": "test", "doubtful": "test"}
    table = script["checks"]({"good": good, "bad": bad, "doubtful": doubtful}, halves, family=["KLUCB"])
    verdicts = {(row["requirement"], row["testbed"]): row["verdict"] for row in table.to_dicts()}
    assert {verdicts[name, "good"] for name in ("mean", "worst 5%", "anytime")} == {"holds"}
    assert {verdicts[name, "bad"] for name in ("mean", "worst 5%", "anytime")} == {"fails"}
    assert (verdicts["mean", "doubtful"], verdicts["worst 5%", "doubtful"]) == ("holds", "inconclusive")
    geometric = table.filter(requirement="geometric mean")
    assert geometric["rival"].to_list() == ["MOSS", "MOSS"]
    assert geometric["value"][0] == pytest.approx(1 / 1.2)
    with_family = table.filter(requirement="geometric mean, family")
    assert with_family.select("rival", "verdict").rows() == [("KLUCB", "fails")]
    script["print_requirements"](table)
    printed = capsys.readouterr().out
    assert "| mean | MOSS | test | 1 | 0 | 1 | 1.25 |" in printed
    assert "| geometric mean, family | KLUCB | development | all | 2.00 (2.00 to 2.00) | fails |" in printed
