"""The experiments of the paper in three readings."""

import pytest

from lowregret.errors import InputError
from lowregret.policies.policy_string import policy
from lowregret.reproduction.interpretations import configurations, experiments_to_run
from lowregret.reproduction.published import TIMES
from lowregret.reproduction.stated import PAPER, paper_experiment


def test_there_are_four_experiments():
    assert [experiment.number for experiment in PAPER] == [1, 2, 3, 4]


@pytest.mark.parametrize("experiment", PAPER, ids=lambda experiment: experiment.title)
def test_every_policy_string_is_canonical(experiment):
    assert [str(policy(text)) for text in experiment.policies.values()] == list(experiment.policies.values())


@pytest.mark.parametrize("experiment", PAPER, ids=lambda experiment: experiment.title)
def test_every_policy_of_the_figure_runs_as_printed(experiment):
    assert {curve.policy for curve in experiment.curves} <= set(experiment.policies)


def test_policies_that_the_figures_omit_run_too():
    shown = {each.number: {curve.policy for curve in each.curves} for each in PAPER}
    more = {e.number: set(e.policies) - shown[e.number] - {"uniform play"} for e in PAPER}
    assert more == {
        1: {"UCB-Improved"},
        2: {"Median Elimination", "DMED"},
        3: {"KLUCB-G+", "DMED", "UCB1", "UCB-Improved", "Median Elimination"},
        4: set(),
    }


def test_readings_of_one_experiment():
    assert configurations(3)[-1][1:] == (
        "BU-G",
        "as plotted",
        "paper-3-squared-variances",
        "BayesUCBStudent",
    )
    found = configurations(4)
    readings = [each.reading for each in found]
    counts = {reading: readings.count(reading) for reading in readings}
    assert counts == {"as printed": 7, "released width": 1, "as plotted": 6}
    assert {each.environment for each in found if each.reading != "as plotted"} == {"paper-4"}


def test_one_experiment_for_every_testbed():
    planned = experiments_to_run(runs=3, seed=7)
    assert [experiment.name for experiment in planned][:5] == [
        "paper-1-more-runs",
        "paper-1",
        "paper-2-more-runs",
        "paper-2",
        "paper-2-noiseless",
    ]
    pairs = {(e.cases[0].name, player.name) for e in planned for player in e.players}
    every = {(c.environment, c.our_policy) for number in (1, 2, 3, 4) for c in configurations(number)}
    assert every <= pairs
    assert len(pairs) == sum(len(experiment.players) for experiment in planned)
    for experiment in planned:
        runs = 3
        if experiment.name.endswith("-more-runs"):
            runs = 30
        elif "noiseless" in experiment.name or experiment.name.endswith("-others"):
            runs = 2
        assert experiment.runs == runs
        assert experiment.seed == 7


def test_the_released_width_has_more_runs_on_the_stated_testbeds():
    for number in (1, 2, 3, 4):
        by_name = {each.name: {player.name for player in each.players} for each in experiments_to_run(number)}
        assert "EUCBV(width='released')" in by_name[f"paper-{number}-more-runs"]


def test_uniform_play_and_eucbv_play_on_every_testbed_of_a_curve():
    played = {
        (each.cases[0].name, player.name) for each in experiments_to_run(runs=1) for player in each.players
    }
    for experiment in PAPER:
        for curve in experiment.curves:
            assert {(curve.environment, "RoundRobin"), (curve.environment, "EUCBV")} <= played


def test_published_times_are_recorded():
    for number, times in TIMES.items():
        for experiment in experiments_to_run(number, runs=1):
            assert set(times) <= set(experiment.cases[0].times)


@pytest.mark.parametrize("number", [0, 5, -1])
def test_an_unknown_experiment_is_refused(number):
    with pytest.raises(InputError, match=rf"experiment must be 1, 2, 3 or 4, got {number}$"):
        paper_experiment(number)
