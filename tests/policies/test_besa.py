"""BESA: its choice probabilities by enumeration, whole games of a second program, and its protocol."""

from collections import Counter
from itertools import combinations, permutations, product
from math import comb, exp, log, prod, sqrt

import numpy as np
import pytest
from scipy.stats import chisquare

import lowregret as lr
from lowregret.engine.kernels.rng import policy_rng
from lowregret.engine.kernels.state import ArmTable, State, fill_rewards, new_rewards, new_rows
from lowregret.engine.kernels.step import choose
from lowregret.engine.status import PLAYING
from lowregret.policies import clock_at
from lowregret.policies.subsampling import drawn_skip, subsample_sum

HISTORIES = [
    [[1, 0, 1, 0], [0, 1], [0, 1, 1]],
    [[0.3, 0.9, 0.5, 0.1], [0.6, 0.2], [0.55], [0.1, 0.4, 0.8]],
    [[1, 1, 0, 0], [1, 0], [0, 1, 1], [0], [0, 1, 1]],
]


def with_totals(rewards):
    """Return rewards as BESA sees them."""
    table = np.empty((1, len(rewards), 2))
    fill_rewards(lr.BESA(), table, 0, rewards, 0.0)
    return table[0]


def duel(one, other):
    """Return the probability that the first history wins, by all subsamples of the longer one."""
    n = min(len(one), len(other))
    wins = []
    for a, b in product(combinations(one, n), combinations(other, n)):
        a, b = sum(a) / n, sum(b) / n
        if abs(a - b) < 1e-9:
            wins.append(0.5 if len(one) == len(other) else len(one) < len(other))
        else:
            wins.append(a > b)
    return np.mean(wins)


def winner(arms, win):
    """Return the distribution of the tournament's winner, half by half as in the paper."""
    if len(arms) == 1:
        return {arms[0]: 1.0}
    half, found = len(arms) // 2, {}
    for (a, p), (b, q) in product(winner(arms[:half], win).items(), winner(arms[half:], win).items()):
        found[a] = found.get(a, 0.0) + p * q * win[a][b]
        found[b] = found.get(b, 0.0) + p * q * (1 - win[a][b])
    return found


def expected(histories):
    arms = range(len(histories))
    win = [[duel(one, other) for other in histories] for one in histories]
    orders = list(permutations(arms))
    return [sum(winner(order, win).get(arm, 0.0) for order in orders) / len(orders) for arm in arms]


@pytest.mark.parametrize("histories", HISTORIES)
def test_choices_have_the_probabilities_of_the_paper(histories):
    policy, rows = lr.BESA(), new_rows(len(histories), lr.BESA())
    rewards = new_rewards(policy, len(histories), 10)
    for i, history in enumerate(histories):
        fill_rewards(policy, rewards, i, history, 0.0)
        rows[i]["pulls"], rows[i]["mean"] = len(history), np.mean(history)
    table, rng = ArmTable(rows, rewards), policy_rng(1, 0)
    clock = clock_at(1 + sum(map(len, histories)), 100, len(histories), 0.0)
    scores = np.zeros(len(histories))
    state = State(None, len(histories), clock.t - 1, 0, PLAYING)
    draws = [choose(policy, table, state, clock, rng, scores, False, 0) for _ in range(6_000)]
    counts, shares = np.bincount(draws, minlength=len(histories)), np.array(expected(histories))
    possible = shares > 0
    assert counts[~possible].sum() == 0
    assert chisquare(counts[possible], 6_000 * shares[possible]).pvalue > 1e-3


