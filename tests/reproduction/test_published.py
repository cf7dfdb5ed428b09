"""The published regrets."""

import pytest

from lowregret.environments import paper
from lowregret.reproduction.published import REGRETS, TIMES, published_regret


def test_there_are_thirty_curves():
    assert [len(curves) for curves in REGRETS.values()] == [9, 9, 6, 6]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_every_curve_rises_and_ends_at_the_horizon(number):
    assert TIMES[number][-1] == paper(number).horizon
    for regrets in REGRETS[number].values():
        assert len(regrets) == len(TIMES[number])
        assert list(regrets) == sorted(regrets)


def test_regrets_at_the_horizon():
    assert [published_regret(number, "EUCBV") for number in REGRETS] == [273.56, 894.96, 894.61, 971.86]
    assert published_regret(3, "UCB1") is None
