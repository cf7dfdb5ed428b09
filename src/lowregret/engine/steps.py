"""The parts that every way to play a run shares.

A run writes into ``rows`` (the table of the arms), ``regret`` (at the times of ``grid``) and ``path``, which
is empty or has one row per step: the number of the arm, the round and the number of active arms after it. It
answers with the horizon, or with a negative number: ``DROPPED_ALL``, ``NOT_A_NUMBER`` for a score that is
none, ``STOPPED`` if ``stop`` was set, or -1 - i where the given rewards of the arm in place i ran out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.arms import Floats, Integers, Rows, reward
from lowregret.engine.compiling import compiled, inlined, spliced
from lowregret.engine.protocol import book
from lowregret.engine.rng import Rng
from lowregret.policies import Arm, Arms, clock_at
from lowregret.policies.base import summarise

DROPPED_ALL, NOT_A_NUMBER, STOPPED = -(2**62), -(2**62) - 1, -(2**62) - 2
LEAST = -np.finfo(np.float64).max
"""The least score in the tree of an arm in play; minus infinity is for those that are not."""


class Rules(NamedTuple):
    """What the engine must know of a policy's class."""

    warmup: int
    final: bool
    rising: bool
    uses_best: bool
    clip: bool  # whether rewards are clipped to [0, 1] first


clock_now = inlined(clock_at)


@spliced
def look(rows: Rows, i: int) -> Arm:
    """Read the statistics of the arm in place ``i``."""
    row = rows[i]
    pulls = row["pulls"] - row["forgotten"]
    return summarise(row["number"], pulls, row["origin"], row["total"], row["squares"])


@compiled
def record(rows: Rows, regret: Floats, at: int) -> None:
    """Record the regret as number ``at`` of the grid."""
    total = 0.0
    for i in range(len(rows)):
        total += rows[i]["gap"] * rows[i]["pulls"]
    regret[at] = total


@spliced
def mark(rows: Rows, grid: Integers, regret: Floats, t: int, at: int) -> int:
    """Record the regret if ``t`` is the grid's time number ``at``; give the number of the next."""
    due = at < len(grid) and t == grid[at]
    if due:
        record(rows, regret, at)
    return at + due


@compiled
def note(path: Integers, t: int, number: int, round: int, active: int) -> None:
    """Record step ``t`` if the path is wanted."""
    if len(path) > 0:
        path[t - 1, 0] = number
        path[t - 1, 1] = round
        path[t - 1, 2] = active


@compiled
def pull(policy: Any, rules: Rules, rng: Rng, rows: Rows, data: Floats, i: int) -> bool:
    """Pull the arm in place ``i``; say whether it had a reward left."""
    x = reward(rows[i], data, rows[i]["pulls"] + 1)
    if x != x:
        return False
    Arms(rows).observe(i, book(policy, x, rules.clip, rng))
    return True


@compiled
def best_mean(rows: Rows) -> float:
    """Give the largest mean of all arms that have been pulled."""
    best = -np.inf
    for i in range(len(rows)):
        arm = look(rows, i)
        if arm.pulls > 0:
            best = max(best, arm.mean)
    return best


@compiled
def leave(rows: Rows, t: int) -> int:
    """Record the arms that have just been dropped; give the number of those that are left."""
    left = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            left += 1
        elif rows[i]["dropped"] == 0:
            rows[i]["dropped"] = t
    return left


@compiled
def finish(
    rows: Rows,
    data: Floats,
    number: int,
    t: int,
    horizon: int,
    grid: Integers,
    regret: Floats,
    path: Integers,
) -> int:
    """Give the one arm that is left all the pulls to the horizon, which nothing can change."""
    last = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            last = i
    x = reward(rows[last], data, rows[last]["pulls"] + horizon - t)
    if x != x:
        return -last - 1
    if len(path) > 0:
        for step in range(t + 1, horizon + 1):
            note(path, step, rows[last]["number"], number, 1)
    for at in range(len(grid)):
        if grid[at] > t:
            rows[last]["pulls"] += grid[at] - t
            t = grid[at]
            mark(rows, grid, regret, t, at)
    rows[last]["pulls"] += horizon - t
    return horizon


@compiled
def warm_up(
    policy: Any,
    rules: Rules,
    rng: Rng,
    number: int,
    rows: Rows,
    data: Floats,
    horizon: int,
    grid: Integers,
    regret: Floats,
    path: Integers,
) -> tuple[int, int]:
    """Pull every arm in turn as often as the policy wants; give the time and the grid's next number."""
    t, at = 0, 0
    for _ in range(rules.warmup):
        for i in range(len(rows)):
            if t == horizon:
                return t, at
            if not pull(policy, rules, rng, rows, data, i):
                return -i - 1, at
            t += 1
            note(path, t, rows[i]["number"], number, len(rows))
            at = mark(rows, grid, regret, t, at)
    return t, at
