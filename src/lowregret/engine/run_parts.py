"""The parts that every way to play a run shares.

A run writes into ``rows`` (the table of the arms), ``regret`` (at the times of ``grid``) and ``path``, which
is empty or has one row per step: the number of the arm, the round and the number of active arms after it. It
answers with the horizon, or with a negative number: ``DROPPED_ALL``, ``NOT_A_NUMBER`` for a score that is
none, ``STOPPED`` if ``stop`` was set, or -1 - i where the given rewards of the arm in place i ran out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.compile import compiled, inlined, shared
from lowregret.engine.lazy.tournament import Leaders, plant
from lowregret.engine.protocol import book, lower, turn, value
from lowregret.engine.rng import POLICY_STREAM, STATE, Rng, stream
from lowregret.engine.state import Floats, Integers, Rows, deal, ended, law, reward_of
from lowregret.policies import Arm, Arms, Clock, clock_at
from lowregret.policies.base import mean_of, variance_of

DROPPED_ALL, NOT_A_NUMBER, STOPPED = -(2**62), -(2**62) - 1, -(2**62) - 2
LEAST = -np.finfo(np.float64).max
"""The least score in the tree of an arm in play; minus infinity is for those that are not."""


class Rules(NamedTuple):
    """What the engine must know of a policy's class."""

    warmup: int
    final: bool
    moving: bool  # with time
    rising: bool
    drops: bool  # arms by their lower bounds
    uses_best: bool
    clip: bool  # whether rewards are clipped to [0, 1] first


class Scratch(NamedTuple):
    """The working memory of a run; compiled code allocates none."""

    rows: Rows
    order: Integers
    states: Rows  # of the policy's random numbers
    tree: Leaders
    means: Leaders
    stack: Integers
    scores: Floats
    places: Integers
    lines: Floats  # four numbers to an arm


def scratch(rows: Rows) -> Scratch:
    """Make the working memory for a table of arms."""
    size = len(rows)
    trees = plant(size), plant(size)
    stack, places = np.zeros(128, np.int64), np.zeros(size, np.int64)
    lists = stack, np.zeros(size), places, np.zeros((4, size))
    return Scratch(rows.copy(), np.arange(size), np.zeros(1, STATE), *trees, *lists)


@compiled
def lay_out(given: Rows, seed: np.uint64, number: int, scratch: Scratch) -> None:
    """Lay out the arms of run ``number`` in their order, and begin the policy's own stream."""
    deal(given, scratch.order, seed, number, scratch.rows)
    state = scratch.states[0]
    state["key"] = stream(seed, number, POLICY_STREAM)
    state["drawn"] = 0


class Run(NamedTuple):
    """What a run plays on, and where it writes."""

    rows: Rows
    data: Floats
    horizon: int
    grid: Integers
    regret: Floats
    path: Integers
    stop: Integers
    scratch: Scratch


class Tally(NamedTuple):
    """The sums of one arm while it is pulled; ``before`` are the pulls that no longer count."""

    before: int
    pulls: int
    origin: float
    total: float
    squares: float


clock_now = inlined(clock_at)


@inlined
def look(rows: Rows, i: int) -> Arm:
    """Read the statistics of the arm in place ``i``."""
    return Arms(rows).at(i)


@inlined
def at_least(score: float) -> float:
    """Lift a score of minus infinity to the least of an arm in play; let nan pass."""
    return LEAST if score < LEAST else score


@inlined
def tally_of(row: np.void) -> Tally:
    """Read the sums of an arm."""
    before = row["forgotten"]
    return Tally(before, row["pulls"] - before, row["origin"], row["total"], row["squares"])


@inlined
def count(tally: Tally, x: float) -> Tally:
    """Add a reward to the sums."""
    origin = x if tally.pulls == 0 else tally.origin
    distance = x - origin
    squares = tally.squares + distance * distance
    return Tally(tally.before, tally.pulls + 1, origin, tally.total + distance, squares)


@inlined
def state(number: int, tally: Tally) -> Arm:
    """Give the statistics of an arm from its sums."""
    mean = mean_of(tally.pulls, tally.origin, tally.total)
    return Arm(number, tally.pulls, mean, variance_of(tally.pulls, tally.total, tally.squares))


