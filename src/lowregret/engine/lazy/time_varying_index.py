"""One run of an index policy whose scores move with time, or with the best mean.

Over a stretch of time each arm has a bound that its score cannot pass: a rising score is below its value
at the end of the stretch, a falling one below an earlier value, and one that looks at ``clock.best`` is
below its value at a mean that the best does not fall below. A tournament tree holds the bounds, and at
each step only the arms whose bound reaches the best score so far are scored. The longer a stretch, the
more arms are scored in vain; the shorter, the more often all bounds are set anew: its length follows from
what the last one cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import compiled, inlined
from lowregret.engine.lazy.tournament import Leaders, enter, rebuild, rival
from lowregret.engine.protocol import book, value
from lowregret.engine.rng import Rng
from lowregret.engine.run_parts import (
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    Run,
    at_least,
    clock_now,
    count,
    finish,
    keep,
    look,
    mark,
    note,
    state,
    tally_of,
    warm_up,
)
from lowregret.engine.state import Integers, Rows, ended, law, reward_of
from lowregret.policies import Arm, Arms, Clock

SLACK = 1e-12
"""By how much, relative to its size, a bound may be too small, since scores are rounded."""
WEIGHT = 5.0
"""What an arm scored in vain costs, against one whose bound is set with those of all others."""


@inlined
def slack(score: float) -> float:
    """Give by how much a bound near this score may be too small."""
    return SLACK * (1.0 + min(abs(score), 1e300))


@inlined
def bound(policy: Any, arm: Arm, clock: Clock, round: Any, rng: Rng) -> float:
    """Give what a score cannot pass but for the slack, from the clock at which it is largest."""
    best = max(clock.best, arm.mean)
    clock = Clock(clock.t, clock.horizon, clock.arms, clock.log_t, best)
    score = value(policy, arm, clock, round, rng)
    return at_least(score) if score == score else np.inf


@compiled
def set_bounds(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Leaders) -> None:
    """Set the bounds of all arms."""
    size = len(tree.best) // 2
    for i in range(len(rows)):
        tree.best[size + i] = -np.inf
        if rows[i]["active"]:
            tree.best[size + i] = bound(policy, look(rows, i), clock, round, rng)
    rebuild(tree)


@inlined
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
) -> tuple[int, float, int]:
    """Find the first of the best arms and its score, given one arm and its score to begin with.

    Goes up the tree from that arm, and down into all that is not bounded below the best so far. Gives also
    how many arms were scored. The score is nan where one is.
    """
    size = len(tree.best) // 2
    chosen, best, scored = leader, top, 0
    enough = best - slack(best)
    way = size + leader
    while way > 1:
        stack[0] = way ^ 1
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if tree.best[node] >= enough:
                if node < size:
                    stack[depth] = 2 * node
                    stack[depth + 1] = 2 * node + 1
                    depth += 2
                else:
                    i = node - size
                    score = at_least(value(policy, look(rows, i), clock, round, rng))
                    scored += 1
                    if score != score:
                        return i, score, scored
                    if score > best or (score == best and i < chosen):
                        chosen, best = i, score
                        enough = best - slack(best)
        way >>= 1
    return chosen, best, scored


def play_moving(policy: Any, rules: Rules, first: Any, rng: Rng, run: Run) -> int:
    """Play one run, scoring at each step only the arms that could lead."""
    rows, data, horizon, grid, path = run.rows, run.data, run.horizon, run.grid, run.path
    size = len(rows)
    t, at = warm_up(policy, rules, rng, first.number, run)
    if t < 0:
        return t
    left = Arms(rows).left()
    if left == 1:
        return finish(run, first.number, t) if t < horizon else t
    recording = len(path) > 0
    tree, means, stack = run.scratch.tree, run.scratch.means, run.scratch.stack
    best, floor, ceiling = 0.0, -np.inf, np.inf
    reach = 1.0
    while t < horizon:
        last = min(horizon, t + 1 + (int(reach * size) if rules.moving else t // 8))
        if rules.uses_best:
            best, floor, ceiling = best_range(rows, means)
        ahead = clock_now(last if rules.rising else t + 1, horizon, size, floor)
        set_bounds(policy, rows, ahead, first, rng, tree)
        scored = 0
        i = tree.place[1]
        while t < last:
            clock = clock_now(t + 1, horizon, size, best)
            top = at_least(value(policy, look(rows, i), clock, first, rng))
            bar, runner = rival(tree, i)
            if not top > bar + slack(bar):
                i, top, more = search(policy, rows, clock, first, rng, tree, stack, i, top)
                scored += more
                bar, runner = rival(tree, i)
            bar += slack(bar)
            if top != top:
                return NOT_A_NUMBER
            end = min(last, grid[at]) if at < len(grid) else last
            row = rows[i]
            number, source, tally = row["number"], law(row), tally_of(row)
            fresh, limit = True, 0.0
            while True:
                n = tally.before + tally.pulls + 1
                if ended(source, n):
                    return -i - 1
                tally = count(tally, book(policy, reward_of(source, data, n), rules.clip, rng))
                arm = state(number, tally)
                t += 1
                if recording:
                    note(run, t, number, first.number, left)
                if rules.uses_best:
                    enter(means, i, arm.mean)
                    best = means.best[1]
                    if best < floor or best > ceiling:
                        last = t
                if t >= end or t >= last:
                    break
                if not rules.rising:
                    ahead = clock_now(t + 1, horizon, size, floor)
                if fresh:  # an arm that has just begun to lead is often passed at once, even by its bound
                    limit = bound(policy, arm, ahead, first, rng)
                    if limit < bar:
                        break
                    fresh = False
                if not value(policy, arm, clock_now(t + 1, horizon, size, best), first, rng) > bar:
                    break
            keep(row, tally, arm.mean)
            if t < last:
                if not fresh or t >= end:
                    limit = bound(policy, arm, ahead, first, rng)
                enter(tree, i, limit)
                i = runner if limit < bar else tree.place[1]
            at = mark(run, t, at)
            if run.stop[0]:
                return STOPPED
        factor = np.sqrt(size / (WEIGHT * scored + 1.0))
        reach = min(reach * min(max(factor, 0.5), 2.0), float(horizon))
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
    margin = np.sqrt(leader.variance * len(rows)) / max(leader.pulls, 1) + 1e-9
    return leader.mean, leader.mean - margin, leader.mean + margin
