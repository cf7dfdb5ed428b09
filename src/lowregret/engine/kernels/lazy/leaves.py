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
from lowregret.engine.kernels.state import Rows
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
def bound(policy: Any, arm: Arm, clock: Clock, round: Any, rng: Rng) -> float:
    """Return what a score cannot pass but for the slack, from the clock at which it is largest."""
    best = max(clock.best, arm.mean) if arm.pulls > 0 else clock.best
    clock = Clock(clock.t, clock.horizon, clock.arms, clock.log_t, best)
    score = policy.arm_index(arm, clock, round, rng)
    return at_least(score) if score == score else np.inf


def groups_for(policy: Policy, rows: Rows) -> Groups | None:
    """Return room for groups if arms of equal pulls may be compared by their means and variances alone.

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
def arm_of(policy: Any, rows: Rows, pulls: int, mean: float, variance: float) -> Arm:
    """Return an arm of a policy that looks at nothing else."""
    return Arm(0, pulls, mean, variance, None, policy.view_arms(rows, None), None)


@compiled_inline
def group_bound(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, groups: Groups, slot: int
) -> float:
    """Return what no score of a group can pass but for the slack."""
    group = groups.group[slot]
    node = groups.node[group["leader"]]
    return bound(
        policy, arm_of(policy, rows, group["pulls"], node["mean"], node["spread"]), clock, round, rng
    )


@compiled
def best_member(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, groups: Groups, slot: int
) -> tuple[int, float]:
    """Return the first of the best arms of a group, and its score, from the scores of all."""
    group = groups.group[slot]
    chosen, best = -1, -np.inf
    for k in range(list_members(groups, group["leader"])):
        i = groups.members[k]
        node = groups.node[i]
        arm = arm_of(policy, rows, group["pulls"], node["mean"], node["variance"])
        score = at_least(policy.arm_index(arm, clock, round, rng))
        if score != score:
            return i, score
        if score > best or (score == best and i < chosen):
            chosen, best = i, score
    return chosen, best


@compiled_inline
def best_at(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, groups: Any, slot: int, cutoff: float
) -> tuple[int, float]:
    """Return the first of the best arms of a leaf, and its score.

    If all its scores are below ``cutoff``, it may be any of them. The score is nan where one is.
    """
    if groups is None:
        return slot, at_least(policy.arm_index(arm_view(policy, rows, slot), clock, round, rng))
    group = groups.group[slot]
    pulls, i = group["pulls"], group["leader"]
    node = groups.node[i]
    arm = arm_of(policy, rows, pulls, node["mean"], node["variance"])
    score = at_least(policy.arm_index(arm, clock, round, rng))
    rules, mean, rest_mean = rules_of(policy), node["mean"], node["rest_mean"]
    matters = score >= cutoff or (rules.uses_variance and node["spread"] > node["variance"])
    if rules.separable_width:  # the scores differ as the means do
        matters &= not mean - rest_mean > slack(abs(mean) + abs(score))
    if matters and rest_mean > -np.inf:
        rest = arm_of(policy, rows, pulls, rest_mean, node["rest_spread"])
        limit = at_least(policy.arm_index(rest, clock, round, rng))
        if not limit < max(cutoff, score - slack(score)):
            return best_member(policy, rows, clock, round, rng, groups, slot)
    return i, score


@compiled
def make_group(policy: Any, rows: Rows, groups: Any) -> None:
    """Put all active arms, which have equal pulls, into one group."""
    if groups is not None:
        groups.used[0], groups.used[1] = 0, 0
        for i in range(len(rows)):
            if rows[i]["active"]:
                arm = arm_view(policy, rows, i)
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
def set_bounds(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Tournament, groups: Any
) -> None:
    """Set the bounds of all leaves."""
    size = len(tree.best) // 2
    if groups is None:
        for i in range(len(rows)):
            tree.best[size + i] = -np.inf
            if rows[i]["active"]:
                tree.best[size + i] = bound(policy, arm_view(policy, rows, i), clock, round, rng)
    else:
        for slot in range(size):
            full = slot < groups.used[0] and groups.group[slot]["leader"] >= 0
            limit = group_bound(policy, rows, clock, round, rng, groups, slot) if full else -np.inf
            tree.best[size + slot] = limit
    rebuild(tree)


@compiled_inline
def remove_from_leaf(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Tournament, groups: Any, leaf: Leaf
) -> Leaf:
    """Remove an arm that is to be pulled from its leaf; return the leaf with the largest of the other bounds.

    An arm that has a leaf of its own stays there.
    """
    if groups is None:
        return leaf
    leader = remove(groups, leaf.slot, leaf.arm)
    limit = group_bound(policy, rows, clock, round, rng, groups, leaf.slot) if leader >= 0 else -np.inf
    enter(tree, leaf.slot, limit)
    return Leaf(leaf.slot, leaf.arm, tree.best[1], tree.place[1])


@compiled_inline
def insert_into_leaf(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    tree: Tournament,
    groups: Any,
    leaf: Leaf,
    arm: Arm,
    limit: float,
    needed: bool,
) -> int:
    """Insert a pulled arm, and its bound if that is ``needed``, into a leaf; return the leaf to begin with.

    Returns -1 if the tree is too small for a new leaf.
    """
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
                limit = group_bound(policy, rows, clock, round, rng, groups, slot)
            enter(tree, slot, limit)
    return tree.place[1]
