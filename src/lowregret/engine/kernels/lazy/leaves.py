"""What a leaf of the tree of bounds stands for: one arm, or a group of arms with equal pulls.

A policy with ``index_depends_on`` says that among arms of equal pulls the score does not decrease with the
mean (and the variance). So one bound, the score at the largest mean and the largest variance of a group,
holds for all its arms, and only few arms of a group have to be scored:

- The leader, the arm of the largest mean, is scored.
- An arm with the pulls, the mean and the variance of the leader has the same score, to the last bit, and a
  later place. It is never chosen before the leader.
- All other arms of the group have a mean of at most ``rest_mean`` and a variance of at most ``rest_spread``.
  If the score there is below the best score by more than the slack, none of them is chosen. Otherwise every
  arm of the group is scored: so an order that rounding has changed, or scores that rounding has made equal,
  are those of the reference.

The slack exceeds what rounding can do to two scores that are in the right order otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.kernels.lazy.arm_groups import (
    Groups,
    insert,
    insert_first,
    list_members,
    new_groups,
    remove,
)
from lowregret.engine.kernels.lazy.tournament import Tournament, at_least, enter, rebuild
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import ArmTable, Rows
from lowregret.environments.families import BERNOULLI
from lowregret.policies import Arm, Clock, Policy
from lowregret.policies.views import arm_view

SLACK = 1e-12
"""By how much, relative to its size, a bound may be too small, since scores are rounded."""
MIN_BERNOULLI_ARMS, MIN_OTHER_ARMS = 33, 251
"""With fewer arms each has a leaf of its own: groups would cost more than they save. The second number is for
arms that are not all Bernoulli, since those are seldom in equal states."""
SPARE_GROUPS = 8
"""How many new groups a tree has room for at least."""


class Board(NamedTuple):
    """What the scores of a stretch of time are computed from, and the tree of their bounds.

    The groups are passed beside it, since only of an argument Numba knows that it is None.
    """

    table: ArmTable
    round: Any
    rng: Rng
    tree: Tournament


class Leaf(NamedTuple):
    """The leaf of an arm that leads, the arm, and the largest of the other bounds with its leaf."""

    slot: int
    arm: int
    second_bound: float
    second_slot: int


@compiled_inline
def slack(score: float) -> float:
    """Return by how much a bound near this score may be too small."""
    return SLACK * (1.0 + min(abs(score), 1e300))


@compiled_inline
def score_of(policy: Any, board: Board, arm: Arm, clock: Clock) -> float:
    """Return the score of an arm, nan if it is nan."""
    return at_least(policy.arm_index(arm, clock, board.round, board.rng))


@compiled_inline
def bound(policy: Any, board: Board, arm: Arm, clock: Clock) -> float:
    """Return what a score cannot pass but for the slack, from the clock at which it is largest."""
    best = max(clock.best, arm.mean) if arm.pulls > 0 else clock.best
    clock = Clock(clock.t, clock.horizon, clock.arms, clock.log_t, best)
    score = score_of(policy, board, arm, clock)
    return score if score == score else np.inf


def groups_for(policy: Policy, rows: Rows) -> Groups | None:
    """Return groups if arms of equal pulls may be compared by their means and variances alone.

    Without a function from the mean to the variance, the bound of a group with variances is far too large.
    """
    if not policy.index_depends_on or policy.uses_arms:
        return None
    bernoulli = bool((rows["kind"] == BERNOULLI).all())
    if rows["active"].sum() < (MIN_BERNOULLI_ARMS if bernoulli else MIN_OTHER_ARMS):
        return None
    if "variance" in policy.index_depends_on and not bernoulli:
        return None
    return new_groups(len(rows))


@compiled_inline
def arm_of(pulls: int, mean: float, variance: float) -> Arm:
    """Return an arm of a policy that looks at nothing else."""
    return Arm(0, pulls, mean, variance, None, None, None)


@compiled_inline
def group_bound(policy: Any, board: Board, groups: Groups, clock: Clock, slot: int) -> float:
    """Return what no score of a group can pass but for the slack."""
    group = groups.group[slot]
    node = groups.node[group["leader"]]
    arm = arm_of(group["pulls"], node["mean"], node["spread"])
    return bound(policy, board, arm, clock)


@compiled
def best_member(policy: Any, board: Board, groups: Groups, clock: Clock, slot: int) -> tuple[int, float]:
    """Return the first of the best arms of a group, and its score, from the scores of all."""
    group = groups.group[slot]
    chosen, best = -1, -np.inf
    for k in range(list_members(groups, group["leader"])):
        i = groups.members[k]
        node = groups.node[i]
        arm = arm_of(group["pulls"], node["mean"], node["variance"])
        score = score_of(policy, board, arm, clock)
        if score != score:
            return i, score
        if score > best or (score == best and i < chosen):
            chosen, best = i, score
    return chosen, best


@compiled_inline
def best_at(
    policy: Any, board: Board, groups: Any, clock: Clock, slot: int, cutoff: float
) -> tuple[int, float]:
    """Return the first of the best arms of a leaf, and its score.

    If all its scores are below ``cutoff``, it may be any of them. The score is nan where one is.
    """
    table = board.table
    if groups is None:
        return slot, score_of(policy, board, arm_view(policy, table, slot), clock)
    group = groups.group[slot]
    pulls, i = group["pulls"], group["leader"]
    node = groups.node[i]
    arm = arm_of(pulls, node["mean"], node["variance"])
    score = score_of(policy, board, arm, clock)
    rules, mean, rest_mean = rules_of(policy), node["mean"], node["rest_mean"]
    matters = score >= cutoff or (rules.uses_variance and node["spread"] > node["variance"])
    if rules.separable_width:  # the scores differ as the means do
        matters &= not mean - rest_mean > slack(abs(mean) + abs(score))
    if matters and rest_mean > -np.inf:
        rest = arm_of(pulls, rest_mean, node["rest_spread"])
        if not score_of(policy, board, rest, clock) < max(cutoff, score - slack(score)):
            return best_member(policy, board, groups, clock, slot)
    return i, score


@compiled
def make_group(policy: Any, table: ArmTable, groups: Any) -> None:
    """Put all active arms, which have equal pulls, into one group."""
    rows = table.rows
    if groups is not None:
        groups.used[0], groups.used[1] = 0, 0
        for i in range(len(rows)):
            if rows[i]["active"]:
                arm = arm_view(policy, table, i)
                insert_first(groups, i, arm.pulls, arm.mean, seen_variance(policy, arm))


@compiled_inline
def seen_variance(policy: Any, arm: Arm) -> float:
    """Return the variance of an arm, 0 for a policy that does not look at it."""
    return arm.variance if rules_of(policy).uses_variance else 0.0


@compiled_inline
def leaves_of(rows: Rows, tree: Tournament, groups: Any) -> tuple[Tournament, int]:
    """Return a tree that is large enough for all leaves, and the number of those that are used."""
    if groups is None:
        return tree, len(rows)
    small, size = 1, len(tree.best) // 2
    while small < groups.used[0] + SPARE_GROUPS:
        small *= 2
    small = min(small, size)
    for slot in range(small):
        tree.place[small + slot] = slot
    smaller = Tournament(tree.best[: 2 * small], tree.place[: 2 * small])
    return smaller, groups.used[0] - groups.used[1]


@compiled_inline
def set_bounds(policy: Any, board: Board, groups: Any, clock: Clock) -> None:
    """Set the bounds of all leaves."""
    table, _, _, tree = board
    rows, size = table.rows, len(tree.best) // 2
    if groups is None:
        for i in range(len(rows)):
            tree.best[size + i] = -np.inf
            if rows[i]["active"]:
                tree.best[size + i] = bound(policy, board, arm_view(policy, table, i), clock)
    else:
        for slot in range(size):
            full = slot < groups.used[0] and groups.group[slot]["leader"] >= 0
            tree.best[size + slot] = group_bound(policy, board, groups, clock, slot) if full else -np.inf
    rebuild(tree)


@compiled_inline
def remove_from_leaf(policy: Any, board: Board, groups: Any, clock: Clock, leaf: Leaf) -> Leaf:
    """Remove an arm that is to be pulled from its leaf; return the leaf with the largest of the other bounds.

    An arm that has a leaf of its own stays there.
    """
    tree = board.tree
    if groups is None:
        return leaf
    leader = remove(groups, leaf.slot, leaf.arm)
    enter(tree, leaf.slot, group_bound(policy, board, groups, clock, leaf.slot) if leader >= 0 else -np.inf)
    return Leaf(leaf.slot, leaf.arm, tree.best[1], tree.place[1])


@compiled_inline
def insert_into_leaf(
    policy: Any, board: Board, groups: Any, clock: Clock, leaf: Leaf, arm: Arm, limit: float, needed: bool
) -> int:
    """Insert a pulled arm, and its bound if that is ``needed``, into a leaf; return the leaf to begin with.

    Returns -1 if the tree is too small for a new leaf.
    """
    tree = board.tree
    if groups is None:
        if not needed:
            return leaf.slot
        enter(tree, leaf.slot, limit)
        return leaf.second_slot if limit < leaf.second_bound else tree.place[1]
    variance = seen_variance(policy, arm)
    slot = insert(groups, leaf.slot, leaf.arm, arm.pulls, arm.mean, variance)
    if slot >= len(tree.best) // 2:
        return -1
    if needed:
        leader = groups.group[slot]["leader"]
        widest = rules_of(policy).uses_variance and groups.node[leader]["spread"] == variance
        if leader == leaf.arm or widest:  # else the bound of the group is what it was
            if not (leader == leaf.arm and (widest or not rules_of(policy).uses_variance)):
                limit = group_bound(policy, board, groups, clock, slot)
            enter(tree, slot, limit)
    return tree.place[1]
