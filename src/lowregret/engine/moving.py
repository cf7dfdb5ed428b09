"""One run of an index policy whose scores move with time, or with the best mean.

Over a stretch of time each arm has a bound that its score cannot pass: a rising score is below its value
at the end of the stretch, a falling one below its last value, and one that looks at ``clock.best`` is
below its value at a mean that the best does not fall below. A tournament tree holds the bounds, and at
each step only the arms whose bound reaches the best score so far are scored. A stretch of about K log t
steps is short enough that these are few, and long enough that setting the bounds anew costs little.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.arms import EMPIRICAL, Floats, Integers, Rows, draw, law
from lowregret.engine.compiling import compiled, inlined, spliced
from lowregret.engine.leaders import Leaders, enter, plant, rebuild, rival
from lowregret.engine.protocol import book, value
from lowregret.engine.rng import Rng
from lowregret.engine.steps import (
    LEAST,
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    clock_now,
    finish,
    look,
    mark,
    note,
    warm_up,
)
from lowregret.policies import Clock
from lowregret.policies.base import summarise

STRETCH = 2.0
SLACK = 1e-12
"""By how much, relative to its size, a bound is loosened: a score may rise by less than it is rounded."""


@inlined
def loosened(score: float) -> float:
    """Make a bound of a score, for an arm in play."""
    score = max(score, LEAST)
    return score + SLACK * (1.0 + abs(score))


@compiled
def set_bounds(
    policy: Any, rows: Rows, t: int, horizon: int, floor: float, round: Any, rng: Rng, tree: Leaders
) -> None:
    """Set the bounds of all arms, from scores at time ``t`` and a best mean of at least ``floor``."""
    size = len(tree.best) // 2
    for i in range(len(rows)):
        arm = look(rows, i)
        clock = clock_now(t, horizon, len(rows), max(floor, arm.mean))
        tree.best[size + i] = loosened(value(policy, arm, clock, round, rng))
    rebuild(tree)


@spliced
def search(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    tree: Leaders,
    stack: Integers,
    leader: int,
    top: float,
) -> tuple[int, float]:
    """Find the first of the best arms and its score, given one arm and its score to begin with (or -1).

    Goes down the tree, the better half first, and passes over all that is bounded below the best so far.
    """
    size = len(tree.best) // 2
    chosen, best = leader, top
    stack[0] = 1
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if tree.best[node] >= best:
            if node >= size:
                i = node - size
                if i != leader:
                    score = value(policy, look(rows, i), clock, round, rng)
                    if score != score:
                        return -1, score
                    score = max(score, LEAST)
                    if score > best or (score == best and i < chosen) or chosen < 0:
                        chosen, best = i, score
            else:
                left = 2 * node
                second = tree.best[left] >= tree.best[left + 1]
                stack[depth] = left + second
                stack[depth + 1] = left + 1 - second
                depth += 2
    return chosen, best


def play_moving(
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
    """Play one run, scoring at each step only the arms that could lead."""
    size = len(rows)
    t, at = warm_up(policy, rules, rng, first.number, rows, data, horizon, grid, regret, path)
    if t < 0:
        return t
    if size == 1:
        return finish(rows, data, first.number, t, horizon, grid, regret, path) if t < horizon else t
    recording = len(path) > 0
    tree, means = plant(size), plant(size)
    stack = np.zeros(128, np.int64)
    best, floor, ceiling = 0.0, -np.inf, np.inf
    while t < horizon:
        last = min(horizon, t + int(STRETCH * np.sqrt(size * np.log(t + 1.0))) + 1)
        if rules.uses_best:
            best, floor, ceiling = best_range(rows, means)
        set_bounds(policy, rows, last if rules.rising else t + 1, horizon, floor, first, rng, tree)
        i, top = -1, -np.inf
        while t < last:
            i, top = search(
                policy, rows, clock_now(t + 1, horizon, size, best), first, rng, tree, stack, i, top
            )
            if i < 0:
                return NOT_A_NUMBER
            bar, _ = rival(tree, i)
            end = min(last, grid[at]) if at < len(grid) else last
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
                if recording:
                    note(path, t, number, first.number, size)
                if rules.uses_best:
                    enter(means, i, arm.mean)
                    best = means.best[1]
                if t >= last or best < floor or best > ceiling:
                    last = t
                    break
                top = value(policy, arm, clock_now(t + 1, horizon, size, best), first, rng)
                if not top > bar or t >= end:  # also where the score is nan
                    break
            if top != top:
                return NOT_A_NUMBER
            top = max(top, LEAST)
            row["pulls"], row["origin"] = before + n, origin
            row["total"], row["squares"] = total, squares
            if t < last:
                later = last if rules.rising else t + 1
                clock = clock_now(later, horizon, size, max(floor, arm.mean))
                enter(tree, i, loosened(value(policy, arm, clock, first, rng)))
            at = mark(rows, grid, regret, t, at)
            if stop[0]:
                return STOPPED
    return t


@compiled
def best_range(rows: Rows, means: Leaders) -> tuple[float, float, float]:
    """Give the best mean, and between which values it may move before the bounds are set anew.

    The range is about as wide as the best mean moves while it is pulled as often as there are arms.
    """
    size = len(means.best) // 2
    for i in range(len(rows)):
        arm = look(rows, i)
        means.best[size + i] = arm.mean if arm.pulls > 0 else -np.inf
    rebuild(means)
    leader = look(rows, means.place[1])
    margin = 2.0 * np.sqrt(leader.variance * len(rows)) / max(leader.pulls, 1) + 1e-9
    return leader.mean, leader.mean - margin, leader.mean + margin
