"""Streaks: pulls of one arm that no other arm can come between, while scores change with an arm's pulls alone.

The rewards of an arm are a function of the arm and the number of the pull. So, within a round, are its scores,
whatever the other arms do, and they are computed for many pulls at a time. An arm that is chosen at score s is
chosen again until its score is below s: all other scores stay at most s, and in case of a tie the first arm
stays the first. These pulls are a streak. So the policy compares the arms only at the ends of streaks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lowregret.engine.compile import compiled, compiled_inline
from lowregret.engine.state import Rows
from lowregret.policies import Policy
from lowregret.policies.views import mean_of

DEPTH = 64
"""How many pulls of an arm are computed at a time at most; more would save little."""
SHARE = 8
"""One of so many pulls of an arm, at most, is computed before it is known to be made."""
MEMORY = 2**17
"""For how many pulls of all arms together there is room at most, if that is two or more for each arm."""

ARM = np.dtype(
    [
        ("made", np.int64),  # of the pulls computed, those made
        ("streak", np.int64),  # the streak that is next or has begun
        ("streaks", np.int64),  # how many were computed
    ],
    align=True,
)
PULL = np.dtype([("total", np.float64), ("squares", np.float64)], align=True)  # the sums after a pull
STREAK = np.dtype(
    [
        ("end", np.int64),  # the number of pulls computed up to its last
        ("score", np.float64),  # after its last pull
        ("highest", np.float64),  # the largest lower bound after one of the pulls computed, up to its last
    ],
    align=True,
)


class Ahead(NamedTuple):
    """The pulls computed ahead, a row for each arm."""

    arms: npt.NDArray[np.void]
    pulls: npt.NDArray[np.void]
    streaks: npt.NDArray[np.void]
    rewards: npt.NDArray[np.float64]  # of the pulls of one arm


def new_ahead(policy: Policy, arms: int) -> Ahead:
    """Return room for pulls ahead; none for a policy whose index is not constant."""
    size = arms if policy.index_trend == "constant" else 0
    depth = max(min(MEMORY // max(size, 1), DEPTH), 2)
    pulls, streaks = np.zeros((size, depth), PULL), np.zeros((size, depth), STREAK)
    return Ahead(np.zeros(size, ARM), pulls, streaks, np.zeros(depth))


@compiled
def forget(ahead: Ahead) -> None:
    """Forget all pulls ahead."""
    for i in range(len(ahead.arms)):
        arm = ahead.arms[i]
        arm["made"], arm["streak"], arm["streaks"] = 0, 0, 0


@compiled_inline
def write_made(rows: Rows, ahead: Ahead, i: int) -> None:
    """Write the sums and the mean of an arm after the pulls made into its row."""
    row, made = rows[i], ahead.arms[i]["made"]
    if made > 0:
        pull = ahead.pulls[i, made - 1]
        row["total"], row["squares"] = pull["total"], pull["squares"]
        row["mean"] = mean_of(row["pulls"] - row["reset"], row["origin"], pull["total"])


@compiled
def write_all_made(rows: Rows, ahead: Ahead) -> None:
    """Write the sums and the means of all arms after the pulls made into their rows."""
    for i in range(len(rows)):
        write_made(rows, ahead, i)
