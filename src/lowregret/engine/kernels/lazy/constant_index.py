"""One run of a policy whose scores are constant while time passes, and change only with a pull or a round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.bridge.compile import by_policy_class, compiled, compiled_inline
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels.lazy import streaks
from lowregret.engine.kernels.lazy.tournament import Tournament, at_least, enter, new_tournament, rebuild
from lowregret.engine.kernels.rewards import draw_rewards, reward_source
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import POLL_STEPS, Run, end_step, record_step, warm_up
from lowregret.engine.kernels.state import ArmTable, State
from lowregret.engine.kernels.statistics import Sums, add_reward, arm_from_sums, read_sums
from lowregret.engine.kernels.step import eliminate_dominated, end_round, log_eliminated
from lowregret.engine.problem import Problem
from lowregret.engine.status import ARM_FAILED, ELIMINATED_ALL, NOT_A_NUMBER, PLAYING
from lowregret.policies import Policy
from lowregret.policies.views import arm_view, clock_at


class Scratch(NamedTuple):
    """The working memory: the scores of all arms, and the pulls computed ahead."""

    tree: Tournament
    ahead: streaks.Lookahead


def applies(problem: Problem) -> bool:
    """Return whether scores change with the pulls of their arm alone."""
    policy = problem.policy
    looks_elsewhere = policy.uses_best or policy.uses_arms
    return policy.overrides("score") and policy.index_trend == "constant" and not looks_elsewhere


def new_scratch(policy: Policy, encoding: Encoding, horizon: int) -> Scratch:
    return Scratch(new_tournament(len(encoding.rows)), streaks.new_lookahead(len(encoding.rows)))


@compiled
def rescore(
    policy: Any, table: ArmTable, t: int, horizon: int, round: Any, rng: Rng, tree: Tournament
) -> Any:
    """Score all active arms after step ``t``; return the smallest score and the largest lower bound.

    Both are nan where a score is.
    """
    rows, size = table.rows, len(tree.best) // 2
    clock = clock_at(t, horizon, len(rows), 0.0)
    lowest, highest = np.inf, -np.inf
    for i in range(len(rows)):
        tree.best[size + i] = -np.inf
        if rows[i]["active"]:
            arm = arm_view(policy, table, i)
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
    ahead, tree, row = scratch.ahead, scratch.tree, run.table.rows[i]
    streaks.write_pulled(run.table.rows, ahead, i)
    source, sums, number = reward_source(row), read_sums(row), row["number"]
    most = min(most, len(ahead.scores)) if rules_of(policy).looks_ahead else 1
    length = streaks.count_ahead(source, sums, most)
    if length < 1:
        return False
    rewards, totals, squares = ahead.scores, ahead.totals[i], ahead.squares[i]
    draw_rewards(source, run.data, sums.before + sums.n, length, run.clip, rewards)
    count = sums.n + 1
    for k in range(length):
        sums = add_reward(sums, policy.transform_reward(rewards[k], rng))
        totals[k], squares[k] = sums.total, sums.squares
    row["origin"] = sums.origin
    clock = clock_at(t + 1, run.horizon, len(run.table.rows), 0.0)
    scores, lower_bounds = ahead.scores, ahead.lower_bounds
    for k in range(length):
        after = Sums(sums.before, count + k, sums.origin, totals[k], squares[k])
        arm = arm_from_sums(policy, run.table, number, after)
        scores[k] = at_least(policy.arm_index(arm, clock, round, rng))
        if rules_of(policy).eliminates_dominated:
            lower_bounds[k] = policy.lower_bound(arm, clock, round)
    streaks.find_streaks(ahead, i, length, tree.best[len(tree.best) // 2 + i])
    return True


@compiled
def _eliminate(
    policy: Any, run: Run, ahead: streaks.Lookahead, i: int, t: int, round: Any, rng: Rng, active: int
) -> int:
    rows = run.table.rows
    streaks.write_all_pulled(rows, ahead)
    if eliminate_dominated(policy, run.table, clock_at(t, run.horizon, len(rows), 0.0), round, rng):
        active = log_eliminated(rows, t)
        record_step(run.path, t, rows[i]["number"], round.number, active)
    return active


@by_policy_class
def eliminate(kind: type[Policy]) -> Any:
    """Eliminate the dominated arms after a pull of one; return how many are active."""
    if kind.overrides("lower_bound"):
        return _eliminate
    return lambda policy, run, ahead, i, t, round, rng, active: active


@compiled
def _start_round(
    policy: Any, run: Run, ahead: streaks.Lookahead, i: int, t: int, round: Any, active: int, rng: Rng
) -> tuple[Any, int]:
    rows = run.table.rows
    streaks.write_all_pulled(rows, ahead)
    streaks.forget(ahead)
    round, active = end_round(policy, run.table, t, clock_at(t, run.horizon, len(rows), 0.0), round, rng)
    record_step(run.path, t, rows[i]["number"], round.number, active)
    return round, active


@by_policy_class
def start_round(kind: type[Policy]) -> Any:
    """Return the round that follows a pull of an arm, and how many arms are active."""
    if kind.overrides("first_round"):
        return _start_round
    return lambda policy, run, ahead, i, t, round, active, rng: (round, active)


def play(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Play one run of a policy whose scores are constant.

    The arm of the largest score is pulled for a whole streak. ``lowest`` and ``highest`` bound all scores
    from below and all lower bounds from above. No arm can have to leave while they have not crossed; in a
    streak in which they would, arms are eliminated after each pull.
    """
    table, rows, horizon, grid = run.table, run.table.rows, run.horizon, run.grid
    rules, tree, ahead, recording = rules_of(policy), scratch.tree, scratch.ahead, len(run.path) > 0
    round, active, t, at, status = warm_up(policy, state, rng, run)
    streaks.forget(ahead)
    lowest, highest = rescore(policy, table, t, horizon, round, rng, tree)
    if lowest != lowest and t < horizon and status == PLAYING:
        return State(round, active, t, at, NOT_A_NUMBER)
    i = tree.place[1]
    while status == PLAYING and t < horizon and (active > 1 or not rules.ends_alone):
        due = min(max(round.until, t + 1), horizon)
        end = min(due, t + POLL_STEPS)
        if at < len(grid):
            end = min(end, grid[at])
        pulled = i
        while t < end:
            pulled, arm = i, ahead.arms[i]
            if arm["streak"] == arm["streaks"] and not look_ahead(
                policy, run, scratch, i, t, due - t, round, rng
            ):
                return State(round, active, t, at, ARM_FAILED - rows[i]["number"])
            streak = ahead.streaks[i, arm["streak"]]
            count, score, crosses = min(streak["end"] - arm["pulled"], end - t), streak["score"], False
            if rules.eliminates_dominated:
                low, high = min(lowest, score), max(highest, streak["highest"])
                crosses = not low >= high  # also where one is nan
                lowest, highest = (lowest, highest) if crosses else (low, high)
                count = 1 if crosses else count
            if recording:
                for step in range(t + 1, t + count + 1):
                    record_step(run.path, step, rows[i]["number"], round.number, active)
            rows[i]["pulls"] += count
            arm["pulled"] += count
            t += count
            if not rules.looks_ahead:
                streaks.write_pulled(rows, ahead, i)
            if arm["pulled"] == streak["end"]:
                if score != score:
                    return State(round, active, t, at, NOT_A_NUMBER)
                arm["streak"] += 1
                i = enter(tree, i, score)
            if crosses:
                active = eliminate(policy, run, ahead, pulled, t, round, rng, active)
                if active == 0:
                    return State(round, active, t, at, ELIMINATED_ALL)
                lowest, highest = rescore(policy, table, t, horizon, round, rng, tree)
                i = tree.place[1]
                if active == 1:
                    break
        if t >= round.until:
            round, active = start_round(policy, run, ahead, pulled, t, round, active, rng)
            if active == 0:
                return State(round, active, t, at, ELIMINATED_ALL)
            lowest, highest = rescore(policy, table, t, horizon, round, rng, tree)
            if lowest != lowest:
                return State(round, active, t, at, NOT_A_NUMBER)
            i = tree.place[1]
        at, status = end_step(run, t, at, status)
    streaks.write_all_pulled(rows, ahead)
    return State(round, active, t, at, status)
