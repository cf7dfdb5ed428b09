"""Table 1: ten items, one of which is replaced with probability 0.001 a step.

No environment of the package has arms that are replaced. Here the times of the replacements are one fixed
draw, which the policies know, and the means of the items are drawn for each problem (problem0, problem1).
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np

import lowregret as lr

T, K, EVENTS = 1_000_000, 10, 1_000
_rng = np.random.default_rng(20111)
STEPS = np.sort(_rng.choice(np.arange(2, T + 1), EVENTS, replace=False))
ITEMS = _rng.integers(0, K, EVENTS)
TIMES = np.full((K, 200), T + 2, np.int64)  # the k-th life of item i begins at TIMES[i, k]
for _i in range(K):
    _own = STEPS[_i == ITEMS]
    TIMES[_i, 0] = 0
    TIMES[_i, 1 : len(_own) + 1] = _own


def problem(seed):
    rng = np.random.default_rng(seed)
    means = rng.beta(4, 4, K)
    changes, now = {}, means.copy()
    for step, item in zip(STEPS, ITEMS, strict=True):
        now = now.copy()
        now[item] = rng.beta(4, 4)
        changes[int(step)] = now.tolist()
    return lr.piecewise_drift(lr.bernoulli(means.tolist()), changes)


for _s in range(100):
    globals()[f"problem{_s}"] = lambda seed=_s: problem(seed)


class Life(NamedTuple):
    k: int = 0
    pulls: int = 0
    wins: float = 0.0


def told(memory, arm, reward, t):
    """The memory of an item after a reward of step t; a reward of an item that is gone is forgotten."""
    k = memory.k
    while TIMES[arm, k + 1] <= t:
        k += 1
    if k != memory.k:
        return Life(k, 1, reward)
    return Life(k, memory.pulls + 1, memory.wins + reward)


class TS(lr.Policy):
    """Thompson sampling, Beta(1, 1); a new item begins anew."""

    Memory = Life
    warmup = 0
    needs = ("rewards in [0, 1]",)

    def sample(self, arm, clock, rng):
        if TIMES[arm.number, arm.memory.k + 1] <= clock.t:
            return rng.uniform()
        return rng.beta(1 + arm.memory.wins, 1 + arm.memory.pulls - arm.memory.wins)

    def update_memory(self, arm, reward, clock):
        return told(arm.memory, arm.number, reward, clock.t)


class UCB(lr.Policy):
    """k/m + sqrt(2 (k/m) log(1/d) / m) + 2 log(1/d) / m, d = sqrt(1/t): formula (1)."""

    Memory = Life
    warmup = 0
    counts_pending = False
    needs = ("rewards in [0, 1]",)

    def score(self, arm, clock):
        m = arm.memory.pulls
        if m == 0 or TIMES[arm.number, arm.memory.k + 1] <= clock.t:
            return 1e9
        u = 0.5 * log(clock.t)
        p = arm.memory.wins / m
        return p + sqrt(2 * p * u / m) + 2 * u / m

    def update_memory(self, arm, reward, clock):
        return told(arm.memory, arm.number, reward, clock.t)


class UCBOwn(UCB):
    """The same with the logarithm of the steps that the item has lived."""

    def score(self, arm, clock):
        m = arm.memory.pulls
        if m == 0 or TIMES[arm.number, arm.memory.k + 1] <= clock.t:
            return 1e9
        u = 0.5 * log(max(clock.t - TIMES[arm.number, arm.memory.k], 1))
        p = arm.memory.wins / m
        return p + sqrt(2 * p * u / m) + 2 * u / m
