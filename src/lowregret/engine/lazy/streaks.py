"""Streaks: pulls of one arm in succession, while scores change with the pulls of their arm alone.

The n-th reward of an arm is a function of the arm and of n. So, within a round, is its score after n pulls,
whatever the other arms do, and the scores after many pulls are computed at a time. An arm that is chosen at
score s is chosen again until its score is below s: all other scores stay at most s, and in case of a tie the
first arm stays the first. These pulls are a streak. So arms are compared only at the ends of streaks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lowregret.engine.compile import compiled, compiled_inline
from lowregret.engine.rewards import GIVEN, RewardSource
from lowregret.engine.state import Floats, Rows
from lowregret.engine.statistics import Sums
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
STREAK = np.dtype(
    [
        ("end", np.int64),  # the number of pulls computed up to its last
        ("score", np.float64),  # after its last pull
        ("highest", np.float64),  # the largest lower bound after one of its pulls
    ],
    align=True,
)


class Ahead(NamedTuple):
    """The pulls computed ahead, a row for each arm."""

    arms: npt.NDArray[np.void]
    streaks: npt.NDArray[np.void]
    totals: Floats
    squares: Floats
    scores: Floats  # after each pull of one arm; before that, its rewards
    lower_bounds: Floats  # after each pull of one arm


def new_ahead(policy: Policy, arms: int) -> Ahead:
    """Return room for pulls ahead; none for a policy whose index is not constant."""
    size = arms if policy.index_trend == "constant" else 0
    depth = max(min(MEMORY // max(size, 1), DEPTH), 2)
    totals, squares = np.zeros((2, size, depth))
    scores, lower_bounds = np.zeros((2, depth))
    streaks = np.zeros((size, depth), STREAK)
    return Ahead(np.zeros(size, ARM), streaks, totals, squares, scores, lower_bounds)


@compiled_inline
def count_ahead(source: RewardSource, sums: Sums, most: int) -> int:
    """Return how many pulls of an arm to compute, 0 if it has no reward left."""
    length = min(most, max(sums.pulls // SHARE, 2))
    return min(length, int(source.b) - sums.before - sums.pulls) if source.kind == GIVEN else length


@compiled_inline
def find_streaks(ahead: Ahead, i: int, length: int, score: float) -> None:
    """Divide the pulls computed for an arm, chosen at a score, into streaks; the last may be unfinished."""
    arm, streaks, count, highest = ahead.arms[i], ahead.streaks[i], 0, -np.inf
    for k in range(length):
        later = ahead.scores[k]
        highest = max(highest, ahead.lower_bounds[k])
        streak = streaks[count]
        streak["end"], streak["score"], streak["highest"] = k + 1, later, highest
        falls = not later >= score  # also where it is nan
        score = min(later, score)
        highest = -np.inf if falls else highest
        count += falls
    if count == 0 or streaks[count - 1]["end"] < length:
        streak = streaks[count]
        streak["end"], streak["score"], streak["highest"] = length, score, highest
        count += 1
    arm["made"], arm["streak"], arm["streaks"] = 0, 0, count


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
        row["total"], row["squares"] = ahead.totals[i, made - 1], ahead.squares[i, made - 1]
        row["mean"] = mean_of(row["pulls"] - row["reset"], row["origin"], row["total"])


@compiled
def write_all_made(rows: Rows, ahead: Ahead) -> None:
    """Write the sums and the means of all arms after the pulls made into their rows."""
    for i in range(len(rows)):
        write_made(rows, ahead, i)
