"""What an agent did over time, from its log: counts in at most ``MOST`` periods of equally many decisions."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lowregret.online.decisions import Event
from lowregret.online.stores import CompactedError

if TYPE_CHECKING:
    from lowregret.online.stores import Store

MOST = 64
"""The most periods; when there are more, each two become one."""
SHORTEST = 10
"""The decisions of a period, at first."""
CHUNK = 2_000
"""How many events are read at a time."""
AT_ONCE = 20_000
"""How many events one call reads, at most: the rest is left for the next."""
REMEMBERED = 100_000
"""Of how many unanswered decisions the arm is remembered; later answers of older ones count for no arm."""

MOST_ARMS = 100
"""Of how many arms the history is returned, at most."""


class Period:
    """A period: its decisions and known rewards by arm, and when it began and ended."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.sums: dict[str, float] = {}
        self.began: float | None = None
        self.ended: float | None = None

    def count_reward(self, arm: str, reward: float) -> None:
        """Count the reward of an arm."""
        self.told[arm] += 1
        self.sums[arm] = self.sums.get(arm, 0.0) + reward

    def add(self, other: Period) -> None:
        """Add the period that follows this one."""
        self.asked += other.asked
        self.told += other.told
        for arm, total in other.sums.items():
            self.sums[arm] = self.sums.get(arm, 0.0) + total
        self.ended = other.ended if other.ended is not None else self.ended

    def described(self, arms: set[str]) -> dict[str, Any]:
        """Return the period as JSON can represent it, with the counts of some arms, and those of all."""
        return {
            "asked": _of(arms, self.asked),
            "told": _of(arms, self.told),
            "rewards": _of(arms, self.sums),
            "all_asked": self.asked.total(),
            "all_told": self.told.total(),
            "began": self.began,
            "ended": self.ended,
        }


def _of(arms: set[str], counts: Mapping[str, Any]) -> dict[str, Any]:
    return {arm: value for arm, value in counts.items() if arm in arms}


class History:
    """The periods of an agent; its memory does not grow with the log.

    A reward counts in the period in which it was reported.

    Parameters
    ----------
    log : Store
        The store, open for reading.
    """

    def __init__(self, log: Store) -> None:
        self._log = log
        self._position = 0
        self._length = SHORTEST
        self.periods: list[Period] = [Period()]
        self._pending: OrderedDict[int, tuple[str, float | None]] = OrderedDict()
        self.counts: Counter[str] = Counter()
        self.first_asked: float | None = None
        self.last_told: float | None = None
        self.last_asked: float | None = None

    def read(self) -> bool:
        """Read new events; return whether that were all."""
        for _ in range(AT_ONCE // CHUNK):
            try:
                events = self._log.events(self._position, CHUNK)
            except CompactedError:
                first = self._log.first()
                self._position = first[0] if first else 0
                events = self._log.events(self._position, CHUNK)
            for event in events:
                self._add(event)
            self._position += len(events)
            if len(events) < CHUNK:
                return True
        return False

    def pending_since(self, moment: float) -> list[str]:
        """Return the arms of the decisions since a moment that are not answered."""
        return [arm for arm, made in self._pending.values() if made is None or made >= moment]

    def described(self, complete: bool) -> dict[str, Any]:
        """Return the history as JSON can represent it, with the arms that have the most decisions."""
        asked: Counter[str] = Counter()
        for period in self.periods:
            asked.update(period.asked)
        arms = {arm for arm, _ in asked.most_common(MOST_ARMS)}
        return {
            "complete": complete,
            "position": self._position,
            "length": self._length,
            "periods": [period.described(arms) for period in self.periods],
            "counts": {
                kind: self.counts[kind] for kind in ("asked", "told", "forgot", "expired", "conflict")
            },
            "last_asked": self.last_asked,
            "last_told": self.last_told,
        }

    def _add(self, event: Event) -> None:
        kind, number, arm = event.kind, event.decision or 0, event.arm
        if kind == "asked" and arm is not None:
            self.last_asked = event.timestamp
            self.first_asked = event.timestamp if self.first_asked is None else self.first_asked
            self._period_of_next(event.timestamp).asked[arm] += 1
            self._pending[number] = arm, event.timestamp
            if len(self._pending) > REMEMBERED:
                self._pending.popitem(last=False)
        elif kind == "told" and event.reward is not None:
            self.last_told = event.timestamp
            told = self._pending.pop(number, None)
            if told is not None:
                self.periods[-1].count_reward(told[0], event.reward)
        elif kind == "forgot":
            self._pending.pop(number, None)
        elif kind == "matured":
            self._expire(number)
        self.counts[kind] += 1

    def _expire(self, last: int) -> None:
        """End the windows of decisions; those that are still pending have expired."""
        while self._pending and next(iter(self._pending)) <= last:
            self._pending.popitem(last=False)
            self.counts["expired"] += 1

    def _period_of_next(self, moment: float | None) -> Period:
        """Return the period of the next decision."""
        if self.periods[-1].asked.total() >= self._length:
            if len(self.periods) >= MOST:
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
