"""The rewards of an agent by period, where means are adjusted for it: the estimates are those of simulations.

The arrays of ``Periods`` grow with the number of periods. A period of a time has a place in them once a
reward counts in it, so that a time without decisions takes no room. A verdict compares the rewards of each
pair of arms, matched by period: see ``analysis.matched_rewards``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.analysis.matched_rewards import FIRST_REWARDS, Matched, match, match_all, new_matched
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
from lowregret.online.decisions import Decision, decision_number

MONDAY = -3 * 86_400.0
"""From when periods of a time are counted: Monday, 29 December 1969, at midnight UTC."""
FIRST_PERIODS = 16
"""How many periods a new agent has room for; it doubles when there are more."""
MAX_MATCHED = 20
"""Up to how many arms the rewards of pairs are matched: each period has four numbers for each pair."""
SETTLE_EVERY = 256
"""After how many rewards these are matched, at least."""
ESTIMATES = "arms", "factors", "excess", "state", "seen"
"""The fields of ``Periods`` that are computed anew as rewards become known."""
JSON_TYPES = {
    "matched": [[float]], "sums": [[float]], "counts": [[int]], "totals": [[float]], "exposure": [float],
    "factors": [float], "excess": [float], "state": [int], "dates": [float],
}  # fmt: skip
"""The types of what a snapshot has beside the rows of the arms."""


class PeriodRewards(NamedTuple):
    """The number of rewards and their sums, a row for each arm in the order of addition, a column a period.

    ``starts`` are times in seconds, or the first decisions of periods of a number of decisions.
    """

    starts: list[float]
    counts: Floats
    totals: Floats


class Matching(NamedTuple):
    """What a verdict compares, and rewards that are yet to be matched: number of the arm, period, reward."""

    matched: Matched
    rewards: list[tuple[int, int, float]]


class LivePeriods:
    """The rewards of an agent by period, which ``AgentState`` saves, restores and commits.

    ``dates`` has the place of each period of a time. ``matching`` is None with too many arms. ``_undo`` has
    what rewards since ``save`` have changed in the arrays, None if nobody will restore it.
    """

    __slots__ = ("_length", "_settings", "_undo", "dates", "matching", "periods")

    def __init__(self, settings: Settings) -> None:
        assert settings.period is not None
        self._settings, self._length = settings, settings.period
        length = self._length if isinstance(self._length, int) else 1
        self.periods = new_periods(length, len(settings.arms), FIRST_PERIODS)
        self.matching = None if len(settings.arms) > MAX_MATCHED else Matching(self._new_matched(), [])
        self.dates: dict[int, int] = {}
        self._undo: list[tuple[Any, ...]] | None = None

    def add_arm(self, number: int, compiled: bool) -> None:
        """Make room for an arm; rewards from before it was added are not compared with its own."""
        if number >= len(self.periods.counts):
            self.periods = _grown(self.periods, number + 1, 0)
            self.settle(compiled)
            self._fit_matching()

    def add(self, decision: Decision, number: int, reward: float, scaled: float) -> None:
        """Let the next reward of arm ``number`` be one of the period of its decision."""
        t = decision_number(decision.id)
        if isinstance(self._length, timedelta):
            date = date_of(decision.timestamp, self._length)
            if date not in self.dates:
                self.dates = {**self.dates, date: len(self.dates) + 1}
            t = self.dates[date]
        cell = number, (t - 1) // self.periods.length
        if cell[1] >= self.periods.counts.shape[1]:
            self.periods = _grown(self.periods, 0, cell[1] + 1)
            self._fit_matching()
        elif self._undo == []:  # the first reward since ``save``, which holds the former estimates
            estimates = {name: getattr(self.periods, name).copy() for name in ESTIMATES}
            self.periods = self.periods._replace(**estimates)
        if self._undo is not None:
            self._undo += [(array, cell, array[cell]) for array in (self.periods.counts, self.periods.totals)]
        if self.matching is not None:
            matched, rewards = self.matching
            if rewards or self.periods.arms[:, PULLS].sum() >= FIRST_REWARDS:
                if not rewards or rewards[-1][1] != cell[1]:
                    self._begin_period(matched.before, cell[1])
                rewards.append((*cell, scaled))
        self.periods.enter(t)

    def _begin_period(self, before: Floats, period: int) -> None:
        """Set the pulls and sums of the arms before a period, unless it has begun already."""
        if not before[period].any():
            if self._undo is not None:
                self._undo += [(before, period, before[period].copy())]
            before[period] = self.periods.counts.sum(axis=1), self.periods.arms[:, TOTAL]

    def save(self) -> tuple[Any, ...]:
        self._undo = []
        size = 0 if self.matching is None else len(self.matching.rewards)
        return self.periods, self.matching, self.dates, self._undo, size

    def restore(self, saved: tuple[Any, ...]) -> None:
        self.periods, self.matching, self.dates, self._undo, size = saved
        for array, cell, before in reversed(self._undo or ()):
            array[cell] = before
        if self.matching is not None:
            del self.matching.rewards[size:]

    def commit(self, compiled: bool) -> None:
        """Make changes permanent, and match rewards if there are many, since that copies the arrays."""
        self._undo = None
        if self.matching is not None:
            many = max(SETTLE_EVERY, self.matching.matched.used.size // 16)
            if len(self.matching.rewards) >= many:
                self.settle(compiled)

    def settle(self, compiled: bool) -> Matched | None:
        """Match the rewards that are yet to be matched, in one step that no interrupt divides."""
        if self.matching is None:
            return None
        if self.matching.rewards:
            matched = Matched(*(values.copy() for values in self.matching.matched))
            if compiled:
                numbers, periods, rewards = zip(*self.matching.rewards, strict=True)
                match_all(*matched, np.array(numbers), np.array(periods), np.array(rewards, dtype=float))
            else:
                for reward in self.matching.rewards:
                    match(matched, *reward)
            self.matching = Matching(matched, [])
        return self.matching.matched

    def _fit_matching(self) -> None:
        """Fit the sums that a verdict compares to the arms and periods; drop them for too many arms."""
        if self.matching is not None:
            larger = self._new_matched()
            for new, old in zip(larger, self.matching.matched, strict=True):
                new[tuple(map(slice, old.shape))] = old
            few = len(self.periods.counts) <= MAX_MATCHED
            self.matching = Matching(larger, self.matching.rewards) if few else None

    def _new_matched(self) -> Matched:
        arms, columns = self.periods.counts.shape
        return new_matched(columns, arms)

    def table(self, numbers: dict[str, int]) -> PeriodRewards:
        periods = self.periods
        if isinstance(self._length, timedelta):
            dates = sorted(self.dates)
            columns = np.array([self.dates[date] - 1 for date in dates], np.int64)
            starts = [MONDAY + date * self._length.total_seconds() for date in dates]
        else:
            columns = np.flatnonzero(periods.counts.any(axis=0))
            starts = (columns * periods.length + 1.0).tolist()
        return PeriodRewards(starts, periods.counts[:, columns], periods.totals[:, columns])

    def to_json(self, compiled: bool) -> dict[str, Any]:
        """Return what a snapshot has of it beside the rows of the arms."""
        periods, matched = self.periods, self.settle(compiled)
        used = int(periods.state[LATEST]) + 1  # columns that hold periods
        data: dict[str, Any] = {}
        if matched is not None:
            data["matched"] = [values[:used].ravel().tolist() for values in matched]
        data |= {
            "counts": periods.counts[:, :used].astype(np.int64).tolist(),
            "totals": periods.totals[:, :used].tolist(),
            "sums": periods.arms[:, : SQUARES + 1].tolist(),
            "exposure": periods.arms[:, EXPOSURE].tolist(),
            "factors": periods.factors[:used].tolist(),
            "excess": periods.excess.tolist(),
            "state": periods.state.tolist(),
            "dates": [*self.dates],
        }
        return {"periods": data}

    def read_json(self, parts: dict[str, Any]) -> None:
        """Set the rewards to those of a snapshot; a ``ValueError`` says what is damaged."""
        keys = "number", "pulls", "total", "squares"
        columns = [np.array(parts["arms"][key] + parts["retired"][key]) for key in keys]
        order = np.argsort(columns[0])
        pulls, *sums = (
            column[order] for column in columns[1:]
        )  # 0.1.0 stored these about 0, and nowhere else
        stored = {"sums": np.transpose(sums), **parts["periods"]}
        size, used = len(order), len(stored["factors"])
        shapes = {"counts": (size, used), "totals": (size, used), "exposure": (size,), "factors": (used,)}
        for key, shape in {**shapes, "sums": (size, 2), "excess": (1,), "state": (5,)}.items():
            if np.shape(stored[key]) != shape:
                raise ValueError(f"{key} of periods must have the shape {shape}, got {np.shape(stored[key])}")
        periods = self.periods = _grown(self.periods, size, used)
        periods.counts[:, :used], periods.totals[:, :used] = stored["counts"], stored["totals"]
        periods.arms[:, [TOTAL, SQUARES]] = stored["sums"]
        periods.arms[:, EXPOSURE], periods.arms[:, PULLS] = stored["exposure"], pulls
        periods.factors[:used] = stored["factors"]
        periods.excess[:], periods.state[:] = stored["excess"], stored["state"]
        if (periods.counts.sum(axis=1) != pulls).any() or periods.state[LATEST] + 1 != used:
            raise ValueError("the arms have other numbers of pulls in their periods than in total")
        if not periods.factors.all() or (periods.arms[pulls > 0, EXPOSURE] <= 0.0).any():
            raise ValueError("a factor of a period is 0")
        adjust_all(periods, self._settings.policy.warmup)
        self.dates = {int(date): place for place, date in enumerate(stored["dates"], 1)}
        self.matching = None  # as in 0.1.0, and with many arms
        if "matched" in stored:
            matched = self._new_matched()
            for whole, flat in zip(matched, stored["matched"], strict=True):
                whole[:used] = np.reshape(flat, whole[:used].shape)
            self.matching = Matching(matched, [])


def date_of(timestamp: float | None, length: timedelta) -> int:
    """Return the number of the period of a moment."""
    return int(((timestamp or 0.0) - MONDAY) // length.total_seconds())


def _grown(periods: Periods, arms: int, columns: int) -> Periods:
    """Return a copy that has room for so many arms and periods at least."""
    rows, before = periods.counts.shape
    columns = before if columns <= before else max(2 * before, columns)
    copy = new_periods(periods.length, max(rows, arms), columns)
    for new, old in zip(copy[1:], periods[1:], strict=True):
        new[tuple(map(slice, old.shape))] = old
    return copy


def compile_matching() -> None:
    """Compile what matches rewards, or load its code, so that no call has to wait for it later."""
    none = np.zeros(0, np.int64)
    match_all(*new_matched(2, 2), none, none, np.zeros(0))
