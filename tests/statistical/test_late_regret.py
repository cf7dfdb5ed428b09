"""Regret under delay against an independent program of a few lines, and against what live agents had."""

import numpy as np
import pytest

import lowregret as lr

pytestmark = pytest.mark.heavy

MEANS = np.array([0.1, 0.3, 0.5])
HORIZON, RUNS = 1_500, 300
POLICIES = ("UCB1", "MOSS", "UCBV", "ThompsonBeta", "EpsilonGreedy")
DELAYS = ("100", "geometric(mean=60)", "by_reward(positive=5, other=150)")


def delays_of(name, rewards, random):
    if name == "100":
        return np.full(len(rewards), 100)
    if name.startswith("geometric"):
        return random.geometric(1 / 61, len(rewards)) - 1
    return np.where(rewards > 0, 5, 150)


def indices(policy, t, n, mean, explores, known, sums, random):
    """Return the index of every arm in every run; ``n`` counts pending pulls, ``known`` does not."""
    if policy == "UCB1":
        return mean + np.sqrt(2 * np.log(max(t - 1, 1)) / n)
    if policy == "MOSS":
        return mean + np.sqrt(np.maximum(np.log(HORIZON / (3 * n)), 0) / n)
    if policy == "UCBV":
        return mean + np.sqrt(2.4 * mean * (1 - mean) * np.log(t) / n) + 3.6 * np.log(t) / n
    if policy == "ThompsonBeta":
        return random.beta(1 + sums, 1 + known - sums)
    return np.where(explores[:, None], random.random(mean.shape), mean)


def regret_of(policy, delay, seed):
    """Play all runs at once; returns the regret of each."""
    random, every = np.random.default_rng(seed), np.arange(RUNS)
    known, sums, pulls = np.zeros((3, RUNS, 3))
    due = [[] for _ in range(HORIZON + 1)]
    for t in range(1, HORIZON + 1):
        n, mean = np.maximum(pulls, 1), sums / np.maximum(known, 1)
        index = indices(policy, t, n, mean, random.random(RUNS) < 0.1, known, sums, random)
        if policy != "ThompsonBeta":  # every arm once first
            index = np.where(pulls == 0, np.inf, index)
        tied = index == index.max(axis=1, keepdims=True)
        arm = np.where(tied, pulls - known + random.random((RUNS, 3)) / 2, np.inf).argmin(axis=1)
        pulls[every, arm] += 1
        rewards = (random.random(RUNS) < MEANS[arm]) * 1.0
        when = t + delays_of(delay, rewards, random)
        for run in np.flatnonzero(when <= HORIZON):
            due[when[run]].append((run, arm[run], rewards[run]))
        for run, which, reward in due[t]:
            known[run, which] += 1
            sums[run, which] += reward
    return pulls @ (MEANS.max() - MEANS)


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("policy", POLICIES)
def test_regret_is_that_of_an_independent_program(policy, delay):
    ours = lr.simulate(policy, lr.bernoulli(MEANS), HORIZON, RUNS, seed=11, delay=delay).regret(policy)
    theirs = regret_of(policy, delay, 12)
    error = np.hypot(ours.std(ddof=1), theirs.std(ddof=1)) / RUNS**0.5
    assert abs(ours.mean() - theirs.mean()) < 3 * error


@pytest.mark.parametrize(("delay", "live"), [(0, 53), (500, 123), (2_000, 415)])
def test_a_constant_delay_costs_what_it_cost_live_agents(delay, live):
    """Measured with 30 runs of the agent, whose standard error is that of 30 of these."""
    found = lr.simulate("EUCBV", "bernoulli:0.1,0.2,0.3,0.4,0.5", 10_000, 400, delay=delay).regret("EUCBV")
    error = found.std(ddof=1) * (1 / 400 + 1 / 30) ** 0.5
    assert abs(found.mean() - live) < 3 * error
