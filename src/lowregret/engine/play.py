"""One run, compiled: the lazy way where a policy's scores stand still, else a scan of all arms.

Both give, bit for bit, what ``reference.play`` gives. A run writes into ``rows`` (the table of the arms),
``regret`` (at the times of ``grid``) and ``path``, which is empty or has one row per step: the number of the
arm, the round and the number of active arms after it. It answers with the horizon, or with a negative
number: ``DROPPED_ALL``, ``NOT_A_NUMBER`` for a score that is none, ``STOPPED`` if ``stop`` was set, or -1 - i
where the given rewards of the arm in place i ran out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from lowregret.engine.arms import EMPIRICAL, Floats, Integers, Rows, draw, law, reward
from lowregret.engine.compiling import OPTIONS, compiled
from lowregret.engine.leaders import Leaders, enter, plant, rebuild, rival
from lowregret.engine.protocol import book, has, lower, turn, value
from lowregret.engine.rng import Rng
from lowregret.policies import Arms, Clock
from lowregret.policies.base import summarise

DROPPED_ALL, NOT_A_NUMBER, STOPPED = -(2**62), -(2**62) - 1, -(2**62) - 2
LEAST = -np.finfo(np.float64).max
"""The least score in the tree of an arm in play; minus infinity is for those that are not."""


class Rules(NamedTuple):
    """What the engine must know of a policy's class."""

    warmup: int
    final: bool
    uses_best: bool
    clip: bool  # whether rewards are clipped to [0, 1] first


@compiled
def mark(rows: Rows, grid: Integers, regret: Floats, t: int, at: int) -> int:
    """Record the regret if ``t`` is the grid's time number ``at``; give the number of the next."""
    if at < len(grid) and t == grid[at]:
        total = 0.0
        for i in range(len(rows)):
            total += rows[i]["gap"] * rows[i]["pulls"]
        regret[at] = total
        return at + 1
    return at


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
        arm = Arms(rows).at(i)
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
def rescore(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Leaders) -> Any:
    """Score all active arms into the tree; give the smallest score and the largest lower bound.

    Both are nan where a score is.
    """
    size = len(tree.best) // 2
    lowest, highest = np.inf, -np.inf
    for i in range(len(rows)):
        tree.best[size + i] = -np.inf
        if rows[i]["active"]:
            arm = Arms(rows).at(i)
            score = value(policy, arm, clock, round, rng)
            if score != score:
                return np.nan, np.nan
            tree.best[size + i] = max(score, LEAST)
            lowest = min(lowest, score)
            highest = max(highest, lower(policy, arm, clock, round))
    rebuild(tree)
    return lowest, highest


@compiled
def sweep(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng) -> bool:
    """Drop the arms whose score is below the largest lower bound; say whether there was one."""
    highest = -np.inf
    for i in range(len(rows)):
        if rows[i]["active"]:
            highest = max(highest, lower(policy, Arms(rows).at(i), clock, round))
    dropped = False
    if highest > -np.inf:
        for i in range(len(rows)):
            if rows[i]["active"] and value(policy, Arms(rows).at(i), clock, round, rng) < highest:
                rows[i]["active"] = False
                dropped = True
    return dropped


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


