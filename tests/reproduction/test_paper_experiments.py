"""The paper's experiments in three readings."""

import pytest

from lowregret.errors import InputError
from lowregret.reproduction.paper_experiments import PAPER, chosen, configurations, experiments
from lowregret.reproduction.published_curves import TIMES
from lowregret.policies.policy_string import policy


def test_there_are_four():
    assert [experiment.number for experiment in PAPER] == [1, 2, 3, 4]


@pytest.mark.parametrize("experiment", PAPER, ids=lambda experiment: experiment.title)
def test_policies_are_written_as_they_print(experiment):
    assert [str(policy(text)) for text in experiment.printed.values()] == list(experiment.printed.values())


@pytest.mark.parametrize("experiment", PAPER, ids=lambda experiment: experiment.title)
def test_every_policy_of_the_figure_plays_as_printed(experiment):
    assert set(experiment.published) <= set(experiment.printed)


def test_what_the_text_leaves_out_of_its_figures_plays_too():
    shown = {experiment.number: set(experiment.published) for experiment in PAPER}
    more = {e.number: set(e.printed) - shown[e.number] - {"uniform play"} for e in PAPER}
    assert more == {
        1: {"UCB-Improved"},
        2: {"Median Elimination", "DMED"},
        3: {"KLUCB-G+", "DMED", "UCB1", "UCB-Improved", "Median Elimination"},
        4: set(),
    }


def test_readings_of_one_experiment():
    found = configurations(4)
    readings = [each.reading for each in found]
    counts = {reading: readings.count(reading) for reading in readings}
    assert counts == {"as printed": 7, "released width": 1, "as plotted": 4}
    assert {each.environment for each in found if each.reading != "as plotted"} == {"paper-4"}


def test_one_experiment_for_every_testbed():
    planned = experiments(runs=3, seed=7)
    assert [experiment.name for experiment in planned][:4] == [
        "paper-1",
        "paper-2",
        "paper-2-noiseless",
        "paper-2-mirror",
    ]
    pairs = {(e.cases[0].name, player.name) for e in planned for player in e.players}
    every = {(c.environment, c.plays) for number in (1, 2, 3, 4) for c in configurations(number)}
    assert pairs == every
    assert {(experiment.runs, experiment.seed) for experiment in planned} == {(3, 7)}


def test_published_times_are_recorded():
    for number, times in TIMES.items():
        for experiment in experiments(number, runs=1):
            assert set(times) <= set(experiment.cases[0].times)


@pytest.mark.parametrize("number", [0, 5, -1])
def test_a_number_that_does_not_exist_is_refused(number):
    with pytest.raises(InputError, match=rf"experiment must be 1, 2, 3 or 4, got {number}$"):
        chosen(number)
