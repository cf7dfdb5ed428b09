"""One run with few arms of a policy whose score is the mean plus a function of the pulls times one of time.

At one time t the score of every arm is mean + width * factor, with the same factor for all. So one
multiplication and one addition each compare the arms, without a branch. What that gives differs from the
scores by rounding alone: the arms within the slack of the largest are compared by their scores, and all
others cannot be chosen.

Two things make a step short, since each step must wait for the choice of the one before it:

- The reward of an arm's next pull is known beforehand, a function of the arm and the number of the pull.
  So its mean and width after that pull are computed when it is pulled, and are ready when it is chosen again.
- The arm that was pulled last is left out of the comparison and compared afterwards, from values at hand. The
  processor would have to wait to read a number in a vector that was written just before.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels.lazy import time_varying_index
from lowregret.engine.kernels.lazy.leaves import SLACK, arm_of
from lowregret.engine.kernels.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import Run, end_step, record_step, warm_up
from lowregret.engine.kernels.state import Rows, State
from lowregret.engine.kernels.statistics import Sums, add_reward, clipped
from lowregret.engine.problem import Problem
from lowregret.engine.status import ARM_FAILED, NOT_A_NUMBER, PLAYING
from lowregret.policies import Arm, Clock, Policy
from lowregret.policies.views import clock_at, mean_of

MAX_SMALL_ARMS = 250
"""How many arms are compared in this way at most."""
STORED_FACTORS = 2**16
"""How many time factors, from the first step on, are stored for later runs: these fit a fast cache."""
STRETCH = 256
"""For how many steps the time factors are computed at a time."""
BLOCK = 32
"""The number of lines is a multiple of this, so that all are compared in whole vectors."""
LARGE = 1e300
"""Beyond this, means and widths are not compared by lines."""
PLACE_BITS: Any = np.int64(255)
"""The bits of a key that hold the place of an arm."""
SIGN: Any = np.int64(63)
OTHER_BITS: Any = np.int64(2**63 - 1)
MIN_KEY: Any = np.int64(-(2**63))


class TimeFactors(NamedTuple):
    """The factors of the first steps, of which so many are ``computed``, then those of a later stretch."""

    values: Floats
    computed: Integers


class Scratch(NamedTuple):
    """The working memory: the places of the active arms, five numbers for each, and the time factors."""

    places: Integers
    padded: Floats  # of up to 255 arms
    factors: TimeFactors


def applies(problem: Problem) -> bool:
    """Return whether few arms have a positive width that is a function of pulls times one of time."""
    arms = len(problem.bandit)
    return arms <= MAX_SMALL_ARMS and is_separable(problem.policy, arms, problem.horizon)


def is_separable(policy: Policy, arms: int, horizon: int) -> bool:
    """Return whether scores are means plus a positive width: a function of pulls times one of time."""
    sees_more = policy.uses_best or policy.uses_arms
    sees_more |= policy.overrides("transform_reward") or policy.overrides("first_round")
    separable = policy.separable_width and policy.warmup > 0 and not sees_more
    if not separable or not time_varying_index.has_trend(policy):
        return False
    clock = clock_at(horizon + 1 if policy.index_trend == "increasing" else 1, horizon, arms, 0.0)
    try:
        return bool(0.0 < policy.arm_index(Arm(0, 1, 0.0, 0.0), clock, None, cast(Any, None)) <= LARGE)
    except Exception:  # if it does not compile either, that is explained there
        return False


def new_scratch(policy: Policy, encoding: Encoding, horizon: int) -> Scratch:
    values = np.zeros(min(horizon, STORED_FACTORS) + STRETCH)
    factors = TimeFactors(values, np.zeros(1, np.int64))
    return Scratch(np.zeros(len(encoding.rows), np.int64), np.zeros((5, 256)), factors)


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
def largest_key(means: Floats, widths: Floats, factor: float, besides: int) -> Any:
    """Return the largest key of all arms but one."""
    top = MIN_KEY
    for k in range(len(means)):
        top = max(top, MIN_KEY if k == besides else key_of(means[k] + widths[k] * factor, k))
    return top


@compiled_inline
def count_rivals(
    means: Floats, widths: Floats, pulls: Floats, factor: float, cutoff: float, chosen: int
) -> int:
    """Return how many arms are not below a value, besides those with the pulls and the mean of one."""
    mean, pulled, count = means[chosen], pulls[chosen], 0
    for k in range(len(means)):
        other = (means[k] != mean) | (pulls[k] != pulled)
        count += other & (means[k] + widths[k] * factor >= cutoff)
    return count


@compiled
def first_of_best(
    policy: Any, clock: Clock, rows: Rows, scratch: Scratch, active: int, factor: float, cutoff: float
) -> int:
    """Return the first of the best arms, by the scores of all that are not below a value.

    Returns -1 if a score is nan.
    """
    places, means, widths = scratch.places, scratch.padded[0], scratch.padded[1]
    chosen, best = -1, -np.inf
    for k in range(active):
        if not means[k] + widths[k] * factor < cutoff:  # also where that is nan
            arm = arm_of(rows[places[k]]["pulls"], means[k], 0.0)
            score = policy.arm_index(arm, clock, None, None)
            if score != score:
                return -1
            if score > best or chosen < 0:
                chosen, best = k, score
    return chosen


@compiled_inline
def width(policy: Any, clock: Clock, pulls: int) -> float:
    """Return the score of an arm of mean 0, which depends neither on a round nor on random numbers."""
    return policy.arm_index(arm_of(pulls, 0.0, 0.0), clock, None, None)


@compiled
def set_factors(policy: Any, clock: Clock, factors: TimeFactors, start: int, end: int) -> int:
    """Compute the factor of each step from ``start`` to ``end``; return where their values begin."""
    horizon, arms = clock.horizon, clock.arms
    stored = len(factors.values) - STRETCH
    if end > stored:
        for t in range(start, end + 1):
            factors.values[stored + t - start] = width(policy, clock_at(t, horizon, arms, 0.0), 1)
        return stored
    if factors.computed[0] == 0:
        factors.computed[0] = start - 1  # no score is computed in the warm-up
    for t in range(factors.computed[0] + 1, end + 1):
        factors.values[t - 1] = width(policy, clock_at(t, horizon, arms, 0.0), 1)
    factors.computed[0] = max(factors.computed[0], end)
    return start - 1


@compiled_inline
def look_ahead(policy: Any, clock: Clock, unit: float, run: Run, scratch: Scratch, k: int) -> None:
    """Compute the mean and the width of an arm after its next pull; the mean is nan if it has no reward left.

    The sums in the row of the arm then are those after that pull, and its pulls are not.
    """
    row, padded = run.table.rows[scratch.places[k]], scratch.padded
    source, n = reward_source(row), row["pulls"] + 1
    if exhausted(source, n):
        padded[2, k] = np.nan
        return
    before = Sums(0, n - 1, row["origin"], row["total"], 0.0)  # no prior, and nothing is forgotten
    sums = add_reward(before, clipped(nth_reward(source, run.data, n), run.clip))
    row["origin"], row["total"] = sums.origin, sums.total
    padded[2, k] = mean_of(n, sums.origin, sums.total)
    padded[3, k] = width(policy, clock, n) / unit


@compiled
def prepare(policy: Any, clock: Clock, unit: float, run: Run, scratch: Scratch) -> int:
    """Set the lines of all active arms, and of their next pulls; return how many arms they are."""
    rows, places, padded = run.table.rows, scratch.places, scratch.padded
    active = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            places[active] = i
            padded[0, active], padded[4, active] = rows[i]["mean"], rows[i]["pulls"]
            padded[1, active] = width(policy, clock, rows[i]["pulls"]) / unit
            look_ahead(policy, clock, unit, run, scratch, active)
            active += 1
    padded[0, active:], padded[1, active:], padded[4, active:] = -LARGE, 0.0, 0.0
    return active


def play(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Play one run by comparing lines."""
    rows, horizon, grid, recording = run.table.rows, run.horizon, run.grid, len(run.path) > 0
    fixed = clock_at(horizon + 1 if rules_of(policy).index_increases else 1, horizon, len(rows), 0.0)
    round, active, t, at, status = warm_up(policy, state, rng, run)
    unit = width(policy, fixed, 1)
    active = prepare(policy, fixed, unit, run, scratch)
    places, size = scratch.places, (active + BLOCK) // BLOCK * BLOCK
    means, widths = scratch.padded[0, :size], scratch.padded[1, :size]
    pulls = scratch.padded[4, :size]
    next_means, next_widths = scratch.padded[2, :size], scratch.padded[3, :size]
    latest, mean, wide, pulled = size - 1, -LARGE, 0.0, 0.0  # of the arm pulled last; at first, of none
    largest, widest = 0.0, 0.0
    for k in range(active):
        largest, widest = max(largest, abs(means[k])), max(widest, abs(widths[k]))
    factors = scratch.factors.values
    while status == PLAYING and t < horizon and active > 1:
        end = min(horizon, t + STRETCH)
        if at < len(grid):
            end = min(end, grid[at])
        offset = set_factors(policy, fixed, scratch.factors, t + 1, end) - t
        while t < end:
            factor = factors[offset + t]
            t += 1
            key = max(largest_key(means, widths, factor, latest), key_of(mean + wide * factor, latest))
            means[latest], widths[latest], pulls[latest] = mean, wide, pulled
            k = PLACE_BITS - (key & PLACE_BITS)
            cutoff = value_of(key) - SLACK * (1.0 + largest + widest * abs(factor))
            rivals = count_rivals(means, widths, pulls, factor, cutoff, k)
            if rivals > 0 or not cutoff > -LARGE:
                clock = clock_at(t, horizon, len(rows), 0.0)
                k = first_of_best(policy, clock, rows, scratch, active, factor, cutoff)
                if k < 0:
                    return State(round, active, t, at, NOT_A_NUMBER)
            i = places[k]
            latest, mean, wide = k, next_means[k], next_widths[k]
            if mean != mean and exhausted(reward_source(rows[i]), rows[i]["pulls"] + 1):
                return State(round, active, t, at, ARM_FAILED - rows[i]["number"])
            largest = max(largest, abs(mean)) if abs(mean) <= LARGE else np.inf
            widest = max(widest, abs(wide)) if abs(wide) <= LARGE else np.inf
            rows[i]["pulls"] += 1
            pulled = float(rows[i]["pulls"])
            look_ahead(policy, fixed, unit, run, scratch, k)
            if recording:
                record_step(run.path, t, rows[i]["number"], round.number, active)
        at, status = end_step(run, t, at, status)
    return State(round, active, t, at, status)
