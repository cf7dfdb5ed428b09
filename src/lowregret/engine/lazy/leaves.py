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

from typing import Any

import numpy as np

from lowregret.engine.compile import by_policy_class, compiled, compiled_inline
from lowregret.engine.lazy.arm_groups import (
    Groups,
    insert,
    insert_first,
    list_members,
    remove,
)
from lowregret.engine.lazy.tournament import Tournament, at_least, enter, rebuild
from lowregret.engine.rng import Rng
from lowregret.engine.rules import rules_of
from lowregret.engine.state import Rows
from lowregret.environments.families import BERNOULLI
from lowregret.policies import Arm, Clock, Policy
from lowregret.policies.views import arm_view

SLACK = 1e-12
"""By how much, relative to its size, a bound may be too small, since scores are rounded."""
FEW, FEW_UNEQUAL = 32, 250
"""Up to so many arms, each has a leaf of its own: groups would cost more than they save. The second number is
for arms that are not all Bernoulli, since those are seldom in equal states."""
SPARE = 8
"""How many new groups a tree has room for at least."""


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


def groups_arms(kind: type[Policy]) -> bool:
    """Return whether arms of equal pulls may be compared by their means and variances alone."""
    return bool(kind.index_depends_on) and not kind.uses_arms


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
def score_arm(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, i: int) -> float:
    """Return the score of an arm."""
    return at_least(policy.arm_index(arm_view(policy, rows, i), clock, round, rng))


def _arm_at(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, groups: Groups, slot: int, enough: float
) -> tuple[int, float]:
    return slot, score_arm(policy, rows, clock, round, rng, slot)


def _best_of_group(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, groups: Groups, slot: int, enough: float
) -> tuple[int, float]:
    if groups.used[0] == 0:
        return slot, score_arm(policy, rows, clock, round, rng, slot)
    group = groups.group[slot]
    pulls, i = group["pulls"], group["leader"]
    node = groups.node[i]
    arm = arm_of(policy, rows, pulls, node["mean"], node["variance"])
    score = at_least(policy.arm_index(arm, clock, round, rng))
    rules, mean, rest_mean = rules_of(policy), node["mean"], node["rest_mean"]
    matters = score >= enough or (rules.uses_variance and node["spread"] > node["variance"])
    if rules.separable_width:  # the scores differ as the means do
        matters &= not mean - rest_mean > slack(abs(mean) + abs(score))
    if matters and rest_mean > -np.inf:
        rest = arm_of(policy, rows, pulls, rest_mean, node["rest_spread"])
        limit = at_least(policy.arm_index(rest, clock, round, rng))
        if not limit < max(enough, score - slack(score)):
            return best_member(policy, rows, clock, round, rng, groups, slot)
    return i, score


@by_policy_class
def best_at(kind: type[Policy]) -> Any:
    """Return the first of the best arms of a leaf, and its score.

    If all its scores are below ``enough``, it may be any of them. The score is nan where one is.
    """
    return _best_of_group if groups_arms(kind) else _arm_at


def _leave_alone(policy: Any, rows: Rows, groups: Groups, active: int) -> None:
    pass


def _put_into_one_group(policy: Any, rows: Rows, groups: Groups, active: int) -> None:
    groups.used[0], groups.used[1] = 0, 0
    binary = True
    for i in range(len(rows)):
        binary &= rows[i]["kind"] == BERNOULLI
    # Without a function from the mean to the variance, the bound of a group with variances is far too large.
    if active > (FEW if binary else FEW_UNEQUAL) and (binary or not rules_of(policy).uses_variance):
        for i in range(len(rows)):
            if rows[i]["active"]:
                arm = arm_view(policy, rows, i)
                insert_first(groups, i, arm.pulls, arm.mean, seen_variance(policy, arm))


@by_policy_class
def make_groups(kind: type[Policy]) -> Any:
    """Put all active arms, which have equal pulls, into one group if they are many."""
    return _put_into_one_group if groups_arms(kind) else _leave_alone


@compiled_inline
def seen_variance(policy: Any, arm: Arm) -> float:
    """Return the variance of an arm, 0 for a policy that does not look at it."""
    return arm.variance if rules_of(policy).uses_variance else 0.0


@compiled_inline
def set_arm_bounds(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Tournament) -> None:
    """Set the bounds of all arms, each in a leaf of its own."""
    size = len(tree.best) // 2
    for i in range(len(rows)):
        tree.best[size + i] = -np.inf
        if rows[i]["active"]:
            tree.best[size + i] = bound(policy, arm_view(policy, rows, i), clock, round, rng)
    rebuild(tree)


