"""One run of a policy whose scores are constant while time passes, and change only with a pull or a round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.bridge.compile import by_policy_class, compiled, compiled_inline
from lowregret.engine.kernels.lazy.streaks import (
    Lookahead,
    count_ahead,
    find_streaks,
    forget,
    new_lookahead,
    write_all_pulled,
    write_pulled,
)
from lowregret.engine.kernels.lazy.tournament import Tournament, at_least, enter, new_tournament, rebuild
from lowregret.engine.kernels.rewards import draw_rewards, reward_source
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import (
    POLL_STEPS,
    STOPPED,
    Run,
    clock_now,
    finish,
    record_if_due,
    record_step,
    warm_up,
)
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import Sums, add_reward, arm_from_sums, read_sums
from lowregret.engine.kernels.step import (
    NOT_A_NUMBER,
    count_active,
    eliminate_dominated,
    end_round,
    log_eliminated,
)
from lowregret.policies import Clock, Policy
from lowregret.policies.views import arm_view


class Scratch(NamedTuple):
    """The working memory: the scores of all arms, and the pulls computed ahead."""

    tree: Tournament
    ahead: Lookahead


def applies(policy: Policy, arms: int, horizon: int) -> bool:
    """Return whether scores change with the pulls of their arm alone."""
    looks_elsewhere = policy.uses_best or policy.uses_arms
    return policy.overrides("score") and policy.index_trend == "constant" and not looks_elsewhere


def new_scratch(policy: Policy, rows: Rows, horizon: int) -> Scratch:
    """Return the working memory for runs on a table of arms."""
    return Scratch(new_tournament(len(rows)), new_lookahead(len(rows)))


@compiled
def rescore(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Tournament) -> Any:
    """Score all active arms into the tree; return the smallest score and the largest lower bound.

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
def look_ahead(
    policy: Any, run: Run, scratch: Scratch, i: int, t: int, most: int, round: Any, rng: Rng
) -> bool:
    """Compute the next pulls of an arm, at most ``most``; return whether it has a reward left.

    One quantity after the other, so that the processor computes those of several pulls at once.
    """
    ahead, tree, row = scratch.ahead, scratch.tree, run.rows[i]
    write_pulled(run.rows, ahead, i)
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
def make_pulls(run: Run, ahead: Lookahead, i: int, t: int, count: int, round: Any, active: int) -> int:
    """Pull an arm so many times, as computed; return the time."""
    if len(run.path) > 0:
        for step in range(t + 1, t + count + 1):
            record_step(run, step, run.rows[i]["number"], round.number, active)
    run.rows[i]["pulls"] += count
    ahead.arms[i]["pulled"] += count
    return t + count


@compiled
def _eliminate(
    policy: Any, run: Run, ahead: Lookahead, i: int, t: int, round: Any, rng: Rng, active: int
) -> int:
    rows = run.rows
    write_all_pulled(rows, ahead)
    if eliminate_dominated(policy, rows, clock_now(run, t, 0.0), round, rng):
        active = log_eliminated(rows, t)
        if active > 0:
            record_step(run, t, rows[i]["number"], round.number, active)
    return active


def _eliminate_none(
    policy: Any, run: Run, ahead: Lookahead, i: int, t: int, round: Any, rng: Rng, active: int
) -> int:
    return active


@by_policy_class
def eliminate(kind: type[Policy]) -> Any:
    """Eliminate the dominated arms after a pull of one; return how many are active."""
    return _eliminate if kind.overrides("lower_bound") else _eliminate_none


@compiled
def _start_round(
    policy: Any, run: Run, ahead: Lookahead, i: int, t: int, round: Any, rng: Rng, active: int
) -> tuple[Any, int]:
    rows = run.rows
    write_all_pulled(rows, ahead)
    forget(ahead)
    round, active = end_round(policy, rows, t, clock_now(run, t, 0.0), round, rng)
    if active > 0:
        record_step(run, t, rows[i]["number"], round.number, active)
    return round, active


def _keep_round(
    policy: Any, run: Run, ahead: Lookahead, i: int, t: int, round: Any, rng: Rng, active: int
) -> tuple[Any, int]:
    return round, active


@by_policy_class
def start_round(kind: type[Policy]) -> Any:
    """Return the round that follows a pull of an arm, and how many arms are active."""
    return _start_round if kind.overrides("first_round") else _keep_round


def play(policy: Any, first: Any, rng: Rng, run: Run, scratch: Scratch) -> int:
    """Play one run of a policy whose scores are constant.

    The arm of the largest score is pulled for a whole streak. ``lowest`` and ``highest`` bound all scores
    from below and all lower bounds from above. No arm can have to leave while they have not crossed; in a
    streak in which they would, arms are eliminated after each pull.
    """
    rows, horizon, grid = run.rows, run.horizon, run.grid
    rules, tree, ahead, round = rules_of(policy), scratch.tree, scratch.ahead, first
    t, at = warm_up(policy, rng, round.number, run)
    if t < 0:
        return t
    active = count_active(rows)
    forget(ahead)
    lowest, highest = rescore(policy, rows, clock_now(run, t, 0.0), round, rng, tree)
    if lowest != lowest and t < horizon:
        return NOT_A_NUMBER
    i = tree.place[1]
    while t < horizon and (active > 1 or not rules.eliminates_permanently):
        due = min(max(round.until, t + 1), horizon)
        end = min(due, t + POLL_STEPS)
        if at < len(grid):
            end = min(end, grid[at])
        while t < end:
            pulled, arm = i, ahead.arms[i]
            if arm["streak"] == arm["streaks"] and not look_ahead(
                policy, run, scratch, i, t, due - t, round, rng
            ):
                return -i - 1
            streak = ahead.streaks[i, arm["streak"]]
            count, score, crosses = min(streak["end"] - arm["pulled"], end - t), streak["score"], False
            if rules.eliminates_dominated:
                low, high = min(lowest, score), max(highest, streak["highest"])
                crosses = not low >= high  # also where one is nan
                lowest, highest = (lowest, highest) if crosses else (low, high)
                count = 1 if crosses else count
            t = make_pulls(run, ahead, i, t, count, round, active)
            if not rules.looks_ahead:
                write_pulled(rows, ahead, i)
            if arm["pulled"] == streak["end"]:
                if score != score:
                    return NOT_A_NUMBER
                arm["streak"] += 1
                i = enter(tree, i, score)
            if crosses:
                active = eliminate(policy, run, ahead, pulled, t, round, rng, active)
                if active < 0:
                    return active
                lowest, highest = rescore(policy, rows, clock_now(run, t, 0.0), round, rng, tree)
                i = tree.place[1]
                if active == 1:
                    break
        if t >= round.until:
            round, active = start_round(policy, run, ahead, pulled, t, round, rng, active)
            if active < 0:
                return active
            lowest, highest = rescore(policy, rows, clock_now(run, t, 0.0), round, rng, tree)
            if lowest != lowest:
                return NOT_A_NUMBER
            i = tree.place[1]
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t