@inlined
def keep(row: np.void, tally: Tally, mean: float) -> None:
    """Write the sums and the mean of an arm back into its row."""
    row["pulls"], row["origin"] = tally.before + tally.pulls, tally.origin
    row["total"], row["squares"], row["mean"] = tally.total, tally.squares, mean


@compiled
def record(rows: Rows, regret: Floats, at: int) -> None:
    """Record the regret as number ``at`` of the grid."""
    total = 0.0
    for i in range(len(rows)):
        total += rows[i]["gap"] * rows[i]["pulls"]
    regret[at] = total


@inlined
def mark(run: Run, t: int, at: int) -> int:
    """Record the regret if ``t`` is the grid's time number ``at``; give the number of the next."""
    due = at < len(run.grid) and t == run.grid[at]
    if due:
        record(run.rows, run.regret, at)
    return at + due


@compiled
def note(run: Run, t: int, number: int, round: int, active: int) -> None:
    """Record step ``t`` if the path is wanted."""
    path = run.path
    if len(path) > 0:
        path[t - 1, 0] = number
        path[t - 1, 1] = round
        path[t - 1, 2] = active


@inlined
def pull(policy: Any, rules: Rules, rng: Rng, rows: Rows, data: Floats, i: int) -> bool:
    """Pull the arm in place ``i``; say whether it had a reward left."""
    row = rows[i]
    source, tally = law(row), tally_of(row)
    n = tally.before + tally.pulls + 1
    there = not ended(source, n)
    if there:
        tally = count(tally, book(policy, reward_of(source, data, n), rules.clip, rng))
        keep(row, tally, mean_of(tally.pulls, tally.origin, tally.total))
    return there


@shared
def best_mean(rows: Rows) -> float:
    """Give the largest mean of all arms that have been pulled."""
    best = -np.inf
    for i in range(len(rows)):
        arm = Arms(rows).at(i)
        if arm.pulls > 0:
            best = max(best, arm.mean)
    return best


@shared
def sweep(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng) -> bool:
    """Drop the arms whose score is below the largest lower bound; say whether there was one."""
    arms, highest, dropped = Arms(rows), -np.inf, False
    for i in range(len(rows)):
        if arms.active(i):
            highest = max(highest, lower(policy, arms.at(i), clock, round))
    if highest > -np.inf:
        for i in range(len(rows)):
            if arms.active(i) and value(policy, arms.at(i), clock, round, rng) < highest:
                arms.drop(i)
                dropped = True
    return dropped


@shared
def leave(rows: Rows, t: int) -> int:
    """Record the arms that have just been dropped; give how many are left, ``DROPPED_ALL`` for none."""
    left = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            left += 1
        elif rows[i]["dropped"] == 0:
            rows[i]["dropped"] = t
    return left if left > 0 else DROPPED_ALL


@inlined
def end_round(policy: Any, rows: Rows, clock: Clock, round: Any) -> tuple[Any, int]:
    """Give the round that follows, and how many arms are left as ``leave`` gives it."""
    round = turn(policy, Arms(rows), clock, round)
    return round, leave(rows, clock.t)


@compiled
def finish(run: Run, number: int, t: int) -> int:
    """Give the one arm that is left all the pulls to the horizon, which nothing can change."""
    rows, grid, horizon = run.rows, run.grid, run.horizon
    last = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            last = i
    if ended(law(rows[last]), rows[last]["pulls"] + horizon - t):
        return -last - 1
    if len(run.path) > 0:
        for step in range(t + 1, horizon + 1):
            note(run, step, rows[last]["number"], number, 1)
    for at in range(len(grid)):
        if grid[at] > t:
            rows[last]["pulls"] += grid[at] - t
            t = grid[at]
            mark(run, t, at)
    rows[last]["pulls"] += horizon - t
    return horizon


@compiled
def warm_up(policy: Any, rules: Rules, rng: Rng, number: int, run: Run) -> tuple[int, int]:
    """Pull every arm in turn as often as the policy wants; give the time and the grid's next number."""
    rows = run.rows
    t, at, left = 0, 0, Arms(rows).left()
    for _ in range(rules.warmup):
        for i in range(len(rows)):
            if not rows[i]["active"]:
                continue
            if t == run.horizon:
                return t, at
            if not pull(policy, rules, rng, rows, run.data, i):
                return -i - 1, at
            t += 1
            note(run, t, rows[i]["number"], number, left)
            at = mark(run, t, at)
    return t, at
