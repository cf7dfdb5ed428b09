"""Summaries of regrets, by hand and against NumPy."""

import numpy as np
import polars as pl
import pytest
from analysis_data import changed, frames_of
from scipy import stats

import lowregret as lr
from lowregret.analysis.intervals import bounded_interval
from lowregret.analysis.summary import TAIL_POINTS, summarise, summarise_curves, tail_mean
from lowregret.analysis.tables import largest_regrets


@pytest.fixture(scope="module")
def played() -> lr.Results:
    bandit = "gaussian:mean=0.5,0.6,0.6;variance=4"
    return lr.simulate(["EUCBV", "RoundRobin"], bandit, horizon=200, runs=60, seed=2, grid=5)


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([5.0], 5.0),
        ([1.0, 2.0], 2.0),
        (range(20), 19.0),
        (range(30), (29 + 28 / 2) / 1.5),
        (range(40), 38.5),
        (range(1000), 974.5),
        ([0.0] * 95 + [1.0] * 5, 1.0),
    ],
)
def test_tail_means_by_hand(values: list[float], mean: float) -> None:
    assert tail_mean(np.array(values, float)) == pytest.approx(mean)


def test_a_summary_by_hand() -> None:
    values = [4.0, 8.0, 6.0, 30.0, 2.0]
    row = summarise(frames_of({"e": {"EUCBV": values, "MOSS": [1.0]}})).to_dicts()[0]
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert (row["runs"], row["mean"], row["median"], row["worst"]) == (5, 10.0, 6.0, 30.0)
    assert row["worst05"] == 30.0
    assert (row["student_low"], row["student_high"], row["se"]) == pytest.approx(
        (low, high, stats.sem(values))
    )
    for name, share in (("p05", 0.05), ("p25", 0.25), ("p75", 0.75), ("p95", 0.95)):
        assert row[name] == pytest.approx(np.quantile(values, share))
    assert row["best_arm_pulls"] == pytest.approx(60 / 110)
    assert (row["best_arm_found"], row["optimal_arm_eliminated"]) == (1.0, 0)
    assert (row["failures"], row["failures_high"]) == pytest.approx((0.0, 1 - 0.05**0.2))
    assert row["worst05_low"] < 30.0 == row["worst05_high"]


def test_one_run_has_a_mean_and_no_interval() -> None:
    row = summarise(frames_of({"e": {"MOSS": [1.0]}})).to_dicts()[0]
    assert (row["mean"], row["p95"], row["worst05"]) == (1.0, 1.0, 1.0)
    assert [row[key] for key in ("se", "student_low", "student_high", "optimal_arm_eliminated")] == [None] * 4
    assert (row["low"], row["high"]) == bounded_interval(np.array([1.0]), 0.0, 20.0)


def test_shares_of_the_best_arm(played: lr.Results) -> None:
    table, pulls = played.summary(all=True), played["EUCBV"].pulls
    assert table["optimal_arm_eliminated"][0] > 0
    assert table["optimal_arm_eliminated"][1] is None
    assert table["best_arm_pulls"][0] == pytest.approx((pulls[:, 1:].sum(axis=1) / 200).mean())
    assert table["best_arm_found"][0] == pytest.approx(np.mean(pulls.argmax(axis=1) > 0), abs=0.02)


def test_the_last_point_of_a_curve_is_the_final_regret(played: lr.Results) -> None:
    last, known = played.curves().filter(t=200), played.summary(all=True)
    for column in ("runs", "mean", "se", "student_low", "student_high", "median", "p05", "p95"):
        assert last[column].to_list() == pytest.approx(known[column].to_list(), rel=1e-12)


def test_curves_with_holes_are_refused(played: lr.Results) -> None:
    cut = played.paths.filter((pl.col("run") != 1) | (pl.col("t") < 200))
    with pytest.raises(lr.InputError, match="must have every run at every time"):
        summarise_curves(changed(played, curves=cut))


def test_a_tie_for_the_most_pulls_counts_in_part() -> None:
    frames = frames_of({"e": {"MOSS": [1.0]}})
    even = frames.pulls.with_columns(pulls=pl.lit(7))
    table = summarise(changed(frames, pulls=even))
    assert table["best_arm_found"][0] == pytest.approx(1 / 3)


def test_several_optimal_arms_must_all_be_gone() -> None:
    frames = frames_of({"e": {"EUCBV": [1.0, 2.0]}})
    arms = frames.arms.with_columns(optimal=pl.col("arm") > 0)
    one = frames.events.filter((pl.col("run") == 0) | (pl.col("arm") == 1))
    table = summarise(changed(frames, arms=arms, events=one))
    assert table["optimal_arm_eliminated"][0] == 1


def test_the_probability_of_exceeding_a_regret() -> None:
    frames = frames_of({"e": {"A": [1.0, 2.0, 3.0, 4.0], "B": [0.0, 0.0, 0.0, 0.0]}})
    table = frames.tail(2.0)
    assert table.columns == ["environment", "policy", "regret", "runs", "share", "low", "high"]
    assert table["share"].to_list() == [0.5, 0.0]
    for row in table.iter_rows(named=True):
        exact = stats.binomtest(round(4 * row["share"]), 4).proportion_ci(method="exact")
        assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high))
    assert frames.tail([1.0, 3.0]).filter(policy="A")["share"].to_list() == [0.75, 0.25]
    whole = frames.tail()
    assert whole.filter(policy="A").select("regret", "share").rows() == [
        (1, 0.75),
        (2, 0.5),
        (3, 0.25),
        (4, 0),
    ]
    assert whole.filter(policy="B").select("regret", "share").rows() == [(0.0, 0.0)]


def test_the_tail_of_many_runs_has_few_rows_and_reaches_the_largest_regret() -> None:
    frames = frames_of({"e": {"A": np.random.default_rng(1).exponential(size=20_000).tolist()}})
    table = frames.tail()
    assert table.height <= TAIL_POINTS
    assert table["regret"].max() == frames.finals["regret"].max()
    exact = [(frames.finals["regret"] > x).mean() for x in table["regret"]]
    assert table["share"].to_list() == pytest.approx(exact)
    assert table["high"][-1] == pytest.approx(1 - 0.025 ** (1 / 20_000))


def test_the_largest_regret_where_means_change_below_an_arm_that_stays_best(tmp_path):
    """The worst choice loses 0.8 at every step, though the average gaps are 0.5."""
    bandit = lr.piecewise_drift(lr.bernoulli([0.9, 0.1, 0.7]), {51: [0.9, 0.7, 0.1]})
    result = lr.simulate("UCB1", bandit, horizon=100, runs=3, seed=1)
    experiment = lr.Experiment(environments=[bandit], policies=["UCB1"], horizon=100, runs=3)
    stored = experiment.run(out=tmp_path / "stored")
    for found in (result, stored, lr.open_results(tmp_path / "stored")):
        (largest,) = largest_regrets(found).values()
        assert largest == pytest.approx(100.0)
    still = lr.simulate("RoundRobin", "bernoulli:0.9,0.1,0.7", horizon=100, runs=3, seed=1)
    assert list(largest_regrets(still).values()) == pytest.approx([80.0])
