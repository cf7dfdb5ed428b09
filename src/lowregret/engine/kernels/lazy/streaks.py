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

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.kernels.rewards import GIVEN, RewardSource
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import Sums
from lowregret.policies.views import count_of, mean_of

DEPTH = 64
"""How many pulls of an arm are computed at a time at most; more would save little."""
SHARE = 8
"""One of so many pulls of an arm, at most, is computed before it is known to be made."""
MEMORY = 2**17
"""For how many pulls of all arms together there is room at most, if that is two or more for each arm."""

ARM = np.dtype(
    [
        ("pulled", np.int64),  # of the pulls computed, those that were made
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


class Lookahead(NamedTuple):
    """The pulls computed ahead, a row for each arm."""

    arms: npt.NDArray[np.void]
    streaks: npt.NDArray[np.void]
    totals: Floats
    squares: Floats
    scores: Floats  # after each pull of one arm; before that, its rewards
    lower_bounds: Floats  # after each pull of one arm


def new_lookahead(arms: int) -> Lookahead:
    """Return room for pulls ahead."""
    depth = max(min(MEMORY // arms, DEPTH), 2)
    totals, squares = np.zeros((2, arms, depth))
    scores, lower_bounds = np.zeros((2, depth))
    streaks = np.zeros((arms, depth), STREAK)
    return Lookahead(np.zeros(arms, ARM), streaks, totals, squares, scores, lower_bounds)


@compiled_inline
def count_ahead(source: RewardSource, sums: Sums, most: int) -> int:
    """Return how many pulls of an arm to compute, 0 if it has no reward left."""
    length = min(most, max(sums.n // SHARE, 2))
    return min(length, int(source.b) - sums.before - sums.n) if source.kind == GIVEN else length


@compiled_inline
def find_streaks(ahead: Lookahead, i: int, length: int, score: float) -> None:
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
    arm["pulled"], arm["streak"], arm["streaks"] = 0, 0, count


@compiled
def forget(ahead: Lookahead) -> None:
    """Forget all pulls ahead."""
    for i in range(len(ahead.arms)):
        arm = ahead.arms[i]
        arm["pulled"], arm["streak"], arm["streaks"] = 0, 0, 0


@compiled_inline
def write_pulled(rows: Rows, ahead: Lookahead, i: int) -> None:
    """Write the sums and the mean of an arm after the pulls that were made into its row."""
    row, pulled = rows[i], ahead.arms[i]["pulled"]
    if pulled > 0:
        row["total"], row["squares"] = ahead.totals[i, pulled - 1], ahead.squares[i, pulled - 1]
        row["mean"] = mean_of(count_of(row), row["origin"], row["total"])


@compiled
def write_all_pulled(rows: Rows, ahead: Lookahead) -> None:
    """Write the sums and the means of all arms after the pulls that were made into their rows."""
    for i in range(len(rows)):
        write_pulled(rows, ahead, i)
