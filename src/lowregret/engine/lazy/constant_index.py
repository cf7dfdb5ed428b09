"""One run of a policy whose scores stand still while time passes, and change only with a pull or a round."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import compiled, compiled_inline
from lowregret.engine.lazy.streaks import SHARE, forget, write_all_made, write_made
from lowregret.engine.lazy.tournament import Tournament, at_least, enter, rebuild
from lowregret.engine.rewards import GIVEN, RewardSource, draw_rewards, reward_source
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
from lowregret.engine.statistics import Sums, add_reward, arm_from_sums, read_sums
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
def count_ahead(policy: Any, source: RewardSource, sums: Sums, depth: int, most: int) -> int:
    """Return how many pulls of an arm to compute, 0 if it has no reward left."""
    if not rules_of(policy).looks_ahead:
        most = 1
    pulls = sums.before + sums.pulls
    length = min(most, depth, max(sums.pulls // SHARE, 2))
    return min(length, int(source.b) - pulls) if source.kind == GIVEN else length


@compiled_inline
def look_ahead(policy: Any, run: Run, i: int, t: int, most: int, round: Any, rng: Rng) -> bool:
    """Compute the next pulls of an arm, at most ``most``; return whether it has a reward left."""
    ahead, tree, row = run.scratch.ahead, run.scratch.tree, run.rows[i]
    write_made(run.rows, ahead, i)
    pulls, streaks = ahead.pulls[i], ahead.streaks[i]
    source, sums, number = reward_source(row), read_sums(row), row["number"]
    length = count_ahead(policy, source, sums, len(pulls), most)
    rewards = ahead.rewards
    draw_rewards(source, run.data, sums.before + sums.pulls, length, run.clip, rewards)
    score, highest, count = tree.best[len(tree.best) // 2 + i], -np.inf, 0
    clock = clock_now(run, t + 1, 0.0)
    for k in range(length):
        sums = add_reward(sums, policy.transform_reward(rewards[k], rng))
        arm = arm_from_sums(policy, run.rows, number, sums)
        later = at_least(policy.arm_index(arm, clock, round, rng))
        highest = max(highest, policy.lower_bound(arm, clock, round))
        pulls[k]["total"], pulls[k]["squares"] = sums.total, sums.squares
        streak = streaks[count]
        streak["end"], streak["score"], streak["highest"] = k + 1, later, highest
        falls = not later >= score  # also where it is nan
        score = later if falls else score
        count += falls
    if length > 0 and (count == 0 or streaks[count - 1]["end"] < length):  # a streak that goes on
        streak = streaks[count]
        streak["end"], streak["score"], streak["highest"] = length, score, highest
        count += 1
    row["origin"] = sums.origin
    arm_ahead = ahead.arms[i]
    arm_ahead["made"], arm_ahead["streak"], arm_ahead["streaks"] = 0, 0, count
    return length > 0


def play_constant_index(policy: Any, first: Any, rng: Rng, run: Run) -> int:
    """Play one run of a policy whose scores stand still.

    The arm of the largest score is pulled for a whole streak, at the cost of one draw, one update and one
    score for each pull. ``lowest`` and ``highest`` bound all scores from below and all lower bounds from
    above. No arm can have to leave while they have not crossed; a streak in which they would is pulled one
    by one.
    """
    rows, horizon, grid = run.rows, run.horizon, run.grid
    rules, tree, ahead, round = rules_of(policy), run.scratch.tree, run.scratch.ahead, first
    t, at = warm_up(policy, rng, round.number, run)
    if t < 0:
        return t
    left, recording = count_active(rows), len(run.path) > 0
    forget(ahead)
    lowest, highest = rescore(policy, rows, clock_now(run, t, 0.0), round, rng, tree)
    if lowest != lowest and t < horizon:
        return NOT_A_NUMBER
    leader = tree.place[1]
    while t < horizon and (left > 1 or not rules.eliminates_permanently):
        due = min(max(round.until, t + 1), horizon)
        end = min(due, t + POLL_STEPS)
        if at < len(grid):
            end = min(end, grid[at])
        while t < end:
            i = leader
            arm = ahead.arms[i]
            if arm["streak"] == arm["streaks"] and not look_ahead(policy, run, i, t, due - t, round, rng):
                return -i - 1
            streak = ahead.streaks[i, arm["streak"]]
            count, score = min(streak["end"] - arm["made"], end - t), streak["score"]
            crosses = False
            if rules.eliminates_dominated:
                low, high = min(lowest, score), max(highest, streak["highest"])
                crosses = not low >= high
                lowest, highest = (lowest, highest) if crosses else (low, high)
                count = 1 if crosses else count
            if recording:
                for step in range(t + 1, t + count + 1):
                    record_step(run, step, rows[i]["number"], round.number, left)
            t += count
            rows[i]["pulls"] += count
            arm["made"] += count
            if arm["made"] == streak["end"]:
                if score != score:
                    return NOT_A_NUMBER
                arm["streak"] += 1
                leader = enter(tree, i, score)
            if not rules.looks_ahead:
                write_made(rows, ahead, i)
            if crosses:
                write_all_made(rows, ahead)
                clock = clock_now(run, t, 0.0)
                if eliminate_dominated(policy, rows, clock, round, rng):
                    left = log_eliminated(rows, t)
                    if left < 0:
                        return left
                    record_step(run, t, rows[i]["number"], round.number, left)
                lowest, highest = rescore(policy, rows, clock, round, rng, tree)
                leader = tree.place[1]
                if left == 1:
                    break
        if t >= round.until:
            write_all_made(rows, ahead)
            forget(ahead)
            clock = clock_now(run, t, 0.0)
            round, left = end_round(policy, rows, t, clock, round, rng)
            if left < 0:
                return left
            record_step(run, t, rows[i]["number"], round.number, left)
            lowest, highest = rescore(policy, rows, clock, round, rng, tree)
            leader = tree.place[1]
            if lowest != lowest:
                return NOT_A_NUMBER
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t
