"""Groups of arms with equal pulls: the heaps themselves, and many arms against the plain engine."""

from math import inf, log, nan, sqrt

import numpy as np
import pytest
from engine_runs import PlainRun, compiled_trace, simulate
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.engine.kernels.lazy.arm_groups import insert, insert_first, list_members, new_groups, remove
from lowregret.engine.kernels.lazy.leaves import MIN_BERNOULLI_ARMS as MIN_ARMS
from lowregret.engine.kernels.lazy.leaves import MIN_OTHER_ARMS

MANY = MIN_ARMS + 13

OURS = [lr.UCBV(), lr.KLUCBPlus(), lr.IMED()]
"""Of each kind one: with the variance, with the mean alone, and with the best mean."""


class Grouped(lr.Policy):
    """Scores that depend on pulls and mean, in one class, so that they are compiled once.

    ``saturated``: arms of different means have the same score, and the first of them is not the leader of its
    group. ``rounded``: the score falls with the mean in its last digits, as rounding may make it. ``hidden``:
    some arms are not active. ``breaks``: the step from which a score is no number.
    """

    saturated: bool = False
    rounded: bool = False
    hidden: bool = False
    breaks: int = lr.NEVER
    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")

    def initially_active(self, number):
        return number % 5 != 1 or not self.hidden

    def score(self, arm, clock):
        if clock.t >= self.breaks:
            return nan
        width = sqrt(log(clock.t) / arm.pulls)
        if self.rounded:
            return arm.mean // 0.25 * 0.25 + width - 1e-15 * arm.mean
        return min(arm.mean + width, 0.8) if self.saturated else arm.mean + width


class Spread(lr.Policy):
    """A score in which the variance counts for more than the mean."""

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean", "variance")

    def score(self, arm, clock):
        return 0.1 * arm.mean + sqrt((0.01 + arm.variance) * log(clock.t) / arm.pulls)


class Infinite(lr.Policy):
    """Scores of plus and minus infinity."""

    index_trend = "constant"
    index_depends_on = ("pulls", "mean")
    uses_best = True

    def score(self, arm, clock):
        if arm.pulls % 5 == 4:
            return -inf
        return inf if arm.pulls == 3 else arm.mean - clock.best


OWN = [Grouped(saturated=True), Grouped(rounded=True), Grouped(hidden=True), Spread(), Infinite()]

draws = np.random.default_rng(3)
BANDITS = {
    "equal": lr.bernoulli([0.5] * MANY),
    "certain": lr.bernoulli([0.0] * 20 + [1.0] * (MANY - 20)),
    "mixed": lr.bernoulli(draws.random(MANY).round(1)),
    "continuous": lr.beta(1.0 + draws.random(MANY), 2.0),
    "constant": lr.empirical([[0.3]] * MANY),
    "sums that round": lr.empirical([[0.1, 0.2, 0.3, 0.7]] * MANY),
}
SCANNED = ("continuous", "constant", "sums that round")
"""Of other distributions so few arms are not grouped."""


@pytest.mark.parametrize(
    ("policy", "name"),
    [(policy, name) for name in BANDITS for policy in (OURS if name in SCANNED else [*OURS, *OWN])],
    ids=str,
)
def test_many_arms_are_played_as_the_reference_does(policy, name):
    bandit, horizon = BANDITS[name], 5 * MANY + 5
    played = PlainRun(policy, bandit, horizon, 4, 1)
    traced = compiled_trace(policy, bandit, horizon, 4, 1)
    assert traced.arm.tolist() == played.arm.tolist()


@pytest.mark.parametrize("policy", [lr.UCBV(), lr.IMED(), Grouped(saturated=True)], ids=str)
@settings(max_examples=5)
@given(
    data=st.data(),
    size=st.integers(MIN_ARMS, 2 * MIN_ARMS),
    horizon=st.integers(1, 300),
    seed=st.integers(0, 99),
)
def test_recorded_regret_and_pulls_of_many_arms(policy, data, size, horizon, seed):
    bandit = lr.bernoulli(np.linspace(0.1, 0.9, size).round(1))
    grid = np.array(sorted(data.draw(st.sets(st.integers(1, horizon), max_size=9)) | {horizon}), np.int64)
    outcome = simulate(policy, bandit, horizon, 2, seed, grid, threads=1)
    for run in range(2):
        played = PlainRun(policy, bandit, horizon, seed, run)
        counts = np.stack([np.bincount(played.arm[:t], minlength=size) for t in grid])
        assert outcome.pulls[run].tolist() == counts[-1].tolist()
        np.testing.assert_allclose(outcome.regret[run], counts @ bandit.gaps, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("policy", [lr.UCB1(), lr.UCBV(), Grouped(saturated=True)], ids=str)
def test_very_many_arms_whose_rewards_are_seldom_equal(policy):
    bandit, horizon = lr.gaussian(np.linspace(0, 1, MIN_OTHER_ARMS + 20), 0.1), MIN_OTHER_ARMS + 200
    found = simulate(policy, bandit, horizon, 1, 5, np.array([horizon]))
    assert found.pulls[0].tolist() == PlainRun(policy, bandit, horizon, 5, 0).pulls.tolist()


@pytest.mark.parametrize("policy", [lr.UCBV(), lr.IMED()], ids=str)
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
    with pytest.raises(lr.InputError, match="a score must be a number, got nan"):
        lr.trace(Grouped(breaks=200), lr.bernoulli([0.5] * MANY), 300)


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
