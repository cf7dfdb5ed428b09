"""Bandits whose means change: the mean of an arm at a step, and its reward.

The n-th reward of an arm still comes from draw n of its stream; the step decides from which distribution.
"""

from __future__ import annotations

from math import pi, sin
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, compiled_inline, jittable_inline
from lowregret.engine.kernels.rewards import RewardSource, nth_reward, reward_source
from lowregret.environments.drift import CYCLIC, LINEAR, PIECEWISE, DriftingBandit
from lowregret.environments.families import BERNOULLI


class MeanPath(NamedTuple):
    """How the means change, as ``environments.drift.Drift`` has it, and what follows for a horizon.

    ``first`` are the means at step 1, by the number of the arm, and ``best`` is the best mean of every step.
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
    _fill_best(path)
    return path


@jittable_inline
def part_at(path: MeanPath, part: int, t: int) -> int:
    """Return the row of a piecewise path at step ``t``, given that at an earlier step."""
    while part + 1 < len(path.times) and path.times[part + 1] <= t:
        part += 1
    return part


@jittable_inline
def mean_at(path: MeanPath, part: int, t: int, number: int) -> float:
    """Return the mean of an arm at step ``t``."""
    if path.kind == PIECEWISE:
        return path.rows[part, number]
    if path.kind == CYCLIC:
        return path.rows[(t - 1) // path.times[0] % len(path.rows), number]
    first, second = path.rows[0, number], path.rows[1, number]
    if path.kind == LINEAR:
        return first + (second - first) * min((t - 1.0) / (path.times[0] - 1.0), 1.0)
    return first + second * sin(2.0 * pi * ((t - 1.0) / path.period + path.rows[2, number]))


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


@compiled_inline
def drifting_reward(row: Any, data: Floats, n: int, mean: float, first: float) -> float:
    """Return the n-th reward of an arm when it has a mean; ``first`` is its mean at step 1."""
    return reward_of_mean(reward_source(row), data, n, mean, first)


@jittable_inline
def reward_of_mean(source: RewardSource, data: Floats, n: int, mean: float, first: float) -> float:
    """Return the n-th reward of an arm with a source, as ``drifting_reward`` does."""
    kind, key, a, b, c, d = source
    if kind == BERNOULLI and c != b:
        return nth_reward(RewardSource(kind, key, (mean - b) / (c - b), b, c, d), data, n)
    return nth_reward(RewardSource(kind, key, a, b, c, d), data, n) + (mean - first)
