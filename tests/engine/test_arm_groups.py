"""Groups of arms with equal pulls: the heaps themselves, and many arms against the plain engine."""

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.engine import reference
from lowregret.engine.cpu import simulate, trace
from lowregret.engine.lazy.arm_groups import insert, insert_first, list_members, new_groups, remove
from lowregret.engine.lazy.leaves import FEW, FEW_UNEQUAL
from lowregret.engine.state import rows_of

MANY = FEW + 13

POLICIES = [
    lr.UCB1(),
    lr.UCB1(alpha=1e-3),
    lr.UCBTuned(),
    lr.UCBV(),
    lr.UCBNormal(),
    lr.KLUCB(),
    lr.KLUCB(c=3.0),
    lr.KLUCBPlus(),
    lr.KLUCBGauss(),
    lr.KLUCBGauss(plus=True),
    lr.MOSSAnytime(),
    lr.BayesUCBBeta(),
    lr.BayesUCBGauss(),
    lr.BayesUCBStudent(),
    lr.OCUCB(),
    lr.IMED(),
]


class Saturated(lr.Policy):
    """Arms of different means have the same score, and the first of them is not the leader of its group."""

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")

    def score(self, arm, clock):
        return min(arm.mean + sqrt(log(clock.t) / arm.pulls), 0.8)


class Rounded(Saturated):
    """A score that falls with the mean in its last digits, as rounding may make it."""

    index_depends_on = ("pulls", "mean")

    def score(self, arm, clock):
        score = arm.mean // 0.25 * 0.25 + sqrt(log(clock.t) / arm.pulls)
        return score - 1e-15 * arm.mean


class Spread(lr.Policy):
    """A score in which the variance counts for more than the mean."""

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean", "variance")

    def score(self, arm, clock):
        return 0.1 * arm.mean + sqrt((0.01 + arm.variance) * log(clock.t) / arm.pulls)


class Hidden(lr.Policy):
    """One arm is not active."""

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")

    def initially_active(self, number):
        return number % 5 != 1

    def score(self, arm, clock):
        return arm.mean + sqrt(log(clock.t) / arm.pulls)


class Infinite(lr.Policy):
    """Scores of plus and minus infinity."""

    index_trend = "constant"
    index_depends_on = ("pulls", "mean")
    uses_best = True

    def score(self, arm, clock):
        if arm.pulls % 5 == 4:
            return -inf
        return inf if arm.pulls == 3 else arm.mean - clock.best


OWN = [Saturated(), Rounded(), Spread(), Hidden(), Infinite()]

draws = np.random.default_rng(3)
BANDITS = {
    "equal": lr.bernoulli([0.5] * MANY),
    "certain": lr.bernoulli([0.0] * 20 + [1.0] * (MANY - 20)),
    "mixed": lr.bernoulli(draws.random(MANY).round(1)),
    "continuous": lr.beta(1.0 + draws.random(MANY), 2.0),
    "constant": lr.empirical([[0.3]] * MANY),
    "sums that round": lr.empirical([[0.1, 0.2, 0.3, 0.7]] * MANY),
}


@pytest.mark.parametrize("policy", [*POLICIES, *OWN], ids=str)
@pytest.mark.parametrize("name", BANDITS)
def test_many_arms_are_played_as_the_reference_does(policy, name):
    bandit, horizon = BANDITS[name], 7 * MANY + 5
    played = reference.run(policy, bandit, horizon, 4, 1)
    traced = trace(policy, rows_of(bandit, policy), bandit.data, horizon, 4, 1, shuffled=True)
    assert traced.arm.tolist() == played.arm.tolist()


