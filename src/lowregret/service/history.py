"""The history of an agent, from its log: decisions and rewards in periods of equally many decisions.

An agent itself has its rewards by day (``online.daily_rewards``). Here the first hour of an agent fills the
chart as the first year does, decisions without a reward count, and periods never become many.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lowregret.online.decisions import ANSWERS, OBSERVED, Event
from lowregret.online.stores import CompactedError, retry_if_changed

if TYPE_CHECKING:
    from lowregret.online.stores import Store

MAX_HISTORY_PERIODS = 64
"""The most periods; if there are more, each two become one."""
MIN_PERIOD_DECISIONS = 10
"""The decisions of a period, before periods are joined."""
READ_EVENTS = 2_000
MAX_READ_EVENTS = 20_000
"""The most events that one call reads; the next call continues."""
MAX_PENDING = 100_000
"""The most pending decisions whose arms are remembered; rewards of older ones count for no arm."""

MAX_CHARTED_ARMS = 100


class Period:
    """A period: its decisions and rewards by arm, and when it began and ended."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.sums: defaultdict[str, float] = defaultdict(float)
        self.began: float | None = None
        self.ended: float | None = None

    def add(self, other: Period) -> None:
        """Add the period that follows this one."""
        self.asked += other.asked
        self.told += other.told
        for arm, total in other.sums.items():
            self.sums[arm] += total
        self.ended = other.ended if other.ended is not None else self.ended

    def to_dict(self, arms: set[str]) -> dict[str, Any]:
        return {
            "asked": _of(arms, self.asked),
            "told": _of(arms, self.told),
            "rewards": _of(arms, self.sums),
            "all_asked": self.asked.total(),
            "all_told": self.told.total(),
            "began": self.began,
            "ended": self.ended,
        }


def join_periods(periods: Iterable[Period]) -> Period:
    """Return one period with the counts of several that follow one another."""
    whole = Period()
    for period in periods:
        whole.add(period)
    return whole


def _of(arms: set[str], counts: Mapping[str, Any]) -> dict[str, Any]:
    return {arm: value for arm, value in counts.items() if arm in arms}


class History:
    """The periods of an agent; its memory does not grow with the log.

    If decisions have a window, rewards count in the order of the decisions: else early ones seem more
    frequent.
    """

    def __init__(self, log: Store, withdrawn: frozenset[int] = frozenset()) -> None:
        self._log, self._withdrawn = log, withdrawn
        self._position = 0
        self._length = MIN_PERIOD_DECISIONS
        self.periods: list[Period] = [Period()]
        self._pending: OrderedDict[int, tuple[str, float | None]] = OrderedDict()
        self.counts: Counter[str] = Counter()
        self.first_asked: float | None = None
        self.last_told: float | None = None
        self.last_asked: float | None = None
        self.asked_since_told = 0
        self._known: dict[int, float] = {}  # rewards of pending decisions

    @cached_property
    def settings(self) -> dict[str, Any]:
        return dict(json.loads(self._log.header() or "{}").get("made_with", {}))

    @property
    def has_window(self) -> bool:
        return bool(self.settings.get("matures_after") or self.settings.get("expires_after"))

    def read(self) -> bool:
        """Read new events; return whether the log is exhausted."""
        for _ in range(MAX_READ_EVENTS // READ_EVENTS):
            events = retry_if_changed(self._next_events)
            withdrawn = self._withdrawn.union(
                event.decision or 0 for event in events if event.kind == "withdrew"
            )
            if withdrawn != self._withdrawn:  # begin again, without them
                vars(self).update(vars(History(self._log, withdrawn)))
                continue
            for event in events:
                self._add(event)
            self._position += len(events)
            if len(events) < READ_EVENTS:
                return True
        return False

    def _next_events(self) -> list[Event]:
        try:
            return self._log.events(self._position, READ_EVENTS)
        except CompactedError:
            first = self._log.first_snapshot()
            self._position = first[0] if first else 0
            raise

    def pending_since(self, moment: float) -> list[str]:
        """Return the arms of the pending decisions since a time, or of all whose window has not ended."""
        every = self.has_window
        return [arm for arm, asked in self._pending.values() if every or asked is None or asked >= moment]

    def to_dict(self, complete: bool) -> dict[str, Any]:
        """Return the history as JSON can represent it, with the arms that have the most decisions."""
        arms = {arm for arm, _ in join_periods(self.periods).asked.most_common(MAX_CHARTED_ARMS)}
        return {
            "complete": complete,
            "position": self._position,
            "length": self._length,
            "periods": [period.to_dict(arms) for period in self.periods],
            "counts": {
                kind: self.counts[kind]
                for kind in ("asked", "observed", "told", "defaulted", "forgot", "expired", "conflict")
            },
            "last_asked": self.last_asked,
            "last_told": self.last_told,
        }

    def _add(self, event: Event) -> None:
        kind, number, arm = event.kind, event.decision or 0, event.arm
        if number in self._withdrawn and kind in ("asked", *ANSWERS):
            return
        if kind == "asked" and arm is not None:
            self.last_asked = event.timestamp
            self.first_asked = event.timestamp if self.first_asked is None else self.first_asked
            self._period_of_next(event.timestamp).asked[arm] += 1
            self.asked_since_told += 1
            self.counts["observed"] += (event.key or "").startswith(OBSERVED)
            self._pending[number] = arm, event.timestamp
            if len(self._pending) > MAX_PENDING:
                self._count(next(iter(self._pending)))
        elif kind == "told" and event.reward is not None:
            self.last_told, self.asked_since_told = event.timestamp, 0
            if number in self._pending:
                self._known[number] = event.reward
                if not self.has_window:
                    self._count(number)
        elif kind == "forgot":
            self._pending.pop(number, None)
        elif kind == "matured":
            self._end_windows(number, event.reward)
        while self._known and (first := next(iter(self._pending), 0)) in self._known:
            self._count(first)
        self.counts[kind] += 1

    def _end_windows(self, last: int, default: float | None) -> None:
        """End the windows of decisions; those without a reward count as the default, or have expired."""
        while self._pending and (first := next(iter(self._pending))) <= last:
            if first not in self._known:
                self.counts["expired" if default is None else "defaulted"] += 1
                if default is not None:
                    self._known[first] = default
            self._count(first)

    def _count(self, number: int) -> None:
        """Count the reward of a pending decision, if there is one, within its range."""
        arm, _ = self._pending.pop(number)
        reward, ends = self._known.pop(number, None), self.settings.get("reward_range")
        if reward is not None:
            self.periods[-1].told[arm] += 1
            self.periods[-1].sums[arm] += min(max(reward, ends[0]), ends[1]) if ends else reward

    def _period_of_next(self, moment: float | None) -> Period:
        """Return the period of the next decision."""
        if self.periods[-1].asked.total() >= self._length:
            if len(self.periods) >= MAX_HISTORY_PERIODS:
                for first, second in zip(self.periods[::2], self.periods[1::2], strict=True):
                    first.add(second)
                self.periods = self.periods[::2]
                self._length *= 2
            if self.periods[-1].asked.total() >= self._length:
                self.periods.append(Period())
        period = self.periods[-1]
        period.began = moment if period.began is None else period.began
        period.ended = moment if moment is not None else period.ended
        return period
