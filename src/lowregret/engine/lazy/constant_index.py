"""One run of a policy whose scores stand still while time passes, and change only with a pull or a round."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import compiled
from lowregret.engine.lazy.tournament import Leaders, enter, rebuild, rival
from lowregret.engine.protocol import book, lower, value
from lowregret.engine.rng import Rng
from lowregret.engine.run_parts import (
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    Run,
    at_least,
    clock_now,
    count,
    end_round,
    finish,
    keep,
    leave,
    look,
    mark,
    note,
    state,
    sweep,
    tally_of,
    warm_up,
)
from lowregret.engine.state import Rows, ended, law, reward_of
from lowregret.policies import Arms, Clock


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
            arm = look(rows, i)
            score = value(policy, arm, clock, round, rng)
            if score != score:
                return np.nan, np.nan
            tree.best[size + i] = at_least(score)
            lowest = min(lowest, score)
            highest = max(highest, lower(policy, arm, clock, round))
    rebuild(tree)
    return lowest, highest


def play_still(policy: Any, rules: Rules, first: Any, rng: Rng, run: Run) -> int:
    """Play one run of a policy whose scores stand still.

    While the arm just pulled still beats its rival it is pulled again, at the cost of one draw, one
    update and one score. ``lowest`` and ``highest`` bound all scores from below and all lower bounds
    from above, so that no arm can have to leave while they have not crossed.
    """
    rows, data, horizon, grid, path = run.rows, run.data, run.horizon, run.grid, run.path
    size = len(rows)
    round = first
    t, at = warm_up(policy, rules, rng, round.number, run)
    if t < 0:
        return t
    left = Arms(rows).left()
    recording = len(path) > 0
    tree = run.scratch.tree
    lowest, highest = rescore(policy, rows, clock_now(t, horizon, size, 0.0), round, rng, tree)
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
            number, source, tally = row["number"], law(row), tally_of(row)
            while True:
                n = tally.before + tally.pulls + 1
                if ended(source, n):
                    return -i - 1
                tally = count(tally, book(policy, reward_of(source, data, n), rules.clip, rng))
                arm = state(number, tally)
                t += 1
                clock = clock_now(t, horizon, size, 0.0)
                score = value(policy, arm, clock, round, rng)
                lowest = min(lowest, score)
                highest = max(highest, lower(policy, arm, clock, round))
                if recording:
                    note(run, t, number, round.number, left)
                if not score > bar or t >= end or lowest < highest:  # also where the score is nan
                    break
            if score != score:
                return NOT_A_NUMBER
            score = at_least(score)
            keep(row, tally, arm.mean)
            enter(tree, i, score)
            if lowest < highest:
                clock = clock_now(t, horizon, size, 0.0)
                if sweep(policy, rows, clock, round, rng):
                    left = leave(rows, t)
                    if left < 0:
                        return left
                    note(run, t, number, round.number, left)
                lowest, highest = rescore(policy, rows, clock, round, rng, tree)
                i = tree.place[1]
                if left == 1:
                    break
            elif score < bar or (score == bar and 0 <= runner < i):
                i = runner
        if t >= round.until:
            clock = clock_now(t, horizon, size, 0.0)
            round, left = end_round(policy, rows, clock, round)
            if left < 0:
                return left
            note(run, t, number, round.number, left)
            lowest, highest = rescore(policy, rows, clock, round, rng, tree)
            if lowest != lowest:
                return NOT_A_NUMBER
            i = tree.place[1]
        at = mark(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t