@pytest.mark.parametrize("policy", [lr.UCB1(), lr.UCBV(), lr.IMED(), Saturated()], ids=str)
@settings(max_examples=8)
@given(data=st.data(), size=st.integers(FEW, 2 * FEW), horizon=st.integers(1, 400), seed=st.integers(0, 99))
def test_recorded_regret_and_pulls_of_many_arms(policy, data, size, horizon, seed):
    bandit = lr.bernoulli(np.linspace(0.1, 0.9, size).round(1))
    grid = np.array(sorted(data.draw(st.sets(st.integers(1, horizon), max_size=9)) | {horizon}), np.int64)
    outcome = simulate(policy, bandit, horizon, 2, seed, grid, threads=1)
    for run in range(2):
        played = reference.run(policy, bandit, horizon, seed, run)
        counts = np.stack([np.bincount(played.arm[:t], minlength=size) for t in grid])
        assert outcome.pulls[run].tolist() == counts[-1].tolist()
        np.testing.assert_allclose(outcome.regret[run], counts @ bandit.gaps, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("policy", [lr.UCB1(), lr.KLUCBGauss(), lr.UCBV(), Saturated()], ids=str)
def test_very_many_arms_whose_rewards_are_seldom_equal(policy):
    bandit, horizon = lr.gaussian(np.linspace(0, 1, FEW_UNEQUAL + 20), 0.1), FEW_UNEQUAL + 400
    found = simulate(policy, bandit, horizon, 1, 5, np.array([horizon]))
    assert found.pulls[0].tolist() == reference.run(policy, bandit, horizon, 5, 0).pulls.tolist()


@pytest.mark.parametrize("policy", [lr.UCB1(), lr.UCBTuned(), lr.IMED()], ids=str)
def test_given_rewards_that_run_out(policy):
    rewards = [[1.0, 0.0] * 3] * MANY
    wanted = lr.trace(policy, rewards, 5 * MANY, engine="reference").arm
    assert lr.trace(policy, rewards, 5 * MANY).arm.tolist() == wanted.tolist()
    with pytest.raises(lr.InputError) as plain:
        lr.trace(policy, rewards, 7 * MANY, engine="reference")
    with pytest.raises(lr.InputError) as compiled:
        lr.trace(policy, rewards, 7 * MANY)
    assert str(compiled.value) == str(plain.value)


def test_a_score_that_is_not_a_number_is_refused():
    class Late(lr.Policy):
        index_trend = "increasing"
        index_depends_on = ("pulls", "mean")

        def score(self, arm, clock):
            return (arm.mean - arm.mean) / (clock.t - 200.0) if clock.t >= 200 else arm.mean

    with pytest.raises(lr.InputError, match="a score must be a number, got nan"):
        lr.trace(Late(), lr.bernoulli([0.5] * MANY), 300)


keys = st.tuples(st.sampled_from([0.0, 0.25, 0.5]), st.sampled_from([0.0, 0.1]))


def check(groups, states):
    """Compare every group with the arms it should have; ``states`` are pulls, mean and variance by place."""
    seen = {}
    for slot in range(groups.used[0]):
        group = groups.group[slot]
        if group["leader"] >= 0:
            leader, node = group["leader"], groups.node[group["leader"]]
            members = groups.members[: list_members(groups, leader)].tolist()
            assert members[0] == leader
            seen[int(group["pulls"])] = sorted(members)
            assert leader == min(members, key=lambda i: (-states[i][1], i))
            assert node["spread"] == max(states[i][2] for i in members)
            others = [states[i] for i in members if states[i][1:] != states[leader][1:]]
            assert node["rest_mean"] == max((each[1] for each in others), default=-inf)
            assert node["rest_spread"] >= max((each[2] for each in others), default=-inf)
            assert node["rest_spread"] <= node["spread"]
    wanted = {}
    for i, (pulls, _, _) in states.items():
        wanted.setdefault(pulls, []).append(i)
    assert seen == wanted


@given(st.lists(keys, min_size=1, max_size=30), st.data())
def test_groups_against_a_plain_table(first, data):
    groups, states, slots = new_groups(len(first)), {}, {}
    for i, (mean, variance) in enumerate(first):
        insert_first(groups, i, 1, mean, variance)
        states[i], slots[i] = (1, mean, variance), 0
    check(groups, states)
    for _ in range(data.draw(st.integers(1, 40))):
        i = data.draw(st.integers(0, len(first) - 1))
        pulls = states[i][0] + data.draw(st.integers(1, 3))
        mean, variance = data.draw(keys)
        remove(groups, slots[i], i)
        slots[i] = insert(groups, slots[i], i, pulls, mean, variance)
        states[i] = pulls, mean, variance
        check(groups, states)
    assert groups.used[0] <= len(first)
