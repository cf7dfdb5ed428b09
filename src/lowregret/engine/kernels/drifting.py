"""Bandits whose means change: the mean of an arm at a step or pull, and its reward.

The n-th reward of an arm still comes from draw n of its stream; the step, or n, decides from which
distribution. When an arm is replaced, and by which mean, is a pure function of (seed, run, arm, step).
"""

from __future__ import annotations

from math import exp, pi, sin
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, compiled_inline, jittable, jittable_inline
from lowregret.engine.kernels.rewards import RewardSource, nth_reward, reward_source
from lowregret.engine.kernels.rng import beta, bits, exponential, normal
from lowregret.engine.kernels.state import Rows
from lowregret.environments.drift import (
    BY_PULLS,
    CYCLIC,
    LINEAR,
    PIECEWISE,
    PULL_STEPS,
    REPLACED,
    DriftingBandit,
)
from lowregret.environments.families import BERNOULLI

LIVES = -1
"""The draw of an arm's stream from which the stream of its lives starts; rewards begin at draw 1."""
NOW = 4
"""The row of a path that has the mean of every arm where arms are replaced."""
_LONGEST = 2.0**53


class MeanPath(NamedTuple):
    """How the means change, as ``environments.drift.Drift`` has it, and what follows for a horizon.

    ``first`` are the means at step 1, by the number of the arm, and ``best`` is the best mean of every step.
    Where means depend on pulls, ``best`` is what a step adds to the largest sum of means that so many pulls
    can have.

    Where arms are replaced, a run writes into its path: into a last row of ``rows`` the mean of every arm,
    into ``times`` the last step of each arm, and behind them the first of these, and into ``best``.
    """

    kind: int
    times: Integers
    rows: Floats
    period: float
    first: Floats
    best: Floats


def mean_path(bandit: DriftingBandit, horizon: int) -> MeanPath:
    """Return how the means of a bandit change up to a horizon."""
    drift = bandit.drift
    best = np.zeros(horizon)
    times = np.array(drift.times or (1,), np.int64)
    path = MeanPath(drift.kind, times, drift.table, float(drift.period), np.array(bandit.means), best)
    if drift.kind == REPLACED:
        return path_of_run(path)
    if drift.kind not in BY_PULLS:
        _fill_best(path)
    elif drift.rises:
        _fill_best_alone(path, np.zeros(len(bandit)))
    else:
        _fill_best_greedily(path, np.array(bandit.means), np.ones(len(bandit), np.int64))
    return path


def path_of_run(path: MeanPath) -> MeanPath:
    """Return a path for the runs of one thread, which has arrays of its own where runs write into them."""
    if path.kind != REPLACED:
        return path
    rows = np.vstack([path.rows[:NOW], path.first])
    return path._replace(times=np.zeros(len(path.first) + 1, np.int64), rows=rows, best=path.best.copy())


@jittable_inline
def part_at(path: MeanPath, part: int, t: int) -> int:
    """Return the row of a piecewise path at step ``t``, given that at an earlier step."""
    while part + 1 < len(path.times) and path.times[part + 1] <= t:
        part += 1
    return part


