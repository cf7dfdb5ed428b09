"""Bandits whose means change: the mean of an arm at a step, and its reward.

The n-th reward of an arm still comes from draw n of its stream; the step decides from which distribution.
"""

from __future__ import annotations

from math import pi, sin
from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.compile import compiled, compiled_inline, shared_inline
from lowregret.engine.rewards import RewardSource, nth_reward, reward_source
from lowregret.engine.state import Floats, Integers
from lowregret.environments.drift import LINEAR, PIECEWISE, DriftingBandit
from lowregret.environments.families import BERNOULLI
from lowregret.errors import InputError


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
    try:
        best = np.zeros(horizon)
    except (MemoryError, ValueError):
        raise InputError(
            f"the best means of {horizon} steps do not fit into memory: use a shorter horizon"
        ) from None
    times = np.array(drift.times or (1,), np.int64)
    path = MeanPath(drift.kind, times, drift.table, float(drift.period), np.array(bandit.means), best)
    _fill_best(path)
    return path


@shared_inline
def part_at(path: MeanPath, part: int, t: int) -> int:
    """Return the row of a piecewise path at step ``t``, given that at an earlier step."""
    while part + 1 < len(path.times) and path.times[part + 1] <= t:
        part += 1
    return part


@shared_inline
def mean_at(path: MeanPath, part: int, t: int, number: int) -> float:
    """Return the mean of an arm at step ``t``."""
    if path.kind == PIECEWISE:
        return path.rows[part, number]
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
    kind, key, a, b, c, d = reward_source(row)
    if kind == BERNOULLI and c != b:
        return nth_reward(RewardSource(kind, key, (mean - b) / (c - b), b, c, d), data, n)
    return nth_reward(RewardSource(kind, key, a, b, c, d), data, n) + (mean - first)
