"""The statistics of an arm: sums of its rewards, from which its mean and variance follow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import jittable, jittable_inline
from lowregret.engine.kernels.state import Rows
from lowregret.policies import Arm
from lowregret.policies.views import mean_of, variance_of


class Sums(NamedTuple):
    """The sums of one arm; ``before`` are the pulls that no longer count."""

    before: int
    pulls: int
    origin: float
    total: float
    squares: float


@jittable_inline
def read_sums(row: np.void) -> Sums:
    """Read the sums of an arm."""
    before = row["reset"]
    return Sums(before, row["pulls"] - before, row["origin"], row["total"], row["squares"])


@jittable_inline
def add_reward(sums: Sums, x: float) -> Sums:
    """Return the sums after a reward."""
    origin = x if sums.pulls == 0 else sums.origin
    distance = x - origin
    squares = sums.squares + distance * distance
    return Sums(sums.before, sums.pulls + 1, origin, sums.total + distance, squares)


@jittable_inline
def arm_from_sums(policy: Any, rows: Rows, number: int, sums: Sums) -> Arm:
    """Return an arm of a policy without memory; the table of arms may not have its latest rewards."""
    mean = mean_of(sums.pulls, sums.origin, sums.total)
    variance = variance_of(sums.pulls, sums.total, sums.squares)
    return Arm(number, sums.pulls, mean, variance, None, policy.view_arms(rows, None), None)


@jittable_inline
def write_sums(row: np.void, sums: Sums, mean: float) -> None:
    """Write the sums and the mean of an arm into its row."""
    row["pulls"], row["origin"] = sums.before + sums.pulls, sums.origin
    row["total"], row["squares"], row["mean"] = sums.total, sums.squares, mean


@jittable_inline
def clipped(reward: float, clip: bool) -> float:
    """Return a reward, clipped to [0, 1] if wanted."""
    return min(max(reward, 0.0), 1.0) if clip else reward


@jittable
def best_mean(rows: Rows) -> float:
    """Return the largest mean of the arms that were pulled, minus infinity if none was."""
    best = -np.inf
    for i in range(len(rows)):
        row = rows[i]
        if row["pulls"] > row["reset"]:
            best = max(best, float(row["mean"]))
    return best


@jittable_inline
def first_largest(values: Floats) -> int:
    """Return the place of the first of the largest values, -1 if one is nan."""
    a = b = c = d = -np.inf  # four at a time, since a comparison must wait for the one before it
    i = j = k = m = 0
    nan = False
    fours = len(values) - len(values) % 4
    for n in range(0, fours, 4):
        e, f, g, h = values[n], values[n + 1], values[n + 2], values[n + 3]
        i, j = n if e > a else i, n + 1 if f > b else j
        k, m = n + 2 if g > c else k, n + 3 if h > d else m
        a, b, c, d = max(e, a), max(f, b), max(g, c), max(h, d)
        nan |= (e != e) | (f != f) | (g != g) | (h != h)
    for n in range(fours, len(values)):
        e = values[n]
        i = n if e > a else i
        a = max(e, a)
        nan |= e != e
    i = j if (b > a) | ((b == a) & (j < i)) else i
    a = max(a, b)
    k = m if (d > c) | ((d == c) & (m < k)) else k
    c = max(c, d)
    i = k if (c > a) | ((c == a) & (k < i)) else i
    return -1 if nan else i