@jittable_inline
def mean_at(path: MeanPath, part: int, t: int, number: int) -> float:
    """Return the mean of an arm at step ``t``, where it depends on the step alone."""
    if path.kind == PIECEWISE:
        return path.rows[part, number]
    if path.kind == CYCLIC:
        return path.rows[(t - 1) // path.times[0] % len(path.rows), number]
    first, second = path.rows[0, number], path.rows[1, number]
    if path.kind == LINEAR:
        return first + (second - first) * min((t - 1.0) / (path.times[0] - 1.0), 1.0)
    return first + second * sin(2.0 * pi * ((t - 1.0) / path.period + path.rows[2, number]))


@jittable_inline
def mean_at_pull(path: MeanPath, n: int, number: int) -> float:
    """Return the mean of an arm at its pull ``n``, where it depends on the pulls alone."""
    if path.kind == PULL_STEPS:
        return path.rows[min((n - 1) // path.times[0], len(path.rows) - 1), number]
    first, limit = path.rows[0, number], path.rows[1, number]
    return limit + (first - limit) * exp(-(n - 1.0) / path.rows[2, number])


@compiled
def _fill_best(path: MeanPath) -> None:
    """Compute the best mean of every step."""
    part = 0
    for t in range(1, len(path.best) + 1):
        if path.kind == PIECEWISE:
            part = part_at(path, part, t)
        best = -np.inf
        for number in range(path.rows.shape[1]):
            best = max(best, mean_at(path, part, t, number))
        path.best[t - 1] = best


@compiled
def _fill_best_alone(path: MeanPath, sums: Floats) -> None:
    """Compute what each step adds to the largest sum of one arm, the optimum where means increase."""
    leader = 0
    for t in range(1, len(path.best) + 1):
        before, old = sums[leader], leader
        for number in range(len(sums)):
            sums[number] += mean_at_pull(path, t, number)
        for number in range(len(sums)):
            if sums[number] > sums[leader]:
                leader = number
        path.best[t - 1] = mean_at_pull(path, t, leader) if leader == old else sums[leader] - before


@compiled
def _fill_best_greedily(path: MeanPath, following: Floats, pulls: Integers) -> None:
    """Compute the largest mean of a next pull at each step: the optimum where means decrease."""
    for t in range(1, len(path.best) + 1):
        number = int(np.argmax(following))
        path.best[t - 1] = following[number]
        pulls[number] += 1
        following[number] = mean_at_pull(path, pulls[number], number)


@jittable
def replace_arms(path: MeanPath, rows: Rows, t: int) -> None:
    """Draw the means of the arms that are new at step ``t``; a run calls this at each step, from 1 on."""
    lasts, size = path.times, len(rows)
    if t > 1 and t <= lasts[size]:
        path.best[t - 1] = path.best[t - 2]
        return
    first_end, best = lasts[size], -np.inf
    for i in range(size):
        number = rows[i]["number"]
        if t == 1 or lasts[number] < t:
            key = bits(rows[i]["key"], LIVES)
            path.rows[NOW, number] = _new_mean(path, number, key, 2 * t)
            lasts[number] = t + int(min(path.period * exponential(key, 2 * t + 1), _LONGEST))
        first_end = lasts[number] if i == 0 else min(first_end, lasts[number])
        best = max(best, path.rows[NOW, number])
    lasts[size] = first_end
    path.best[t - 1] = best


@jittable
def _new_mean(path: MeanPath, number: int, key: Any, n: int) -> float:
    a, b = path.rows[0, number], path.rows[1, number]
    draw = beta(a, b, key, n) if a > 0.0 else min(max(normal(key, n), -b), b)
    return path.rows[2, number] + path.rows[3, number] * draw


@compiled_inline
def drifting_reward(
    path: MeanPath, rows: Rows, i: int, data: Floats, n: int, t: int, part: int
) -> tuple[float, float, int]:
    """Return the n-th reward of the arm in place ``i`` at step ``t``, its gap, and the part of the path.

    ``part`` is the part of the path that was used last.
    """
    row = rows[i]
    number = row["number"]
    if path.kind == REPLACED:
        replace_arms(path, rows, t)
        mean = path.rows[NOW, number]
    elif path.kind in BY_PULLS:
        mean = mean_at_pull(path, n, number)
    else:
        if path.kind == PIECEWISE:
            part = part_at(path, part, t)
        mean = mean_at(path, part, t, number)
    x = reward_of_mean(reward_source(row), data, n, mean, path.first[number])
    return x, path.best[t - 1] - mean, part


@jittable_inline
def reward_of_mean(source: RewardSource, data: Floats, n: int, mean: float, first: float) -> float:
    """Return the n-th reward of an arm when it has a mean; ``first`` is its mean at step 1."""
    kind, key, a, b, c, d = source
    if kind == BERNOULLI and c != b:
        return nth_reward(RewardSource(kind, key, (mean - b) / (c - b), b, c, d), data, n)
    return nth_reward(RewardSource(kind, key, a, b, c, d), data, n) + (mean - first)
