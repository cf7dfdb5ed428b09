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
from lowregret.engine.kernels.lazy.arm_groups import Groups
from lowregret.engine.kernels.lazy.leaves import (
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
from lowregret.engine.kernels.statistics import add_reward, arm_from_sums, clipped, read_sums, write_sums
from lowregret.engine.kernels.step import NOT_A_NUMBER, count_active
from lowregret.policies import Clock, Policy
from lowregret.policies.views import arm_view

WEIGHT = 5.0
"""What an arm scored in vain costs, against one whose bound is set with those of all others."""


@compiled_inline
def search(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    tree: Tournament,
    groups: Any,
    stack: Integers,
    slot: int,
    leader: int,
    top: float,
) -> tuple[int, int, float, int]:
    """Find the leaf and the place of the first of the best arms, and its score, given one to begin with.

    Goes up the tree from that leaf, and down into all that is not bounded below the best so far. Also returns
    how many leaves were scored. The score is nan where one is.
    """
    size = len(tree.best) // 2
    leading, chosen, best, scored = slot, leader, top, 0
    cutoff = best - slack(best)
    way = size + slot
    while way > 1:
        stack[0] = way ^ 1
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
                    i, score = best_at(policy, rows, clock, round, rng, groups, node - size, cutoff)
                    scored += 1
                    if score != score:
                        return node - size, i, score, scored
                    if score > best or (score == best and i < chosen):
                        leading, chosen, best = node - size, i, score
                        cutoff = best - slack(best)
        way >>= 1
    return leading, chosen, best, scored


class Scratch(NamedTuple):
    """The working memory: trees of bounds and of means, and groups of arms if the arms are many."""

    tree: Tournament
    means: Tournament
    stack: Integers
    groups: Groups | None


def applies(policy: Policy, arms: int, horizon: int) -> bool:
    """Return whether the trend of the index is known, and no round or lower bound looks at all arms."""
    looks_at_all = any(map(policy.overrides, ("first_round", "lower_bound")))
    constant = policy.index_trend == "constant" and policy.uses_arms
    has_trend = policy.overrides("score") and policy.index_trend != "arbitrary"
    return has_trend and not constant and not looks_at_all


def new_scratch(policy: Policy, rows: Rows, horizon: int) -> Scratch:
    """Return the working memory for runs on a table of arms."""
    tree, means = new_tournament(len(rows)), new_tournament(len(rows))
    return Scratch(tree, means, np.zeros(128, np.int64), groups_for(policy, rows))


def play(policy: Any, first: Any, rng: Rng, run: Run, scratch: Scratch) -> int:
    """Play one run, scoring at each step only the arms that could lead."""
    rows, data, horizon, grid, path = run.rows, run.data, run.horizon, run.grid, run.path
    rules = rules_of(policy)
    moving, increasing, uses_best = rules.index_moves, rules.index_increases, rules.uses_best
    t, at = warm_up(policy, rng, first.number, run)
    if t < 0:
        return t
    active = count_active(rows)
    if active == 1:
        return finish(run, first.number, t) if t < horizon else t
    recording = len(path) > 0
    means, stack, groups = scratch.means, scratch.stack, scratch.groups
    make_group(policy, rows, groups)
    reach = 1.0
    while t < horizon:
        tree, leaves = leaves_of(rows, scratch.tree, groups)
        last = min(horizon, t + 1 + (int(reach * leaves) if moving else t // 8))
        best, floor, ceiling = best_range(policy, rows, means)
        ahead = clock_now(run, last if increasing else t + 1, floor)
        set_bounds(policy, rows, ahead, first, rng, tree, groups)
        scored = 0
        slot = tree.place[1]
        while t < last:
            clock = clock_now(run, t + 1, best)
            i, top = best_at(policy, rows, clock, first, rng, groups, slot, -np.inf)
            second_bound, second_slot = rival(tree, slot)
            if not top > second_bound + slack(second_bound):
                slot, i, top, more = search(
                    policy, rows, clock, first, rng, tree, groups, stack, slot, i, top
                )
                scored += more
                second_bound, second_slot = rival(tree, slot)
            if top != top:
                return NOT_A_NUMBER
            leaf = Leaf(slot, i, second_bound, second_slot)
            leaf = remove_from_leaf(policy, rows, ahead, first, rng, tree, groups, leaf)
            bar = leaf.second_bound + slack(leaf.second_bound)
            end = min(last, t + POLL_STEPS)
            if at < len(grid):
                end = min(end, grid[at])
            row = rows[i]
            number, source, sums = row["number"], reward_source(row), read_sums(row)
            fresh, limit = True, 0.0
            while True:
                n = sums.before + sums.pulls + 1
                if exhausted(source, n):
                    return -i - 1
                x = clipped(nth_reward(source, data, n), run.clip)
                sums = add_reward(sums, policy.transform_reward(x, rng))
                arm = arm_from_sums(policy, rows, number, sums)
                t += 1
                if recording:
                    record_step(run, t, number, first.number, active)
                if uses_best:
                    enter(means, i, arm.mean)
                    best = means.best[1]
                    if best < floor or best > ceiling:
                        last = t
                if t >= end or t >= last:
                    break
                if not increasing:
                    ahead = clock_now(run, t + 1, floor)
                if fresh:  # an arm that has just begun to lead is often passed at once, even by its bound
                    limit = bound(policy, arm, ahead, first, rng)
                    if limit < bar:
                        break
                    fresh = False
                if not policy.arm_index(arm, clock_now(run, t + 1, best), first, rng) > bar:
                    break
            write_sums(row, sums, arm.mean)
            if t < last and (not fresh or t >= end):
                limit = bound(policy, arm, ahead, first, rng)
            leaf = Leaf(slot, i, bar, leaf.second_slot)
            slot = insert_into_leaf(policy, rows, ahead, first, rng, tree, groups, leaf, arm, limit, t < last)
            if slot < 0:
                last = t
            at = record_if_due(run, t, at)
            if run.stop[0]:
                return STOPPED
        factor = np.sqrt(leaves / (WEIGHT * scored + 1.0))
        reach = min(reach * min(max(factor, 0.5), 2.0), float(horizon))
    return t


def _no_range(policy: Any, rows: Rows, means: Tournament) -> tuple[float, float, float]:
    return 0.0, -np.inf, np.inf


@compiled
def _best_range(policy: Any, rows: Rows, means: Tournament) -> tuple[float, float, float]:
    """Return a range about as wide as the best mean moves while it is pulled as often as there are arms."""
    size = len(means.best) // 2
    for i in range(len(rows)):
        arm = arm_view(policy, rows, i)
        means.best[size + i] = arm.mean if arm.pulls > 0 else -np.inf
    rebuild(means)
    best, leader = means.best[1], arm_view(policy, rows, means.place[1])
    margin = np.sqrt(leader.variance * len(rows)) / max(leader.pulls, 1) + 1e-9
    return best, best - margin, best + margin


@by_policy_class
def best_range(kind: type[Policy]) -> Any:
    """Return the best mean, and between which values it may move before the bounds are set anew.

    For a policy that does not look at it, return 0 and no limits.
    """
    return _best_range if kind.uses_best else _no_range
