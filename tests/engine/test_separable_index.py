"""Few arms that are compared by lines, against the plain engine."""

from math import log, sqrt

import numpy as np
import pytest
from engine_runs import PlainRun, compiled_trace
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.engine.kernels.lazy.separable_index import MAX_SMALL_ARMS, key_of, value_of


class Hidden(lr.Policy):
    """Some arms are not active. With ``constant`` the width does not depend on the pulls: equal means tie."""

    constant: bool = False
    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    separable_width = True

    def initially_active(self, number):
        return number % 3 != 1

    def score(self, arm, clock):
        return arm.mean + sqrt(log(clock.t) / (1 if self.constant else arm.pulls))


class Falling(Hidden):
    """A width that falls with time, and is 0 at last."""

    index_trend = "decreasing"
    index_depends_on = ("pulls", "mean")
    separable_width = True

    def score(self, arm, clock):
        return arm.mean + (1.0 - clock.t / clock.horizon) / arm.pulls


POLICIES = [lr.UCB1(), lr.UCB1(alpha=1e-9), Hidden(), Hidden(constant=True), Falling()]

draws = np.random.default_rng(2)
BANDITS = {
    "equal": lr.bernoulli([0.5] * 20),
    "one pair": lr.bernoulli([0.3, 0.4]),
    "certain": lr.bernoulli([0.0, 1.0, 1.0, 0.0] * 4),
    "continuous": lr.beta(1.0 + draws.random(33), 2.0),
    "sums that round": lr.empirical([[0.1, 0.2, 0.3, 0.7]] * 9),
    "negative": lr.gaussian([-2.0, -1.0, -2.0], 0.5),
    "far from 0": lr.gaussian([1e9, 1e9 + 1.0], 1.0),
    "huge": lr.gaussian([1e149, -1e149, 0.0], 1e140),
    "no noise": lr.gaussian([0.5] * 5, 0.0),
    "the most": lr.bernoulli([0.5] * MAX_SMALL_ARMS),
}


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("name", BANDITS)
def test_few_arms_are_played_as_the_reference_does(policy, name):
    bandit = BANDITS[name]
    horizon = len(bandit) + 200
    played = PlainRun(policy, bandit, horizon, 4, 1)
    traced = compiled_trace(policy, bandit, horizon, 4, 1)
    assert traced.arm.tolist() == played.arm.tolist()


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(max_examples=8)
@given(
    size=st.integers(1, 40), horizon=st.integers(1, 300), points=st.integers(1, 40), seed=st.integers(0, 9)
)
def test_recorded_regret(policy, size, horizon, points, seed):
    bandit = lr.bernoulli(np.linspace(0.2, 0.8, size).round(1))
    grid = np.unique(np.linspace(1, horizon, points).astype(int))
    outcome = lr.simulate(policy, bandit, horizon, runs=1, seed=seed, grid=grid)[policy]
    played = PlainRun(policy, bandit, horizon, seed, 0)
    counts = np.stack([np.bincount(played.arm[:t], minlength=size) for t in outcome.grid])
    assert outcome.pulls[0].tolist() == counts[-1].tolist()
    np.testing.assert_allclose(outcome.regret[0], counts @ bandit.gaps, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_given_rewards_that_run_out(policy):
    rewards = [[1.0, 0.0, 1.0] * 4] * 4
    wanted = lr.trace(policy, rewards, 12, engine="reference").arm
    assert lr.trace(policy, rewards, 12).arm.tolist() == wanted.tolist()
    with pytest.raises(lr.InputError) as plain:
        lr.trace(policy, rewards, 49, engine="reference")
    with pytest.raises(lr.InputError) as compiled:
        lr.trace(policy, rewards, 49)
    assert str(compiled.value) == str(plain.value)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.integers(0, 255))
def test_keys_are_in_the_order_of_values(a, b, k):
    one, other = key_of(a, k), key_of(b, k)
    assert one <= other or not a < b
    assert one >= other or not a > b
    assert a - 256 * np.spacing(abs(a)) <= value_of(one) <= a
