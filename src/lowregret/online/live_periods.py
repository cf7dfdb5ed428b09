"""The rewards of an agent by period, where means are adjusted for it: the estimates are those of simulations.

The arrays of ``Periods`` grow with the number of periods. A period of a time has a place in them once a
reward counts in it, so that a time without decisions takes no room. ``period_rewards`` reads them for people.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from lowregret.engine.kernels.periods import (
    EXPOSURE,
    LATEST,
    PULLS,
    SQUARES,
    TOTAL,
    Periods,
    adjust_all,
    new_periods,
)
from lowregret.online.agent_settings import Settings

MONDAY = -3 * 86_400.0
"""From when periods of a time are counted: Monday, 29 December 1969, at midnight UTC."""
FIRST_PERIODS = 16
"""How many periods a new agent has room for; it doubles when there are more."""
ESTIMATES = "arms", "factors", "excess", "state", "seen"
"""The fields of ``Periods`` that are computed anew as rewards become known."""


def empty_periods(settings: Settings, arms: int) -> Periods | None:
    """Return room for the rewards of a new agent, None if its means are not adjusted."""
    if settings.period is None:
        return None
    length = settings.period if isinstance(settings.period, int) else 1
    return new_periods(length, arms, FIRST_PERIODS)


def date_of(timestamp: float | None, length: timedelta) -> int:
    """Return the number of the period of a moment."""
    return int(((timestamp or 0.0) - MONDAY) // length.total_seconds())


def grow_periods(periods: Periods, arms: int, columns: int) -> Periods:
    """Return a copy that has room for so many arms and periods at least."""
    rows, before = periods.counts.shape
    columns = before if columns <= before else max(2 * before, columns)
    copy = new_periods(periods.length, max(rows, arms), columns)
    for new, old in zip(copy[1:], periods[1:], strict=True):
        new[tuple(map(slice, old.shape))] = old
    return copy


def used_columns(periods: Periods) -> int:
    """Return how many columns hold periods, of those that there is room for."""
    return int(periods.state[LATEST]) + 1


def copy_estimates(periods: Periods) -> Periods:
    """Return periods whose estimates may change; the rewards are the same arrays."""
    estimates = {name: getattr(periods, name).copy() for name in ESTIMATES}
    return periods._replace(**estimates)


def to_json(periods: Periods, dates: dict[int, int]) -> dict[str, Any]:
    """Return what a snapshot has beside the rows of the arms."""
    used = used_columns(periods)
    return {
        "counts": periods.counts[:, :used].astype(np.int64).tolist(),
        "totals": periods.totals[:, :used].tolist(),
        "sums": periods.arms[:, : SQUARES + 1].tolist(),
        "exposure": periods.arms[:, EXPOSURE].tolist(),
        "factors": periods.factors[:used].tolist(),
        "excess": periods.excess.tolist(),
        "state": periods.state.tolist(),
        "dates": [*dates],
    }


JSON_TYPES = {
    "sums": [[float]],
    **{"counts": [[int]], "totals": [[float]], "exposure": [float], "factors": [float]},
    **{"excess": [float], "state": [int], "dates": [float]},
}
"""The types of ``to_json``."""


def from_json(settings: Settings, parts: dict[str, Any], arms: Sequence[Any]) -> Periods:
    """Return the periods of a snapshot with these tables of arms; a ``ValueError`` says what is damaged."""
    columns = [
        np.concatenate([table[key] for table in arms]) for key in ("number", "pulls", "total", "squares")
    ]
    order = np.argsort(columns[0])
    pulls, *sums = (column[order] for column in columns[1:])  # 0.1.0 stored these about 0, and nowhere else
    periods = empty_periods(settings, len(order))
    assert periods is not None
    periods = grow_periods(periods, 0, len(parts["factors"]))
    size, used = len(order), len(parts["factors"])
    parts = {"sums": np.transpose(sums), **parts}
    shapes = {"counts": (size, used), "totals": (size, used), "exposure": (size,), "factors": (used,)}
    for key, shape in {**shapes, "sums": (size, 2), "excess": (1,), "state": (5,)}.items():
        if np.shape(parts[key]) != shape:
            raise ValueError(f"{key} of periods must have the shape {shape}, got {np.shape(parts[key])}")
    periods.counts[:, :used], periods.totals[:, :used] = parts["counts"], parts["totals"]
    periods.arms[:, [TOTAL, SQUARES]] = parts["sums"]
    periods.arms[:, EXPOSURE], periods.arms[:, PULLS] = parts["exposure"], pulls
    periods.factors[:used] = parts["factors"]
    periods.excess[:], periods.state[:] = parts["excess"], parts["state"]
    if (periods.counts.sum(axis=1) != pulls).any() or periods.state[LATEST] + 1 != used:
        raise ValueError("the arms have other numbers of pulls in their periods than in total")
    if not periods.factors.all() or (periods.arms[pulls > 0, EXPOSURE] <= 0.0).any():
        raise ValueError("a factor of a period is 0")
    adjust_all(periods, settings.policy.warmup)
    return periods