def play_lazily(
    policy: Any,
    rules: Rules,
    first: Any,
    rng: Rng,
    rows: Rows,
    data: Floats,
    horizon: int,
    grid: Integers,
    regret: Floats,
    path: Integers,
    stop: Integers,
) -> int:
    """Play one run of a policy whose scores stand still.

    While the arm just pulled still beats its rival it is pulled again, at the cost of one draw, one
    update and one score. ``lowest`` and ``highest`` bound all scores from below and all lower bounds
    from above, so that no arm can have to leave while they have not crossed.
    """
    size = len(rows)
    round = first
    t, at = warm_up(policy, rules, rng, round.number, rows, data, horizon, grid, regret, path)
    if t < 0:
        return t
    left = size
    recording = len(path) > 0
    tree = plant(size)
    lowest, highest = rescore(policy, rows, Clock(t, horizon, size, 0.0), round, rng, tree)
    if lowest != lowest and t < horizon:
        return NOT_A_NUMBER
    i = tree.place[1]
    while t < horizon and (left > 1 or not rules.final):
        due = max(round.until, t + 1)
        end = min(due, horizon)
        if at < len(grid):
            end = min(end, grid[at])
        while t < end:
            bar, runner = rival(tree, i)
            row = rows[i]
            source = law(row)
            number, before, origin = row["number"], row["forgotten"], row["origin"]
            n, total, squares = row["pulls"] - before, row["total"], row["squares"]
            while True:
                n += 1
                x = draw(source, before + n)
                if source.kind >= EMPIRICAL:
                    if x != x:
                        return -i - 1
                    x = data[int(x)]
                x = book(policy, x, rules.clip, rng)
                if n == 1:
                    origin = x
                distance = x - origin
                total += distance
                squares += distance * distance
                t += 1
                arm = summarise(number, n, origin, total, squares)
                clock = Clock(t, horizon, size, 0.0)
                score = value(policy, arm, clock, round, rng)
                if score != score:
                    return NOT_A_NUMBER
                lowest = min(lowest, score)
                score = max(score, LEAST)
                highest = max(highest, lower(policy, arm, clock, round))
                if recording:
                    note(path, t, number, round.number, left)
                if score <= bar or t >= end or lowest < highest:
                    break
            row["pulls"], row["origin"] = before + n, origin
            row["total"], row["squares"] = total, squares
            enter(tree, i, score)
            if lowest < highest:
                clock = Clock(t, horizon, size, 0.0)
                if sweep(policy, rows, clock, round, rng):
                    left = leave(rows, t)
                    note(path, t, number, round.number, left)
                lowest, highest = rescore(policy, rows, clock, round, rng, tree)
                i = tree.place[1]
                if left == 1:
                    break
            elif score < bar or (score == bar and 0 <= runner < i):
                i = runner
        if t >= round.until:
            clock = Clock(t, horizon, size, 0.0)
            round = turn(policy, Arms(rows), clock, round)
            left = leave(rows, t)
            if left == 0:
                return DROPPED_ALL
            note(path, t, number, round.number, left)
            lowest, highest = rescore(policy, rows, clock, round, rng, tree)
            if lowest != lowest:
                return NOT_A_NUMBER
            i = tree.place[1]
        at = mark(rows, grid, regret, t, at)
        if stop[0]:
            return STOPPED
    return finish(rows, data, round.number, t, horizon, grid, regret, path) if t < horizon else t


def play_scanning(
    policy: Any,
    rules: Rules,
    first: Any,
    rng: Rng,
    rows: Rows,
    data: Floats,
    horizon: int,
    grid: Integers,
    regret: Floats,
    path: Integers,
    stop: Integers,
) -> int:
    """Play one run of any policy, looking at all arms at every step."""
    size = len(rows)
    round = first
    t, at = warm_up(policy, rules, rng, round.number, rows, data, horizon, grid, regret, path)
    if t < 0:
        return t
    left = size
    while t < horizon and (left > 1 or not rules.final):
        t += 1
        clock = Clock(t, horizon, size, best_mean(rows) if rules.uses_best else 0.0)
        chosen, top = -1, -np.inf
        for i in range(size):
            if rows[i]["active"]:
                score = value(policy, Arms(rows).at(i), clock, round, rng)
                if score != score:
                    return NOT_A_NUMBER
                if chosen < 0 or score > top:
                    chosen, top = i, score
        if not pull(policy, rules, rng, rows, data, chosen):
            return -chosen - 1
        if sweep(policy, rows, clock, round, rng):
            left = leave(rows, t)
        if t >= round.until:
            round = turn(policy, Arms(rows), clock, round)
            left = leave(rows, t)
            if left == 0:
                return DROPPED_ALL
        note(path, t, rows[chosen]["number"], round.number, left)
        at = mark(rows, grid, regret, t, at)
        if stop[0]:
            return STOPPED
    return finish(rows, data, round.number, t, horizon, grid, regret, path) if t < horizon else t


def play(*arguments: Any) -> int:
    """Play one run in the way that suits the policy; only compiled code calls this."""
    raise NotImplementedError


@overload(play, strict=False, jit_options=OPTIONS)
def _play(
    policy: Any,
    rules: Any,
    first: Any,
    rng: Any,
    rows: Any,
    data: Any,
    horizon: Any,
    grid: Any,
    regret: Any,
    path: Any,
    stop: Any,
) -> Any:
    kind = policy.instance_class
    still = kind.moves == "still" and not kind.uses_best and not has(policy, "sample")
    return play_lazily if still else play_scanning
