"""One run of a policy whose scores stand still while time passes, and change only with a pull or a round."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import compiled, compiled_inline
from lowregret.engine.lazy.tournament import Tournament, at_least, enter, rebuild, rival
from lowregret.engine.rewards import RewardSource, exhausted, nth_reward, reward_source
from lowregret.engine.rng import Rng
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
from lowregret.engine.statistics import Sums, add_reward, arm_from_sums, clipped, read_sums, write_sums
from lowregret.engine.step import (
    NOT_A_NUMBER,
    count_active,
    eliminate_dominated,
    end_round,
    log_eliminated,
    rules_of,
)
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
def pull(
    policy: Any, run: Run, source: RewardSource, number: int, sums: Sums, t: int, round: Any, rng: Rng
) -> tuple[Sums, float, float, float]:
    """Return the sums of an arm after its next reward, its mean, its score and its lower bound."""
    x = clipped(nth_reward(source, run.data, sums.before + sums.pulls + 1), run.clip)
    sums = add_reward(sums, policy.transform_reward(x, rng))
    arm = arm_from_sums(policy, run.rows, number, sums)
    clock = clock_now(run, t, 0.0)
    return sums, arm.mean, policy.arm_index(arm, clock, round, rng), policy.lower_bound(arm, clock, round)


def play_constant_index(policy: Any, first: Any, rng: Rng, run: Run) -> int:
    """Play one run of a policy whose scores stand still.

    While the arm just pulled still beats its rival it is pulled again, at the cost of one draw, one
    update and one score. ``lowest`` and ``highest`` bound all scores from below and all lower bounds
    from above, so that no arm can have to leave while they have not crossed.
    """
    rows, horizon, grid, path = run.rows, run.horizon, run.grid, run.path
    round = first
    t, at = warm_up(policy, rng, round.number, run)
    if t < 0:
        return t
    left = count_active(rows)
    recording = len(path) > 0
    tree = run.scratch.tree
    lowest, highest = rescore(policy, rows, clock_now(run, t, 0.0), round, rng, tree)
    if lowest != lowest and t < horizon:
        return NOT_A_NUMBER
    i = tree.place[1]
    ready = -1  # the place of an arm of which these are known: its values after its next pull
    later, later_mean, later_score, later_lower = read_sums(rows[i]), 0.0, 0.0, 0.0
    looks_ahead = not rules_of(policy).transforms_rewards
    while t < horizon and (left > 1 or not rules_of(policy).eliminates_permanently):
        due = max(round.until, t + 1)
        end = min(due, horizon)
        if at < len(grid):
            end = min(end, grid[at])
        end = min(end, t + POLL_STEPS)
        while t < end:
            bar, runner = rival(tree, i)
            row = rows[i]
            number, source = row["number"], reward_source(row)
            known = ready == i
            sums, mean, score, lower = read_sums(row), 0.0, 0.0, 0.0
            if known:
                sums, mean, score, lower = later, later_mean, later_score, later_lower
            ready = -1
            if looks_ahead and runner >= 0:
                next_row = rows[runner]
                next_source, next_sums = reward_source(next_row), read_sums(next_row)
                if not exhausted(next_source, next_sums.before + next_sums.pulls + 1):
                    ready = runner
                    later, later_mean, later_score, later_lower = pull(
                        policy, run, next_source, next_row["number"], next_sums, t + 1, round, rng
                    )
            while True:
                if not known:
                    if exhausted(source, sums.before + sums.pulls + 1):
                        return -i - 1
                    sums, mean, score, lower = pull(policy, run, source, number, sums, t + 1, round, rng)
                known = False
                t += 1
                lowest, highest = min(lowest, score), max(highest, lower)
                if recording:
                    record_step(run, t, number, round.number, left)
                if not score > bar or t >= end or lowest < highest:  # also where the score is nan
                    break
            if score != score:
                return NOT_A_NUMBER
            score = at_least(score)
            write_sums(row, sums, mean)
            enter(tree, i, score)
            if lowest < highest:
                clock = clock_now(run, t, 0.0)
                if eliminate_dominated(policy, rows, clock, round, rng):
                    left = log_eliminated(rows, t)
                    if left < 0:
                        return left
                    record_step(run, t, number, round.number, left)
                lowest, highest = rescore(policy, rows, clock, round, rng, tree)
                i, ready = tree.place[1], -1
                if left == 1:
                    break
            elif score < bar or (score == bar and 0 <= runner < i):
                i = runner
        if t >= round.until:
            clock = clock_now(run, t, 0.0)
            round, left = end_round(policy, rows, t, clock, round, rng)
            if left < 0:
                return left
            record_step(run, t, number, round.number, left)
            lowest, highest = rescore(policy, rows, clock, round, rng, tree)
            if lowest != lowest:
                return NOT_A_NUMBER
            i, ready = tree.place[1], -1
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t
