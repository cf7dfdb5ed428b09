"""The rewards of a live agent by period: where means are adjusted, the estimates are those of simulations.

The arrays of ``Periods`` grow with the number of periods. A period of a time has a place in them once a
reward counts in it, so that a time without decisions takes no room.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from lowregret.analysis.matched_rewards import FIRST_REWARDS, Matched, match, new_matched
from lowregret.engine.kernels.periods import EXPOSURE, LATEST, SQUARES, TOTAL, Periods, new_periods
from lowregret.engine.kernels.state import Rows
from lowregret.online.agent_settings import Settings
from lowregret.online.decisions import Decision

DAY = 86_400.0
MAX_CELLS = 10_000
"""For so many pairs of a day and an arm rewards are counted by day."""
SETTLE_EVERY = 256
"""After how many rewards, more or less, these are added to those of their days."""
MONDAY = -3 * DAY
"""From when periods of a time are counted: Monday, 29 December 1969, at midnight UTC."""
FIRST_PERIODS = 16
"""How many periods a new agent has room for; it doubles when there are more."""
MAX_MATCHED = 20
"""Up to how many arms the rewards of pairs are matched: each period has four numbers for each pair."""


class Days:
    """The rewards by the day of their decisions, where means are not adjusted.

    ``by_day`` has the number of rewards and their sum, by day and arm, except for those that are
    ``recent``: decision and reward by the number of the decision. To set one of these again changes nothing.
    """

    __slots__ = ("by_day", "recent")

    def __init__(self) -> None:
        self.by_day: dict[float, dict[str, tuple[int, float]]] = {}
        self.recent: dict[int, tuple[Decision, float]] = {}

    def settled(self, settings: Settings) -> "Days":
        """Return days without recent rewards; these are added to ``by_day`` one by one."""
        days = Days()
        own: dict[float, dict[str, tuple[int, float]]] = {}
        days.by_day = {**self.by_day}
        size = sum(map(len, self.by_day.values()))
        clip = settings.reward_range if settings.outside == "clip" else None
        for decision, reward in self.recent.values():
            if (time := decision.timestamp) is None:
                continue
            if clip:
                reward = min(max(reward, clip[0]), clip[1])
            day, arm = time // DAY, decision.arm
            cells = own.get(day) or {**self.by_day.get(day, {})}
            pulls, total = cells.get(arm, (0, 0.0))
            size += not pulls
            if pulls or size <= MAX_CELLS:
                cells[arm] = pulls + 1, total + reward
                own[day] = days.by_day[day] = cells
        return days

    def total(self) -> int:
        """Return how many rewards are counted by day."""
        return sum(pulls for rewards in self.by_day.values() for pulls, _ in rewards.values())


def first_periods(settings: Settings, arms: int) -> Periods | None:
    """Return room for the rewards of a new agent, None if its means are not adjusted."""
    if settings.period is None:
        return None
    length = settings.period if isinstance(settings.period, int) else 1
    return new_periods(length, arms, FIRST_PERIODS)


def date_of(timestamp: float | None, length: timedelta) -> int:
    """Return the number of the period of a moment."""
    return int(((timestamp or 0.0) - MONDAY) // length.total_seconds())


def with_room(periods: Periods, arms: int, columns: int) -> Periods:
    """Return a copy that has room for so many arms and periods at least."""
    rows, before = periods.counts.shape
    columns = before if columns <= before else max(2 * before, columns)
    copy = new_periods(periods.length, max(rows, arms), columns)
    for new, old in zip(copy[1:], periods[1:], strict=True):
        new[tuple(map(slice, old.shape))] = old
    return copy


def first_matched(settings: Settings) -> Matched | None:
    """Return room for what a verdict compares, None without periods or with too many arms."""
    size = len(settings.arms)
    return None if settings.period is None or size > MAX_MATCHED else new_matched(FIRST_PERIODS, size)


def as_large(matched: Matched | None, periods: Periods) -> Matched | None:
    """Return what a verdict compares with room for these arms and periods."""
    arms, columns = periods.counts.shape
    if matched is None or arms > MAX_MATCHED:
        return None
    if matched.before.shape == (columns, 2, arms):
        return matched
    larger = new_matched(columns, arms)
    for new, old in zip(larger, matched, strict=True):
        new[tuple(map(slice, old.shape))] = old
    return larger


def match_reward(
    matched: Matched | None, periods: Periods, told: int, cell: tuple[int, int], reward: float, undo: Any
) -> Matched | None:
    """Count a reward of an arm in a period, before ``periods`` does, in what a verdict compares."""
    matched = as_large(matched, periods)
    if matched is None or told < FIRST_REWARDS:
        return matched
    number, period = cell
    own = (period, ..., number, slice(None))
    if undo is not None:
        undo += [(matched.before, period, matched.before[period].copy())]
        undo += [(matched.used, own, matched.used[own].copy())]
    if not matched.before[period].any():
        matched.before[period] = periods.counts.sum(axis=1), periods.arms[:, TOTAL]
    match(matched, number, period, reward)
    return matched


def with_own_estimates(periods: Periods) -> Periods:
    """Return periods whose estimates may change; the rewards are the same arrays."""
    length, counts, totals, arms, factors, excess, state = periods
    return Periods(length, counts, totals, arms.copy(), factors.copy(), excess.copy(), state.copy())


def plain_rows(rows: Rows, periods: Periods | None) -> Rows:
    """Return rows with the plain sums and means of the rewards in place of what the policy sees."""
    if periods is None:
        return rows
    rows, sums = rows.copy(), periods.arms[rows["number"]]
    rows["reset"], rows["origin"], rows["total"], rows["squares"] = 0, 0.0, sums[:, TOTAL], sums[:, SQUARES]
    rows["mean"] = rows["total"] / np.maximum(rows["pulls"], 1)
    return rows


def to_json(periods: Periods, dates: dict[int, int], matched: Matched | None) -> dict[str, Any]:
    """Return what a snapshot has beside the plain sums of the arms."""
    used = int(periods.state[LATEST]) + 1
    pairs = {} if matched is None else {"matched": [values[:used].ravel().tolist() for values in matched]}
    return {
        **pairs,
        "counts": periods.counts[:, :used].astype(np.int64).tolist(),
        "totals": periods.totals[:, :used].tolist(),
        "exposure": periods.arms[:, EXPOSURE].tolist(),
        "factors": periods.factors[:used].tolist(),
        "excess": periods.excess.tolist(),
        "state": periods.state.tolist(),
        "dates": [*dates],
    }


JSON = {
    "matched": [[float]],
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
    pulls, total, squares = (column[order] for column in columns[1:])
    periods = first_periods(settings, len(order))
    assert periods is not None
    periods = with_room(periods, 0, len(parts["factors"]))
    size, used = len(order), len(parts["factors"])
    shapes = {"counts": (size, used), "totals": (size, used), "exposure": (size,), "factors": (used,)}
    for key, shape in {**shapes, "excess": (1,), "state": (5,)}.items():
        if np.shape(parts[key]) != shape:
            raise ValueError(f"{key} of periods must have the shape {shape}, got {np.shape(parts[key])}")
    periods.counts[:, :used], periods.totals[:, :used] = parts["counts"], parts["totals"]
    for column, sums in ((TOTAL, total), (SQUARES, squares), (EXPOSURE, parts["exposure"])):
        periods.arms[:, column] = sums
    periods.factors[:used] = parts["factors"]
    periods.excess[:], periods.state[:] = parts["excess"], parts["state"]
    if (periods.counts.sum(axis=1) != pulls).any() or periods.state[LATEST] + 1 != used:
        raise ValueError("the arms have other numbers of pulls in their periods than in total")
    if not periods.factors.all() or (periods.arms[pulls > 0, EXPOSURE] <= 0.0).any():
        raise ValueError("a factor of a period is 0")
    return periods


def days_from_json(table: dict[str, Any], arms: set[str]) -> Days:
    """Return the rewards by day of these arms; a ``ValueError`` says what is damaged."""
    days = Days()
    for day, rewards in table.items():
        if (
            not day.isdecimal()
            or not arms >= rewards.keys()
            or any(len(cell) != 2 for cell in rewards.values())
        ):
            raise ValueError(f"the rewards of day {day} are incomplete, or of an unknown arm")
        days.by_day[float(day)] = {arm: (int(pulls), total) for arm, (pulls, total) in rewards.items()}
    return days


def matched_from_json(parts: dict[str, Any], periods: Periods) -> Matched | None:
    """Return what a verdict compares; None if an older lowregret stored the agent, or there are many arms."""
    if "matched" not in parts:
        return None
    arms, columns = periods.counts.shape
    matched, used = new_matched(columns, arms), len(parts["factors"])
    for whole, flat in zip(matched, parts["matched"], strict=True):
        whole[:used] = np.reshape(flat, whole[:used].shape)
    return matched
