"""Groups of arms with equal pulls, each with a leader: the arm of the largest mean, the first of several.

A group is a pairing heap (Fredman, Sedgewick, Sleator and Tarjan 1986) in the order of means, then of places.
Each node also has what is largest among the arms below it, so that one bound covers all but the leader:

``spread``
    The largest variance in the subtree.
``rest_mean`` and ``rest_spread``
    The largest mean and the largest variance of the arms in the subtree whose mean or variance is not that of
    the node itself. An arm with the same pulls, mean and variance has the same score, and a later place.

A heap loses its root or becomes a child of another root, and nothing else happens to it. So a node's subtree
changes only while the node is a root, and these values change only in ``link``.

The groups are in a list by their pulls. An arm that was pulled is inserted by going up the list from its
former group, which takes at most as many steps as it had pulls since.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.kernels.state import in_lines

NODE = np.dtype(
    [
        ("child", np.int64),
        ("sibling", np.int64),
        ("mean", np.float64),
        ("variance", np.float64),
        ("spread", np.float64),
        ("rest_mean", np.float64),
        ("rest_spread", np.float64),
        ("unused", np.float64),  # so that a node fills one line of the processor's cache
    ],
    align=True,
)
GROUP = np.dtype(
    [("leader", np.int64), ("pulls", np.int64), ("before", np.int64), ("after", np.int64)], align=True
)

NONE = -1
"""In place of an arm or a group where there is none."""


class Groups(NamedTuple):
    """Groups by slot, arms by place; ``used`` has the numbers of slots used so far and of those now free."""

    group: npt.NDArray[np.void]
    node: npt.NDArray[np.void]
    free: npt.NDArray[np.int64]
    members: npt.NDArray[np.int64]
    used: npt.NDArray[np.int64]


def new_groups(arms: int) -> Groups:
    """Return groups for a number of arms, none of them in a group."""
    lists = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(2, np.int64)
    return Groups(np.zeros(arms, GROUP), in_lines(np.zeros(arms, NODE)), *lists)


@compiled_inline
def link(groups: Groups, a: int, b: int) -> int:
    """Make one root the child of another, and return the one that leads."""
    first, second = groups.node[a], groups.node[b]
    if second["mean"] > first["mean"] or (second["mean"] == first["mean"] and b < a):
        a, b = b, a
    root, child = groups.node[a], groups.node[b]
    child["sibling"], root["child"] = root["child"], b
    root["spread"] = max(root["spread"], child["spread"])
    same = child["mean"] == root["mean"] and child["variance"] == root["variance"]
    root["rest_mean"] = max(root["rest_mean"], child["rest_mean"] if same else child["mean"])
    root["rest_spread"] = max(root["rest_spread"], child["rest_spread"] if same else child["spread"])
    return a


@compiled_inline
def set_alone(groups: Groups, i: int) -> None:
    """Make an arm a heap of its own."""
    node = groups.node[i]
    node["child"], node["sibling"] = NONE, NONE
    node["spread"] = node["variance"]
    node["rest_mean"], node["rest_spread"] = -np.inf, -np.inf


@compiled
def without_root(groups: Groups, root: int) -> int:
    """Return the root of what is left of a heap without its root."""
    node = groups.node
    a, pairs = node[root]["child"], NONE
    while a >= 0:  # link the children in pairs
        b = node[a]["sibling"]
        following = NONE
        pair = a
        if b >= 0:
            following = node[b]["sibling"]
            pair = link(groups, a, b)
        node[pair]["sibling"] = pairs
        pairs, a = pair, following
    if pairs < 0:
        return NONE
    remaining, pairs = pairs, node[pairs]["sibling"]
    while pairs >= 0:  # then all pairs, the last first
        following = node[pairs]["sibling"]
        remaining = link(groups, remaining, pairs)
        pairs = following
    node[remaining]["sibling"] = NONE
    return remaining


@compiled
def list_members(groups: Groups, root: int) -> int:
    """Write the places of all arms of a heap into ``members``, and return how many they are."""
    members, node = groups.members, groups.node
    members[0], count, done = root, 1, 0
    while done < count:
        child = node[members[done]]["child"]
        while child >= 0:
            members[count] = child
            count += 1
            child = node[child]["sibling"]
        done += 1
    return count


@compiled
def remove(groups: Groups, slot: int, i: int) -> int:
    """Remove an arm from its group, and return the leader that is left, ``NONE`` if the group is empty."""
    group = groups.group[slot]
    root = group["leader"]
    if i == root:
        remaining = without_root(groups, root)
    else:
        remaining, count = NONE, list_members(groups, root)
        for k in range(count):
            member = groups.members[k]
            if member != i:
                set_alone(groups, member)
                remaining = member if remaining < 0 else link(groups, remaining, member)
    group["leader"] = remaining
    return remaining


@compiled
def insert(groups: Groups, slot: int, i: int, pulls: int, mean: float, variance: float) -> int:
    """Insert an arm that has more pulls than it had in its former group ``slot``; return its new group.

    The former group is dropped if it is empty.
    """
    group, node = groups.group, groups.node[i]
    node["mean"], node["variance"] = mean, variance
    set_alone(groups, i)
    last, following = slot, group[slot]["after"]
    while following >= 0 and group[following]["pulls"] <= pulls:
        last, following = following, group[following]["after"]
    empty = group[slot]["leader"] < 0
    if last == slot and empty:
        group[slot]["pulls"], group[slot]["leader"] = pulls, i
        return slot
    if empty:
        _drop(groups, slot)
    if group[last]["pulls"] == pulls:
        group[last]["leader"] = link(groups, group[last]["leader"], i)
        return last
    return _new_group(groups, last, following, pulls, i)


@compiled
def insert_first(groups: Groups, i: int, pulls: int, mean: float, variance: float) -> None:
    """Insert an arm into the first group, of which all arms have equal pulls."""
    node, group = groups.node[i], groups.group[0]
    node["mean"], node["variance"] = mean, variance
    set_alone(groups, i)
    if groups.used[0] == 0:
        _new_group(groups, NONE, NONE, pulls, i)
    else:
        group["leader"] = link(groups, group["leader"], i)


@compiled
def _new_group(groups: Groups, before: int, after: int, pulls: int, i: int) -> int:
    group, used = groups.group, groups.used
    if used[1] > 0:
        used[1] -= 1
        slot = groups.free[used[1]]
    else:
        slot = used[0]
        used[0] += 1
    group[slot]["leader"], group[slot]["pulls"] = i, pulls
    group[slot]["before"], group[slot]["after"] = before, after
    if before >= 0:
        group[before]["after"] = slot
    if after >= 0:
        group[after]["before"] = slot
    return slot


@compiled
def _drop(groups: Groups, slot: int) -> None:
    group, used = groups.group, groups.used
    before, after = group[slot]["before"], group[slot]["after"]
    if before >= 0:
        group[before]["after"] = after
    if after >= 0:
        group[after]["before"] = before
    groups.free[used[1]] = slot
    used[1] += 1