@pytest.mark.parametrize(("size", "n"), [(70, 2), (35, 1), (40, 2)])
def test_every_subsample_is_as_likely(size, n):
    rng, codes = policy_rng(2, 0), []
    while len(codes) < size:  # numbers of which no two pairs have the same sum
        sums = {a + b for a, b in combinations(codes, 2)} | set(codes)
        new = max(codes, default=0) + 1
        while any(new + x in sums for x in codes):
            new += 1
        codes.append(new)
    codes = with_totals(codes)
    draws = 20 * (size * (size - 1) // 2 if n == 2 else size)
    counts = Counter(subsample_sum(codes, n, rng) for _ in range(draws))
    possible = [sum(pair) for pair in combinations(codes[:, 0], n)]
    assert len(set(possible)) == len(possible)
    assert set(counts) <= set(possible)
    assert chisquare([counts[each] for each in possible]).pvalue > 1e-3


@pytest.mark.parametrize(("n", "left"), [(3, 100), (6, 200), (1, 40)])
def test_skips_have_the_distribution_of_the_first_of_a_random_set(n, left):
    rng = policy_rng(3, 0)
    counts = np.bincount([drawn_skip(n, left, rng) for _ in range(20_000)], minlength=left)
    expected = np.array([comb(left - s - 1, n - 1) / comb(left, n) for s in range(left)])
    often = 20_000 * expected > 5
    found = [*counts[often], counts[~often].sum()]
    wanted = [*20_000 * expected[often], 20_000 * expected[~often].sum()]
    keep = slice(None) if wanted[-1] > 0 else slice(-1)
    assert chisquare(found[keep], wanted[keep]).pvalue > 1e-3


def plain_skip(n, size, rng):
    """Draw as ``drawn_skip`` does, without its first test."""
    while True:
        x = size * (1.0 - exp(log(1.0 - rng.uniform()) / n))
        s = int(x)
        if s > size - n:
            continue
        limit = (1.0 - rng.uniform()) * size / (size - n + 1.0) * exp((n - 1.0) * log(1.0 - x / size))
        if limit <= exp((n - 1.0) * log(1.0 - s / (size - n + 1.0))):
            return s
        product = prod((size - s - j) / (size - j) for j in range(1, n))
        if limit <= product:
            return s


def test_the_first_test_of_a_skip_changes_no_draw():
    sizes = np.random.RandomState(4)
    one, other = policy_rng(5, 0), policy_rng(5, 0)
    for _ in range(3_000):
        n = int(2.0 ** sizes.uniform(0, 10))
        size = int(n * 2.0 ** sizes.uniform(0.1 if n > 9 else 2, 12))
        assert drawn_skip(n, size, one) == plain_skip(n, size, other)
        assert one.state["drawn"] == other.state["drawn"]


def test_a_subsample_takes_the_draws_of_algorithm_s():
    rewards = with_totals(np.random.RandomState(6).random_sample(40))
    one, other = policy_rng(7, 0), policy_rng(7, 0)
    for n in (2, 20, 39, 40):
        total, wanted = 0.0, n
        for k in range(40):
            if wanted == 40 - k or (wanted > 0 and other.uniform() * (40 - k) < wanted):
                total += rewards[k, 0]
                wanted -= 1
        assert subsample_sum(rewards, n, one) == total
        assert one.state["drawn"] == other.state["drawn"]


def game(means, horizon, draws):
    """Play BESA on Bernoulli arms, with NumPy's generator; return the pulls of each arm."""
    seen = [[float(draws.random() < p)] for p in means]

    def best(arms):
        if len(arms) == 1:
            return arms[0]
        a, b = best(arms[: len(arms) // 2]), best(arms[len(arms) // 2 :])
        n = min(len(seen[a]), len(seen[b]))
        x, y = (draws.choice(seen[i], n, replace=False).sum() for i in (a, b))
        return a if (x, -len(seen[a])) > (y, -len(seen[b])) else b

    for _ in range(horizon - len(means)):
        arm = best(draws.permutation(len(means)).tolist())
        seen[arm].append(float(draws.random() < means[arm]))
    return [len(x) for x in seen]


def test_regret_is_that_of_a_second_program():
    means, runs, horizon = np.array([0.2, 0.5, 0.4]), 150, 120
    draws = np.random.default_rng(1)
    naive = np.array([game(means, horizon, draws) @ (0.5 - means) for _ in range(runs)])
    found = lr.simulate(lr.BESA(), lr.bernoulli(means), horizon, runs=2_000, seed=1).regret("BESA")
    error = sqrt(naive.var() / runs + found.var() / len(found))
    assert abs(naive.mean() - found.mean()) < 3 * error


def test_equal_rewards_are_shared_out():
    path = lr.trace(lr.BESA(), np.full((3, 90), 0.3), horizon=90).arm
    assert np.bincount(path).tolist() == [30, 30, 30]


def test_an_agent_chooses_while_all_rewards_are_pending():
    agent = lr.Agent(lr.BESA(), ["a", "b", "c"], seed=1)
    choices = [agent.ask() for _ in range(30)]
    assert {choice.arm for choice in choices} == {"a", "b", "c"}
    assert all(choice.propensity is None for choice in choices[3:])


class Both(lr.Policy):
    def duel(self, one, other, clock):
        return True


def test_a_duel_with_other_arguments_is_refused():
    with pytest.raises(lr.InputError, match=r"write duel\(self, one, other, clock, rng\)"):
        lr.simulate(Both(), "bernoulli:0.1,0.2", 10)
    with pytest.raises(lr.InputError, match="one of score and duel, not both"):
        type("Odd", (Both,), {"score": lambda self, arm, clock: 0.0})
