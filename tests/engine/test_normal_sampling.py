"""Policies that sample from normal laws: their choices are those of the plain engine, and in distribution."""

from math import erf, sqrt

import numpy as np
import pytest

import lowregret as lr
from lowregret.errors import InputError


class Fixed(lr.Policy):
    """Two arms whose laws never change: N(0.3, 1) and N(0, 0.25); or are none after some pulls."""

    breaks: int = lr.NEVER

    def normal_posterior(self, arm):
        mean = 0.3 if arm.number == 0 else 0.0
        return (mean if arm.pulls < self.breaks else float("nan")), (1.0 if arm.number == 0 else 0.5)


class OddOnly(lr.ThompsonGauss):
    """Gaussian Thompson sampling over the arms of odd number."""

    def initially_active(self, number):
        return number % 2 == 1


@pytest.mark.parametrize("policy", [lr.ThompsonGauss(), lr.ThompsonGauss(variance=0.01), OddOnly()], ids=str)
def test_choices_are_those_of_the_reference(policy):
    draws = np.random.default_rng(4)
    for size, horizon in ((2, 300), (3, 500), (9, 800), (37, 900)):
        table = draws.random((size, horizon))
        one, other = (
            lr.trace(policy, table, horizon, seed=6, engine=e).arm for e in ("compiled", "reference")
        )
        assert one.tolist() == other.tolist()


def test_an_arm_is_chosen_as_often_as_it_is_likely_to_be_best():
    """Over 200,000 independent steps; 4 standard errors, so by chance this fails once in 16,000 seeds."""
    steps = 200_000
    share = np.mean(lr.trace(Fixed(), np.zeros((2, steps)), steps, seed=1).arm == 0)
    propensity = 0.5 * (1.0 + erf(0.3 / sqrt(1.25) / sqrt(2.0)))
    assert abs(share - propensity) < 4.0 * sqrt(propensity * (1.0 - propensity) / steps)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_law_that_is_none_is_refused(engine):
    with pytest.raises(InputError, match=r"Fixed\(breaks=5\): a score must be a number, got nan"):
        lr.trace(Fixed(breaks=5), np.zeros((2, 50)), 50, engine=engine)
