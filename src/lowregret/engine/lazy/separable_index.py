"""One run with few arms of a policy whose score is the mean plus a function of the pulls times one of time.

At one time t the score of every arm is mean + width * pace, with the same pace for all. So one multiplication
and one addition each compare the arms, without a branch. What that gives differs from the scores by rounding
alone: the arms within the slack of the largest are compared by their scores, and all others cannot be chosen.

Two things make a step short, since each step must wait for the choice of the one before it:

- The reward of an arm's next pull is known beforehand, a function of the arm and the number of the pull.
  So its mean and width after that pull are computed when it is pulled, and are ready when it is chosen again.
- The arm that was pulled last is left out of the comparison and compared afterwards, from values at hand. The
  processor would have to wait to read a number in a vector that was written just before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import by_policy_class, compiled, compiled_inline
from lowregret.engine.lazy.leaves import SLACK, arm_of
from lowregret.engine.lazy.paces import STRETCH
from lowregret.engine.lazy.time_varying_index import play_time_varying_index
from lowregret.engine.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.rng import Rng
from lowregret.engine.rules import rules_of
from lowregret.engine.simulated_run import (
    STOPPED,
    Run,
    clock_now,
    finish,
    record_if_due,
    record_step,
    warm_up,
)
from lowregret.engine.state import Floats
from lowregret.engine.statistics import add_reward, clipped, read_sums
from lowregret.engine.step import NOT_A_NUMBER, count_active
from lowregret.policies import Clock, Policy
from lowregret.policies.views import mean_of

MOST = 250
"""How many arms are compared in this way at most."""
BLOCK = 32
"""The number of lines is a multiple of this, so that all are compared in whole vectors."""
LARGE = 1e300
"""Beyond this, means and widths are not compared by lines."""
PLACE_BITS: Any = np.int64(255)
"""The bits of a key that hold the place of an arm."""
SIGN: Any = np.int64(63)
OTHER_BITS: Any = np.int64(2**63 - 1)
LEAST_KEY: Any = np.int64(-(2**63))


@compiled_inline
def key_of(value: float, k: int) -> Any:
    """Return an integer that is larger for a larger value, or where 256 units in the last place are one.

    Integers are compared in vectors; Numba compares floating-point numbers one by one.
    """
    bits = np.float64(value).view(np.int64)
    bits ^= (bits >> SIGN) & OTHER_BITS
    return (bits & ~PLACE_BITS) | (PLACE_BITS - k)


@compiled_inline
def value_of(key: Any) -> float:
    """Return a value with this key, the least."""
    bits = key & ~PLACE_BITS
    bits ^= (bits >> SIGN) & OTHER_BITS
    return float(np.int64(bits).view(np.float64))


@compiled_inline
def largest_key(means: Floats, widths: Floats, pace: float, besides: int) -> Any:
    """Return the largest key of all arms but one."""
    top = LEAST_KEY
    for k in range(len(means)):
        top = max(top, LEAST_KEY if k == besides else key_of(means[k] + widths[k] * pace, k))
    return top


@compiled_inline
def count_rivals(
    means: Floats, widths: Floats, pulls: Floats, pace: float, enough: float, chosen: int
) -> int:
    """Return how many arms are not below a value, besides those with the pulls and the mean of one."""
    mean, pulled, count = means[chosen], pulls[chosen], 0
    for k in range(len(means)):
        other = (means[k] != mean) | (pulls[k] != pulled)
        count += other & (means[k] + widths[k] * pace >= enough)
    return count


@compiled
def first_of_best(
    policy: Any, clock: Clock, round: Any, rng: Rng, run: Run, left: int, pace: float, enough: float
) -> int:
    """Return the first of the best arms, by the scores of all that are not below a value.

    Returns -1 if a score is nan.
    """
    rows, places = run.rows, run.scratch.places
    means, widths = run.scratch.padded[0], run.scratch.padded[1]
    chosen, best = -1, -np.inf
    for k in range(left):
        if not means[k] + widths[k] * pace < enough:  # also where that is nan
            arm = arm_of(policy, rows, rows[places[k]]["pulls"], means[k], 0.0)
            score = policy.arm_index(arm, clock, round, rng)
            if score != score:
                return -1
            if score > best or chosen < 0:
                chosen, best = k, score
    return chosen


@compiled_inline
def width(policy: Any, clock: Clock, round: Any, rng: Rng, run: Run, pulls: int) -> float:
    """Return the score of an arm of mean 0."""
    return policy.arm_index(arm_of(policy, run.rows, pulls, 0.0, 0.0), clock, round, rng)


@compiled
def set_paces(policy: Any, round: Any, rng: Rng, run: Run, start: int, end: int) -> int:
    """Compute the pace of each step from ``start`` to ``end``; return where they are in ``paces.values``."""
    paces = run.scratch.paces
    kept = len(paces.values) - STRETCH
    if end > kept:
        for t in range(start, end + 1):
            paces.values[kept + t - start] = width(policy, clock_now(run, t, 0.0), round, rng, run, 1)
        return kept
    if paces.known[0] == 0:
        paces.known[0] = start - 1  # no score is computed in the warm-up
    for t in range(paces.known[0] + 1, end + 1):
        paces.values[t - 1] = width(policy, clock_now(run, t, 0.0), round, rng, run, 1)
    paces.known[0] = max(paces.known[0], end)
    return start - 1


@compiled_inline
def look_ahead(policy: Any, clock: Clock, unit: float, round: Any, rng: Rng, run: Run, k: int) -> None:
    """Compute the mean and the width of an arm after its next pull; the mean is nan if it has no reward left.

    The sums in the row of the arm then are those after that pull, and its pulls are not.
    """
    row, padded = run.rows[run.scratch.places[k]], run.scratch.padded
    source, n = reward_source(row), row["pulls"] + 1
    if exhausted(source, n):
        padded[2, k] = np.nan
        return
    sums = add_reward(read_sums(row), clipped(nth_reward(source, run.data, n), run.clip))
    row["origin"], row["total"] = sums.origin, sums.total
    padded[2, k] = mean_of(n, sums.origin, sums.total)
    padded[3, k] = width(policy, clock, round, rng, run, n) / unit


@compiled
def prepare(policy: Any, clock: Clock, unit: float, round: Any, rng: Rng, run: Run) -> int:
    """Set the lines of all active arms, and of their next pulls; return how many arms they are."""
    rows, places, padded = run.rows, run.scratch.places, run.scratch.padded
    left = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            places[left] = i
            padded[0, left], padded[4, left] = rows[i]["mean"], rows[i]["pulls"]
            padded[1, left] = width(policy, clock, round, rng, run, rows[i]["pulls"]) / unit
            look_ahead(policy, clock, unit, round, rng, run, left)
            left += 1
    padded[0, left:], padded[1, left:], padded[4, left:] = -LARGE, 0.0, 0.0
    return left


def _play_few(policy: Any, first: Any, rng: Rng, run: Run, fixed: Clock, unit: float) -> int:
    """Play one run with few arms; ``unit`` is the width of an arm with one pull at the time of ``fixed``."""
    rows, horizon, grid, recording = run.rows, run.horizon, run.grid, len(run.path) > 0
    t, at = warm_up(policy, rng, first.number, run)
    if t < 0:
        return t
    left = prepare(policy, fixed, unit, first, rng, run)
    if left == 1:
        return finish(run, first.number, t) if t < horizon else t
    places, size = run.scratch.places, (left + BLOCK) // BLOCK * BLOCK
    means, widths = run.scratch.padded[0, :size], run.scratch.padded[1, :size]
    pulls = run.scratch.padded[4, :size]
    next_means, next_widths = run.scratch.padded[2, :size], run.scratch.padded[3, :size]
    latest, mean, wide, pulled = size - 1, -LARGE, 0.0, 0.0  # of the arm pulled last; at first, of none
    largest, widest = 0.0, 0.0
    for k in range(left):
        largest, widest = max(largest, abs(means[k])), max(widest, abs(widths[k]))
    paces = run.scratch.paces.values
    while t < horizon:
        end = min(horizon, t + STRETCH)
        if at < len(grid):
            end = min(end, grid[at])
        offset = set_paces(policy, first, rng, run, t + 1, end) - t
        while t < end:
            pace = paces[offset + t]
            t += 1
            key = max(largest_key(means, widths, pace, latest), key_of(mean + wide * pace, latest))
            means[latest], widths[latest], pulls[latest] = mean, wide, pulled
            k = PLACE_BITS - (key & PLACE_BITS)
            enough = value_of(key) - SLACK * (1.0 + largest + widest * abs(pace))
            rivals = count_rivals(means, widths, pulls, pace, enough, k)
            if rivals > 0 or not enough > -LARGE:
                k = first_of_best(policy, clock_now(run, t, 0.0), first, rng, run, left, pace, enough)
                if k < 0:
                    return NOT_A_NUMBER
            i = places[k]
            latest, mean, wide = k, next_means[k], next_widths[k]
            if mean != mean and exhausted(reward_source(rows[i]), rows[i]["pulls"] + 1):
                return -i - 1
            largest = max(largest, abs(mean)) if abs(mean) <= LARGE else np.inf
            widest = max(widest, abs(wide)) if abs(wide) <= LARGE else np.inf
            rows[i]["pulls"] += 1
            pulled = float(rows[i]["pulls"])
            look_ahead(policy, fixed, unit, first, rng, run, k)
            if recording:
                record_step(run, t, rows[i]["number"], first.number, left)
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return t


@by_policy_class
def play_few(kind: type[Policy]) -> Any:
    """Play one run by comparing lines."""
    return _play_few


@by_policy_class
def play_many(kind: type[Policy]) -> Any:
    """Play one run by comparing bounds."""
    return play_time_varying_index


def play_separable_index(policy: Any, first: Any, rng: Rng, run: Run) -> int:
    """Play one run, by lines if the arms are few."""
    fixed = clock_now(run, run.horizon + 1 if rules_of(policy).index_increases else 1, 0.0)
    unit = width(policy, fixed, first, rng, run, 1)
    if count_active(run.rows) <= MOST and 0.0 < unit <= LARGE:
        return play_few(policy, first, rng, run, fixed, unit)
    return play_many(policy, first, rng, run)
