"""Policies that look at all rewards, against plain games that use SciPy."""

from math import log

import numpy as np
import pytest
from scipy import optimize, stats

import lowregret as lr
from lowregret.engine.kernels.rng import policy_rng
from lowregret.policies import Arm, clock_at
from lowregret.special.bounded_divergences import bounded_kl_free


def played(rewards, horizon, index):
    """Pull each arm once, then the arm of the largest index of its rewards, the time and the best mean."""
    seen, chosen = [[] for _ in rewards], []
    for t in range(1, horizon + 1):
        if t <= len(rewards):
            choice = t - 1
        else:
            best = max(np.mean(x) for x in seen)
            choice = int(np.argmax(np.round([index(np.array(x), t, best) for x in seen], 7)))
        seen[choice].append(rewards[choice][len(seen[choice])])
        chosen.append(choice)
    return chosen


def klucb(c):
    def index(x, t, best):
        level = (log(t) + c * log(log(t))) / len(x)
        return optimize.brentq(lambda q: bounded_kl_free(1 - x, q) - level, x.mean(), 1 - 1e-14, xtol=1e-13)

    return index


def imed(x, t, best):
    return -(len(x) * bounded_kl_free(1 - x, max(best, x.mean())) + log(len(x)))


@pytest.mark.parametrize(
    ("policy", "index"),
    [
        (lr.EmpiricalKLUCB(), klucb(0)),
        (lr.EmpiricalKLUCB(c=1), klucb(1)),
        (lr.EmpiricalIMED(), imed),
    ],
    ids=["KLUCB", "KLUCB(c=1)", "IMED"],
)
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_choices_are_those_of_the_formula(policy, index, engine):
    rewards = np.random.RandomState(2).beta([[1], [2], [2]], [[2], [2], [1.5]], (3, 120))
    found = lr.trace(policy, rewards, horizon=120, engine=engine).arm.tolist()
    assert found == played(rewards, 120, index)


class Uniforms:
    """A source of given uniform numbers."""

    def __init__(self, *values):
        self.values = list(values)

    def uniform(self):
        return self.values.pop(0)


def test_npts_weighs_the_rewards_and_1():
    draws = [0.1, 0.5, 0.9, 0.3]
    weights = -np.log(1 - np.array(draws))
    weights /= weights.sum()
    arm = Arm(0, 3, 0.5, 0.1, rewards=np.array([0.2, 0.9, 0.4]))
    found = lr.NPTS().sample(arm, clock_at(9, 100, 2, 0.0), Uniforms(*draws))
    assert found == pytest.approx(weights @ [1.0, 0.2, 0.9, 0.4])


def test_npts_draws_from_the_dirichlet_distribution():
    """Of 3 zeros and the value 1, the mean is Beta(1, 3); of two ones and two zeros, Beta(3, 2)."""
    clock, rng = clock_at(9, 100, 2, 0.0), policy_rng(4, 0)
    for rewards, distribution in (([0.0] * 3, stats.beta(1, 3)), ([1.0, 0.0, 1.0, 0.0], stats.beta(3, 2))):
        arm = Arm(0, len(rewards), 0.5, 0.1, rewards=np.array(rewards))
        values = [lr.NPTS().sample(arm, clock, rng) for _ in range(5_000)]
        assert stats.kstest(values, distribution.cdf).pvalue > 1e-4
