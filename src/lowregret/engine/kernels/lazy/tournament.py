"""Who leads: a tournament tree over the scores, so that a changed score costs log K, not K.

Leaf ``size + i`` holds the score of place i, and every node above the better of its two children, the
left one where they tie: so the root names the first of the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lowregret.engine.bridge.compile import compiled_inline

MIN_SCORE = -np.finfo(np.float64).max
"""The least score of an active arm; minus infinity is for arms that are not active."""


class Tournament(NamedTuple):
    """The tree: the best score below each node and the place that has it."""

    best: npt.NDArray[np.float64]
    place: npt.NDArray[np.int64]


def new_tournament(arms: int) -> Tournament:
    """Make a tree for a number of arms, none of them active."""
    size = 1
    while size < arms:
        size *= 2
    best = np.full(2 * size, -np.inf)
    place = np.zeros(2 * size, np.int64)
    for i in range(size):
        place[size + i] = i
    return Tournament(best, place)


@compiled_inline
def rebuild(tree: Tournament) -> None:
    """Play all the matches again, after leaves were written directly."""
    for node in range(len(tree.best) // 2 - 1, 0, -1):
        left = 2 * node
        winner = left if tree.best[left] >= tree.best[left + 1] else left + 1
        tree.best[node] = tree.best[winner]
        tree.place[node] = tree.place[winner]


@compiled_inline
def enter(tree: Tournament, i: int, score: float) -> int:
    """Set the score of place ``i`` and play the matches on its way up; return the place that is best."""
    node, place = len(tree.best) // 2 + i, i
    tree.best[node] = score
    while node > 1:
        other = node ^ 1
        challenger, where = tree.best[other], tree.place[other]
        wins = (challenger > score) | ((challenger == score) & (other < node))
        place = where if wins else place
        score = max(challenger, score)
        node >>= 1
        tree.best[node], tree.place[node] = score, place
    return place


@compiled_inline
def rival(tree: Tournament, i: int) -> tuple[float, int]:
    """Return the score and the place of the best of all but place ``i``."""
    node = len(tree.best) // 2 + i
    score = -np.inf
    place = -1
    while node > 1:
        other = node ^ 1
        challenger, where = tree.best[other], tree.place[other]
        wins = (challenger > score) | ((challenger == score) & (where < place))
        score = challenger if wins else score
        place = where if wins else place
        node >>= 1
    return score, place


@compiled_inline
def at_least(score: float) -> float:
    """Lift a score of minus infinity to the least of an active arm; let nan pass."""
    return MIN_SCORE if score < MIN_SCORE else score
