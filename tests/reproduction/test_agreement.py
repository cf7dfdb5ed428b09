"""Regret by reading and matches with the published curves, from synthetic results."""

import polars as pl
import pytest
from analysis_data import changed, frames_of

from lowregret.reproduction.agreement import (
    compare_points,
    match_curves,
    pivot_readings,
    regret_by_reading,
)
from lowregret.reproduction.evaluation import evaluate
from lowregret.reproduction.readings import experiments_to_run

RELEASED = "EUCBV(width='released')"
RUNS = {
    "paper-1": {
        "EUCBV": [950.0, 970.0],
        "MOSS": [700.0, 720.0],
        RELEASED: [270.0, 280.0],
        "MOSSAnytime(alpha=1)": [630.0, 690.0],
        "UCB1": [1200.0, 1210.0],
    },
    "paper-4-noiseless": {RELEASED: [971.86, 971.86]},
}


@pytest.fixture(scope="module")
def results():
    return frames_of(RUNS)


def row_of(table, **which):
    (row,) = table.filter(**which).to_dicts()
    return row


def test_readings_have_the_paper_names_beside_ours(results):
    table = regret_by_reading(results)
    plotted = row_of(table, policy="MOSS", reading="as plotted")
    assert (plotted["our_policy"], plotted["mean"], plotted["published"]) == (
        "MOSSAnytime(alpha=1)",
        660,
        624.16,
    )
    printed = row_of(table, policy="MOSS", reading="as printed")
    assert (printed["our_policy"], printed["mean"], printed["runs"], printed["seed"]) == ("MOSS", 710, 2, 1)
    assert row_of(table, reading="released width")["mean"] == 275
    assert row_of(table, experiment=4)["environment"] == "paper-4-noiseless"
    assert {"p05", "median", "p95", "optimal_arm_eliminated"} <= set(table.columns)


def test_an_experiment_from_its_configuration_to_the_match():
    """Without noise two runs are enough."""
    planned = {experiment.name: experiment for experiment in experiments_to_run(3, runs=2)}
    results = planned["paper-3-noiseless"].run()
    row = regret_by_reading(results).select("policy", "reading", "published", "mean").row(0)
    assert row == ("EUCBV", "as plotted", 894.61, 894.61)
    matches = evaluate(results).matches
    assert matches.filter(policy="EUCBV").select("published", "mean", "verdict").rows() == [
        (894.61, 894.61, "matched")
    ]


def test_the_pivoted_table_has_a_row_for_every_policy(results):
    table = pivot_readings(regret_by_reading(results))
    assert table.select("experiment", "policy").rows() == [
        (1, "EUCBV"),
        (1, "MOSS"),
        (1, "UCB1"),
        (4, "EUCBV"),
    ]
    row = row_of(table, experiment=1, policy="EUCBV")
    assert [row[name] for name in ("published", "plotted", "printed", "released")] == [273.56, 275, 960, 275]
    assert row["optimal_arm_eliminated"] == 0
    assert row_of(table, experiment=4)["printed"] is None


def test_matches_by_standard_errors_or_percent(results):
    table = match_curves(results)
    verdicts = {(row["experiment"], row["policy"]): row["verdict"] for row in table.to_dicts()}
    assert verdicts == {
        (1, "EUCBV"): "matched",
        (1, "UCB-V"): "not reproduced",
        (1, "MOSS"): "matched",
        (1, "UCB1"): "not matched",
        (4, "EUCBV"): "matched",
        (4, "UCB-V"): "not reproduced",
        (4, "TS-G"): "not reproduced",
    }


def test_standard_errors_of_the_difference(results):
    """Pulls 30 and 20 of the suboptimal arms, all variances 1/4: noise of variance 25."""
    row = row_of(match_curves(results), experiment=1, policy="MOSS")
    assert row["se"] == pytest.approx(30.0)
    assert row["published_se"] == pytest.approx(((30.0**2 * 2 + 25.0) / 100) ** 0.5)
    assert row["z_score"] == pytest.approx((660 - 624.16) / (30.0**2 + row["published_se"] ** 2) ** 0.5)
    assert row["percent"] == pytest.approx(100 * (660 / 624.16 - 1))


def test_curves_that_are_not_matched_have_a_reason(results):
    assert row_of(match_curves(results), policy="UCB1")["reason"] == "no reason is known"
    assert "another arm" in row_of(match_curves(results), experiment=1, policy="UCB-V")["reason"]


def test_the_difference_in_standard_errors_is_null_without_variance(results):
    noiseless = changed(results, arms=results.arms.with_columns(variance=pl.lit(0.0)))
    row = row_of(match_curves(noiseless), experiment=4, policy="EUCBV")
    assert (row["se"], row["published_se"], row["z_score"]) == (0.0, 0.0, None)
    assert row["verdict"] == "matched"


def test_one_run_is_matched_by_percent_alone():
    table = match_curves(frames_of({"paper-1": {RELEASED: [280.0], "UCB1": [1500.0]}}))
    assert table.filter(policy="EUCBV").select("se", "z_score", "verdict").row(0) == (
        None,
        None,
        "matched",
    )
    assert row_of(table, policy="UCB1")["verdict"] == "not matched"


def test_points_along_the_curves(results):
    times = {25: 6_000, 50: 12_000, 75: 30_000, 100: 60_000}
    moved = changed(results, curves=results.paths.with_columns(pl.col("t").replace(times)))
    table = compare_points(moved).filter(experiment=1)
    assert table.height == 36
    assert table.row(0)[:4] == (1, "EUCBV", 6_000, 146.98)
    assert table.filter(policy="MOSS")["mean"].to_list() == [165, 330, 495, 660]
    assert table.filter(policy="UCB-V")["mean"].to_list() == [None] * 4