def _all_leaves(policy: Any, rows: Rows, tree: Tournament, groups: Groups) -> tuple[Tournament, int]:
    return tree, len(rows)


def _group_leaves(policy: Any, rows: Rows, tree: Tournament, groups: Groups) -> tuple[Tournament, int]:
    size = len(tree.best) // 2
    if groups.used[0] == 0:
        return tree, len(rows)
    small = 1
    while small < groups.used[0] + SPARE:
        small *= 2
    small = min(small, size)
    for slot in range(small):
        tree.place[small + slot] = slot
    smaller = Tournament(tree.best[: 2 * small], tree.place[: 2 * small])
    return smaller, groups.used[0] - groups.used[1]


@by_policy_class
def leaves_of(kind: type[Policy]) -> Any:
    """Return a tree that is large enough for all leaves, and the number of those that are used."""
    return _group_leaves if groups_arms(kind) else _all_leaves


def _set_arm_bounds(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Tournament, groups: Groups
) -> None:
    set_arm_bounds(policy, rows, clock, round, rng, tree)


def _set_group_bounds(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, tree: Tournament, groups: Groups
) -> None:
    size = len(tree.best) // 2
    if groups.used[0] == 0:
        set_arm_bounds(policy, rows, clock, round, rng, tree)
        return
    for slot in range(size):
        full = slot < groups.used[0] and groups.group[slot]["leader"] >= 0
        limit = group_bound(policy, rows, clock, round, rng, groups, slot) if full else -np.inf
        tree.best[size + slot] = limit
    rebuild(tree)


@by_policy_class
def set_bounds(kind: type[Policy]) -> Any:
    """Set the bounds of all leaves."""
    return _set_group_bounds if groups_arms(kind) else _set_arm_bounds


def _keep(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    tree: Tournament,
    groups: Groups,
    slot: int,
    i: int,
    bar: float,
    runner: int,
) -> tuple[float, int]:
    return bar, runner


def _take_from_group(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    tree: Tournament,
    groups: Groups,
    slot: int,
    i: int,
    bar: float,
    runner: int,
) -> tuple[float, int]:
    if groups.used[0] == 0:
        return bar, runner
    left = remove(groups, slot, i)
    limit = group_bound(policy, rows, clock, round, rng, groups, slot) if left >= 0 else -np.inf
    enter(tree, slot, limit)
    return tree.best[1], tree.place[1]


@by_policy_class
def take(kind: type[Policy]) -> Any:
    """Take an arm that is to be pulled from its leaf; return the largest of the other bounds, and its leaf.

    These are also given, for an arm that has a leaf of its own.
    """
    return _take_from_group if groups_arms(kind) else _keep


@compiled_inline
def enter_arm(tree: Tournament, slot: int, bar: float, runner: int, limit: float, wanted: bool) -> int:
    """Enter the bound of an arm in its own leaf; return the leaf to begin with."""
    if not wanted:
        return slot
    enter(tree, slot, limit)
    return runner if limit < bar else tree.place[1]


def _enter_arm(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    tree: Tournament,
    groups: Groups,
    slot: int,
    i: int,
    bar: float,
    runner: int,
    arm: Arm,
    limit: float,
    wanted: bool,
) -> int:
    return enter_arm(tree, slot, bar, runner, limit, wanted)


def _put_into_group(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    tree: Tournament,
    groups: Groups,
    slot: int,
    i: int,
    bar: float,
    runner: int,
    arm: Arm,
    limit: float,
    wanted: bool,
) -> int:
    if groups.used[0] == 0:
        return enter_arm(tree, slot, bar, runner, limit, wanted)
    variance = seen_variance(policy, arm)
    slot = insert(groups, slot, i, arm.pulls, arm.mean, variance)
    if slot >= len(tree.best) // 2:
        return -1
    if wanted:
        leader = groups.group[slot]["leader"]
        widest = rules_of(policy).uses_variance and groups.node[leader]["spread"] == variance
        if leader == i or widest:  # else the bound of the group is what it was
            if not (leader == i and (widest or not rules_of(policy).uses_variance)):
                limit = group_bound(policy, rows, clock, round, rng, groups, slot)
            enter(tree, slot, limit)
    return tree.place[1]


@by_policy_class
def put_back(kind: type[Policy]) -> Any:
    """Put a pulled arm, and its bound if that is ``wanted``, into a leaf; return the leaf to begin with.

    Returns -1 if the tree is too small for a new leaf.
    """
    return _put_into_group if groups_arms(kind) else _enter_arm
