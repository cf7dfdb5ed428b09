"""Regret by reading, and uniform play, from synthetic results."""

import pytest
from analysis_data import frames_of

from lowregret.analysis.summary import summarise
from lowregret.reproduction.evaluation import evaluate, near_uniform_play, pivot_readings, regret_by_reading
from lowregret.reproduction.interpretations import experiments_to_run

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
    table = regret_by_reading(summarise(results), results.seed)
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
    row = (
        regret_by_reading(summarise(results), results.seed)
        .select("policy", "reading", "published", "mean")
        .row(0)
    )
    assert row == ("EUCBV", "as plotted", 894.61, 894.61)
    matches = evaluate(results).matches
    assert matches.filter(policy="EUCBV").select("published", "mean", "verdict").rows() == [
        (894.61, 894.61, "matched")
    ]


def test_the_pivoted_table_has_a_row_for_every_policy(results):
    table = pivot_readings(regret_by_reading(summarise(results), results.seed))
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


def test_policies_near_uniform_play_are_counted_as_printed():
    runs = {"EUCBV": [95.0, 97.0], "MOSS": [50.0, 52.0], "UCBV": [109.0, 109.0], "RoundRobin": [100.0, 100.0]}
    tables = frames_of({"paper-3": runs | {RELEASED: [98.0, 98.0]}, "paper-1": {"EUCBV": [1.0, 2.0]}})
    found = near_uniform_play(regret_by_reading(summarise(tables), tables.seed)).to_dicts()
    assert found == [{"experiment": 3, "uniform_play": 100.0, "policies": 3, "near": 2, "most": True}]
