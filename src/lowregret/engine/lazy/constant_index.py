"""One run of a policy whose scores stand still while time passes, and change only with a pull or a round."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import compiled, compiled_inline
from lowregret.engine.lazy.streaks import count_ahead, find_streaks, forget, write_all_made, write_made
from lowregret.engine.lazy.tournament import Tournament, at_least, enter, rebuild
from lowregret.engine.rewards import draw_rewards, reward_source
from lowregret.engine.rng import Rng
from lowregret.engine.rules import rules_of
from lowregret.engine.simulated_run import (
    POLL_STEPS,
    STOPPED,
    Run,
    clock_now,
    finish,
    record_if_due,
    record_step,
    warm_up,
)
from lowregret.engine.state import Rows
from lowregret.engine.statistics import Sums, add_reward, arm_from_sums, read_sums
from lowregret.engine.step import NOT_A_NUMBER, count_active, eliminate_dominated, end_round, log_eliminated
from lowregret.policies import Clock
from lowregret.policies.views import arm_view


@compiled
def rescore(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Tournament) -> Any:
    """Score all active arms into the tree; give the smallest score and the largest lower bound.

    Both are nan where a score is.
    """
    size = len(tree.best) // 2
    lowest, highest = np.inf, -np.inf
    for i in range(len(rows)):
        tree.best[size + i] = -np.inf
        if rows[i]["active"]:
            arm = arm_view(policy, rows, i)
            score = policy.arm_index(arm, clock, round, rng)
            if score != score:
                return np.nan, np.nan
            tree.best[size + i] = at_least(score)
            lowest = min(lowest, score)
            highest = max(highest, policy.lower_bound(arm, clock, round))
    rebuild(tree)
    return lowest, highest


@compiled_inline
def look_ahead(policy: Any, run: Run, i: int, t: int, most: int, round: Any, rng: Rng) -> bool:
    """Compute the next pulls of an arm, at most ``most``; return whether it has a reward left.

    One quantity after the other, so that the processor computes those of several pulls at once.
    """
    ahead, tree, row = run.scratch.ahead, run.scratch.tree, run.rows[i]
    write_made(run.rows, ahead, i)
    source, sums, number = reward_source(row), read_sums(row), row["number"]
    most = min(most, len(ahead.scores)) if rules_of(policy).looks_ahead else 1
    length = count_ahead(source, sums, most)
    if length < 1:
        return False
    rewards, totals, squares = ahead.scores, ahead.totals[i], ahead.squares[i]
    draw_rewards(source, run.data, sums.before + sums.pulls, length, run.clip, rewards)
    pulls = sums.pulls + 1
    for k in range(length):
        sums = add_reward(sums, policy.transform_reward(rewards[k], rng))
        totals[k], squares[k] = sums.total, sums.squares
    row["origin"] = sums.origin
    clock, scores, lower_bounds = clock_now(run, t + 1, 0.0), ahead.scores, ahead.lower_bounds
    for k in range(length):
        after = Sums(sums.before, pulls + k, sums.origin, totals[k], squares[k])
        arm = arm_from_sums(policy, run.rows, number, after)
        scores[k] = at_least(policy.arm_index(arm, clock, round, rng))
        if rules_of(policy).eliminates_dominated:
            lower_bounds[k] = policy.lower_bound(arm, clock, round)
    find_streaks(ahead, i, length, tree.best[len(tree.best) // 2 + i])
    return True


@compiled_inline
def make_pulls(run: Run, i: int, t: int, count: int, round: Any, left: int) -> int:
    """Pull an arm so many times, as computed; return the time."""
    if len(run.path) > 0:
        for step in range(t + 1, t + count + 1):
            record_step(run, step, run.rows[i]["number"], round.number, left)
    run.rows[i]["pulls"] += count
    run.scratch.ahead.arms[i]["made"] += count
    return t + count


@compiled
def eliminate(policy: Any, run: Run, i: int, t: int, round: Any, rng: Rng, left: int) -> int:
    """Eliminate the dominated arms after a pull of one; return how many are left."""
    rows = run.rows
    write_all_made(rows, run.scratch.ahead)
    if eliminate_dominated(policy, rows, clock_now(run, t, 0.0), round, rng):
        left = log_eliminated(rows, t)
        if left > 0:
            record_step(run, t, rows[i]["number"], round.number, left)
    return left


@compiled
def start_round(policy: Any, run: Run, i: int, t: int, round: Any, rng: Rng) -> tuple[Any, int]:
    """Return the round that follows a pull of an arm, and how many arms are left."""
    rows, ahead = run.rows, run.scratch.ahead
    write_all_made(rows, ahead)
    forget(ahead)
    round, left = end_round(policy, rows, t, clock_now(run, t, 0.0), round, rng)
    if left > 0:
        record_step(run, t, rows[i]["number"], round.number, left)
    return round, left


def play_constant_index(policy: Any, first: Any, rng: Rng, run: Run) -> int:
    """Play one run of a policy whose scores stand still.

    The arm of the largest score is pulled for a whole streak. ``lowest`` and ``highest`` bound all scores
    from below and all lower bounds from above. No arm can have to leave while they have not crossed; in a
    streak in which they would, arms are eliminated after each pull.
    """
    rows, horizon, grid = run.rows, run.horizon, run.grid
    rules, tree, ahead, round = rules_of(policy), run.scratch.tree, run.scratch.ahead, first
    t, at = warm_up(policy, rng, round.number, run)
    if t < 0:
        return t
    left = count_active(rows)
    forget(ahead)
    lowest, highest = rescore(policy, rows, clock_now(run, t, 0.0), round, rng, tree)
    if lowest != lowest and t < horizon:
        return NOT_A_NUMBER
    i = tree.place[1]
    while t < horizon and (left > 1 or not rules.eliminates_permanently):
        due = min(max(round.until, t + 1), horizon)
        end = min(due, t + POLL_STEPS)
        if at < len(grid):
            end = min(end, grid[at])
        while t < end:
            pulled, arm = i, ahead.arms[i]
            if arm["streak"] == arm["streaks"] and not look_ahead(policy, run, i, t, due - t, round, rng):
                return -i - 1
            streak = ahead.streaks[i, arm["streak"]]
            count, score, crosses = min(streak["end"] - arm["made"], end - t), streak["score"], False
            if rules.eliminates_dominated:
                low, high = min(lowest, score), max(highest, streak["highest"])
                crosses = not low >= high  # also where one is nan
                lowest, highest = (lowest, highest) if crosses else (low, high)
                count = 1 if crosses else count
            t = make_pulls(run, i, t, count, round, left)
            if not rules.looks_ahead:
                write_made(rows, ahead, i)
            if arm["made"] == streak["end"]:
                if score != score:
                    return NOT_A_NUMBER
                arm["streak"] += 1
                i = enter(tree, i, score)
            if crosses:
                left = eliminate(policy, run, pulled, t, round, rng, left)
                if left < 0:
                    return left
                lowest, highest = rescore(policy, rows, clock_now(run, t, 0.0), round, rng, tree)
                i = tree.place[1]
                if left == 1:
                    break
        if t >= round.until:
            round, left = start_round(policy, run, pulled, t, round, rng)
            if left < 0:
                return left
            lowest, highest = rescore(policy, rows, clock_now(run, t, 0.0), round, rng, tree)
            if lowest != lowest:
                return NOT_A_NUMBER
            i = tree.place[1]
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t
