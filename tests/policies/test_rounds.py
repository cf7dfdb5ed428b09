"""Policies with rounds and lists against their sources, written again here step by step."""

from math import ceil, e, floor, inf, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr


class Play:
    """Pulls on a table of rewards, with whole-number sums so that ties are exact."""

    def __init__(self, table, horizon):
        self.table, self.horizon = table, horizon
        self.arms = range(len(table))
        self.pulls, self.sums = [0] * len(table), [0.0] * len(table)
        self.steps = []

    def pull(self, i):
        if len(self.steps) < self.horizon:
            self.sums[i] += self.table[i][self.pulls[i]]
            self.pulls[i] += 1
            self.steps.append(i)

    def over(self):
        return len(self.steps) >= self.horizon

    def mean(self, i):
        return self.sums[i] / self.pulls[i]


def kl(p, q):
    first = 0.0 if p == 0 else inf if q == 0 else p * log(p / q)
    second = 0.0 if p == 1 else inf if q == 1 else (1 - p) * log((1 - p) / (1 - q))
    return first + second


def ucb_improved(table, T):
    game = Play(table, T)
    B, D = list(game.arms), 1.0
    for _ in range(floor(0.5 * log2(T / e)) + 1):
        if len(B) == 1:
            break
        n = max(ceil(2 * log(max(T * D**2, 1)) / D**2), 1)
        while any(game.pulls[i] < n for i in B) and not game.over():
            for i in B:
                if game.pulls[i] < n:
                    game.pull(i)
        if game.over():
            break
        w = sqrt(log(max(T * D**2, 1)) / (2 * n))
        bar = max(game.mean(i) - w for i in B)
        B = [i for i in B if not game.mean(i) + w < bar]
        D /= 2
    while not game.over():
        for i in B:
            game.pull(i)
    return game.steps


def median_elimination(table, T, epsilon, delta):
    game = Play(table, T)
    S, eps, dlt = list(game.arms), epsilon / 4, delta / 2
    while len(S) > 1 and not game.over():
        before_pulls, before_sums = list(game.pulls), list(game.sums)
        for _ in range(ceil(4 / eps**2 * log(3 / dlt))):
            for i in S:
                game.pull(i)
            if game.over():
                return game.steps
        value = {i: (game.sums[i] - before_sums[i]) / (game.pulls[i] - before_pulls[i]) for i in S}
        median = sorted(value.values(), reverse=True)[(len(S) + 1) // 2 - 1]
        S = [i for i in S if value[i] >= median]
        eps, dlt = eps * 3 / 4, dlt / 2
    while not game.over():
        game.pull(S[0])
    return game.steps


def ccb(table, T, r):
    game = Play(table, T)
    K = len(table)
    for i in game.arms:
        game.pull(i)
    scale = {"sqrt": sqrt(T), "linear": T, "log": log(T)}[r]
    D, m, last = 1.0, 0, floor(0.5 * log2(T / e))
    level = log(max(T * D**2, 1))
    n = max(ceil(2 * level / D**2), 1)
    deadline = K * n
    while not game.over():
        width = sqrt(level / (2 * n))
        game.pull(max(game.arms, key=lambda i: game.mean(i) + sqrt(scale / game.pulls[i]) * width))
        t = len(game.steps)
        if t >= deadline and m <= last:
            bar = max(game.mean(i) - width for i in game.arms)
            N = sum(game.mean(i) + width >= bar for i in game.arms)
            D, m = D / 2, m + 1
            level = log(max(T * D**2, 1))
            n = max(ceil(2 * level / D**2), 1)
            deadline = t + n * N
    return game.steps


def dmed(table, T, genuine):
    game = Play(table, T)
    K = len(table)
    for i in game.arms:
        game.pull(i)
    current, following = list(game.arms), set()
    while not game.over():
        waiting = set(current)
        for i in current:
            game.pull(i)
            if game.over():
                return game.steps
            waiting.discard(i)
            n = len(game.steps)
            best = max(game.mean(j) for j in game.arms)
            for j in set(game.arms) - waiting:
                level = log(n / game.pulls[j]) if genuine else log(n)
                if game.pulls[j] * kl(game.mean(j), best) < level or K == 1:
                    following.add(j)
        current, following = sorted(following), set()
    return game.steps


CASES = {
    lr.UCBImproved(): ucb_improved,
    lr.MedianElimination(epsilon=3.0, delta=0.9): lambda table, T: median_elimination(table, T, 3.0, 0.9),
    lr.CCB(): lambda table, T: ccb(table, T, "sqrt"),
    lr.CCB(r="linear"): lambda table, T: ccb(table, T, "linear"),
    lr.CCB(r="log"): lambda table, T: ccb(table, T, "log"),
    lr.DMED(): lambda table, T: dmed(table, T, True),
    lr.DMED(genuine=False): lambda table, T: dmed(table, T, False),
}


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("policy", CASES, ids=str)
@settings(max_examples=20)
@given(
    K=st.integers(1, 9),
    T=st.integers(1, 700),
    means=st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.9]), min_size=9, max_size=9),
    seed=st.integers(0, 2**32),
)
def test_every_step_is_that_of_the_source(policy, engine, K, T, means, seed):
    table = (np.random.default_rng(seed).random((K, T)) < np.array(means[:K])[:, None]).astype(float)
    expected = CASES[policy](table.tolist(), T)
    assert lr.trace(policy, table, horizon=T, engine=engine).arm.tolist() == expected


def test_rounds_do_eliminate():
    table = np.repeat([[0.1], [0.9], [0.5]], 4000, axis=1)
    for policy in (lr.UCBImproved(), lr.MedianElimination(epsilon=1.0, delta=0.5)):
        trace = lr.trace(policy, table, horizon=4000)
        assert trace.active[-1] == 1
        assert trace.arm[-1] == 1
        assert trace.round[-1] >= 1
