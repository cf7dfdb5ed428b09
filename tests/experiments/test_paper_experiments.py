"""The paper's experiments as data: complete, and true to their source."""

import pytest

from lowregret.environments import environment
from lowregret.errors import InputError
from lowregret.experiments.paper import PAPER, chosen
from lowregret.policies.text import policy

PUBLISHED = {
    "EUCBV": [273.56, 894.96, 894.61, 971.86],
    "EUCBV(width='released')": [273.56, 894.96, 894.61, 971.86],
    "UCB1": [1613.49, 11307.83, None, None],
    "MOSS": [624.16, 3101.44, 3146.30, 3338.36],
    "Uniform": [None] * 4,
}


def test_there_are_four_on_the_papers_testbeds() -> None:
    assert [experiment.number for experiment in PAPER] == [1, 2, 3, 4]
    assert [environment(e.environment).horizon for e in PAPER] == [60_000, 300_000, 400_000, 400_000]
    assert [len(environment(e.environment)) for e in PAPER] == [20, 100, 100, 100]


@pytest.mark.parametrize("experiment", PAPER, ids=lambda experiment: experiment.environment)
def test_policies_are_written_as_they_print(experiment) -> None:
    assert [str(policy(text)) for text in experiment.policies] == list(experiment.policies)


def test_published_regrets() -> None:
    for name, regrets in PUBLISHED.items():
        assert [experiment.published.get(name) for experiment in PAPER] == regrets
    assert all(set(experiment.published) <= set(experiment.policies) for experiment in PAPER)


def test_every_note_explains_the_published_eucbv_number() -> None:
    for experiment in PAPER:
        assert f"published {experiment.published['EUCBV']}" in experiment.note


def test_choosing() -> None:
    assert chosen() == PAPER
    assert chosen(3) == (PAPER[2],)


@pytest.mark.parametrize("number", [0, 5, -1])
def test_a_number_that_does_not_exist_is_refused(number: int) -> None:
    with pytest.raises(InputError, match=rf"experiment must be 1, 2, 3 or 4, got {number}$"):
        chosen(number)
