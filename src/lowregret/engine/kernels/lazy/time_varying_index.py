"""One run of an index policy whose scores move with time, or with the best mean.

Over a stretch of time each arm has a bound that its score cannot pass: a rising score is below its value
at the end of the stretch, a falling one below an earlier value, and one that looks at ``clock.best`` is
below its value at a mean that the best does not fall below. A tournament tree holds the bounds, and at
each step only the arms whose bound reaches the best score so far are scored. The longer a stretch, the
more arms are scored in vain; the shorter, the more often all bounds are set anew: its length follows from
what the last one cost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Integers
from lowregret.engine.bridge.compile import by_policy_class, compiled, compiled_inline
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels.lazy.arm_groups import Groups
from lowregret.engine.kernels.lazy.leaves import (
    Board,
    Leaf,
    best_at,
    bound,
    groups_for,
    insert_into_leaf,
    leaves_of,
    make_group,
    remove_from_leaf,
    set_bounds,
    slack,
)
from lowregret.engine.kernels.lazy.tournament import Tournament, enter, new_tournament, rebuild, rival
from lowregret.engine.kernels.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import POLL_STEPS, Run, end_step, record_step, warm_up
from lowregret.engine.kernels.state import ArmTable, State
from lowregret.engine.kernels.statistics import add_reward, arm_from_sums, clipped, read_sums, write_sums
from lowregret.engine.kernels.step import end_round
from lowregret.engine.problem import Problem
from lowregret.engine.status import ARM_FAILED, NOT_A_NUMBER, PLAYING
from lowregret.policies import Clock, Policy
from lowregret.policies.views import arm_view, clock_at

WEIGHT = 5.0
"""What an arm scored in vain costs, against one whose bound is set with those of all others."""


@compiled_inline
def search(
    policy: Any, board: Board, groups: Any, clock: Clock, stack: Integers, slot: int, leader: int, top: float
) -> tuple[int, int, float, int]:
    """Find the leaf and the place of the first of the best arms, and its score, given one to begin with.

    Goes up the tree from that leaf, and down into all that is not bounded below the best so far. Also returns
    how many leaves were scored. The score is nan where one is.
    """
    tree, size = board.tree, len(board.tree.best) // 2
    leading, chosen, best, scored = slot, leader, top, 0
    cutoff = best - slack(best)
    ancestor = size + slot
    while ancestor > 1:
        stack[0] = ancestor ^ 1
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if tree.best[node] >= cutoff:
                if node < size:
                    stack[depth] = 2 * node
                    stack[depth + 1] = 2 * node + 1
                    depth += 2
                else:
                    i, score = best_at(policy, board, groups, clock, node - size, cutoff)
                    scored += 1
                    if score != score:
                        return node - size, i, score, scored
                    if score > best or (score == best and i < chosen):
                        leading, chosen, best = node - size, i, score
                        cutoff = best - slack(best)
        ancestor >>= 1
    return leading, chosen, best, scored


class Scratch(NamedTuple):
    """The working memory: trees of bounds and of means, and groups of arms if the arms are many."""

    tree: Tournament
    means: Tournament
    stack: Integers
    groups: Groups | None


def applies(problem: Problem) -> bool:
    """Return whether the trend of the index is known, and nothing eliminates arms."""
    return has_trend(problem.policy)


def has_trend(policy: Policy) -> bool:
    rounds = policy.overrides("first_round") and (policy.rounds_eliminate or policy.uses_best)
    constant = policy.index_trend == "constant" and policy.uses_arms
    trend = policy.overrides("score") and policy.index_trend != "arbitrary"
    return trend and not constant and not rounds and not policy.overrides("lower_bound")


def new_scratch(policy: Policy, encoding: Encoding, horizon: int) -> Scratch:
    tree, means = new_tournament(len(encoding.rows)), new_tournament(len(encoding.rows))
    return Scratch(tree, means, np.zeros(128, np.int64), groups_for(policy, encoding.rows))


def play(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Play one run, scoring at each step only the arms that could lead."""
    table, data, horizon, grid = run.table, run.data, run.horizon, run.grid
    rows, rules, recording = table.rows, rules_of(policy), len(run.path) > 0
    moving, increasing, uses_best = rules.index_moves, rules.index_increases, rules.uses_best
    round, active, t, at, status = warm_up(policy, state, rng, run)
    means, stack, groups = scratch.means, scratch.stack, scratch.groups
    make_group(policy, table, groups)
    sum_of_paces = 1.0
    while status == PLAYING and t < horizon and active > 1:
        tree, leaves = leaves_of(rows, scratch.tree, groups)
        stretch = int(sum_of_paces * leaves) if moving else t // 8
        last = min(horizon, max(round.until, t + 1), t + 1 + stretch)
        best, floor, ceiling = best_range(policy, table, means)
        ahead = clock_at(last if increasing else t + 1, horizon, len(rows), floor)
        board = Board(table, round, rng, tree)
        set_bounds(policy, board, groups, ahead)
        scored = 0
        slot = tree.place[1]
        while status == PLAYING and t < last:
            clock = clock_at(t + 1, horizon, len(rows), best)
            i, top = best_at(policy, board, groups, clock, slot, -np.inf)
            second_bound, second_slot = rival(tree, slot)
            if not top > second_bound + slack(second_bound):
                slot, i, top, more = search(policy, board, groups, clock, stack, slot, i, top)
                scored += more
                second_bound, second_slot = rival(tree, slot)
            if top != top:
                return State(round, active, t, at, NOT_A_NUMBER)
            leaf = remove_from_leaf(policy, board, groups, ahead, Leaf(slot, i, second_bound, second_slot))
            threshold = leaf.second_bound + slack(leaf.second_bound)
            end = min(last, t + POLL_STEPS)
            if at < len(grid):
                end = min(end, grid[at])
            row = rows[i]
            number, source, sums = row["number"], reward_source(row), read_sums(row)
            fresh, limit = True, 0.0
            while True:
                n = sums.before + sums.n + 1
                if exhausted(source, n):
                    return State(round, active, t, at, ARM_FAILED - number)
                x = clipped(nth_reward(source, data, n), run.clip)
                sums = add_reward(sums, policy.transform_reward(x, rng))
                arm = arm_from_sums(policy, table, number, sums)
                t += 1
                if recording:
                    record_step(run.path, t, number, round.number, active)
                if uses_best:
                    enter(means, i, arm.mean)
                    best = means.best[1]
                    if best < floor or best > ceiling:
                        last = t
                if t >= end or t >= last:
                    break
                if not increasing:
                    ahead = clock_at(t + 1, horizon, len(rows), floor)
                if fresh:  # an arm that has just begun to lead is often passed at once, even by its bound
                    limit = bound(policy, board, arm, ahead)
                    if limit < threshold:
                        break
                    fresh = False
                clock = clock_at(t + 1, horizon, len(rows), best)
                if not policy.arm_index(arm, clock, round, rng) > threshold:
                    break
            write_sums(row, sums, arm.mean)
            if t < last and (not fresh or t >= end):
                limit = bound(policy, board, arm, ahead)
            leaf = Leaf(slot, i, threshold, leaf.second_slot)
            slot = insert_into_leaf(policy, board, groups, ahead, leaf, arm, limit, t < last)
            if slot < 0:
                last = t
            at, status = end_step(run, t, at, status)
        if t >= round.until and status == PLAYING:
            round, active = end_round(policy, table, t, clock_at(t, horizon, len(rows), best), round, rng)
            record_step(run.path, t, number, round.number, active)
        factor = np.sqrt(leaves / (WEIGHT * scored + 1.0))
        sum_of_paces = min(sum_of_paces * min(max(factor, 0.5), 2.0), float(horizon))
    return State(round, active, t, at, status)


@compiled
def _best_range(policy: Any, table: ArmTable, means: Tournament) -> tuple[float, float, float]:
    """Return a range about as wide as the best mean moves while it is pulled as often as there are arms."""
    rows, size = table.rows, len(means.best) // 2
    for i in range(len(rows)):
        arm = arm_view(policy, table, i)
        means.best[size + i] = arm.mean if arm.pulls > 0 else -np.inf
    rebuild(means)
    best, leader = means.best[1], arm_view(policy, table, means.place[1])
    margin = np.sqrt(leader.variance * len(rows)) / max(leader.pulls, 1) + 1e-9
    return best, best - margin, best + margin


@by_policy_class
def best_range(kind: type[Policy]) -> Any:
    """Return the best mean, and between which values it may move before the bounds are set anew.

    For a policy that does not look at it, return 0 and no limits.
    """
    return _best_range if kind.uses_best else lambda policy, table, means: (0.0, -np.inf, np.inf)
