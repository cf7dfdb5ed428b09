"""A store in memory: that of an agent without a file, and the simplest example of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lowregret.errors import StoreError
from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.stores import CompactedError, Store

Snapshot: TypeAlias = tuple[int, str]
Contents: TypeAlias = tuple[str | None, Snapshot | None, Snapshot | None, int, list[Event]]
"""Header, first and latest snapshot, how many events were dropped, and the events after those."""


class MemoryStore(Store):
    """Events in a list, which end with the process; without ``history``, those of the latest session only."""

    def __init__(self, history: bool = True) -> None:
        self.history = history
        self._contents: Contents = None, None, None, 0, []
        self._staged: list[Event] = []
        self._replaced: Contents | None = None

    def session(self, timeout: float) -> MemoryStore:
        return self

    def __enter__(self) -> None:
        self._staged = []
        self._replaced = None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Commit the session in one step, so that an interrupt comes before or after it."""
        if kind is None:
            header, first, latest, dropped, events = self._replaced or self._contents
            if not self.history:
                self._contents = header, first, latest, dropped + len(events), self._staged
            elif self._replaced is None:
                events.extend(self._staged)
            else:
                self._contents = header, first, latest, dropped, events + self._staged

    def header(self) -> str | None:
        return self._contents[0]

    def create(self, header: str) -> None:
        self._replaced = header, None, None, 0, []

    def append(self, events: Sequence[Event]) -> None:
        self._staged.extend(events)

    def save_snapshot(self, position: int, snapshot: str) -> None:
        header, first, _, dropped, events = self._replaced or self._contents
        self._replaced = header, first, (position, snapshot), dropped, events

    def events(self, after: int, limit: int | None = None) -> list[Event]:
        first = after - self._contents[3]
        if first < 0:
            if not self.history:
                raise StoreError("a MemoryStore without history holds the events of its latest session only")
            raise CompactedError(f"the events up to {self._contents[3]} were replaced by a snapshot")
        return self._contents[4][first : None if limit is None else first + limit]

    def latest_snapshot(self) -> tuple[int, str] | None:
        return self._contents[2]

    def first_snapshot(self) -> tuple[int, str] | None:
        return self._contents[1]

    def events_of_decision(self, number: int) -> list[Event]:
        kinds = "asked", *ANSWERS
        return [event for event in self._contents[4] if event.decision == number and event.kind in kinds]

    def events_of_request(self, request: str) -> list[Event]:
        return [event for event in self._contents[4] if event.request == request]

    def compact(self, position: int, snapshot: str) -> None:
        header, _, latest, dropped, events = self._replaced or self._contents
        first = position, snapshot
        latest = latest if latest is not None and latest[0] > position else first
        self._replaced = header, first, latest, position, events[position - dropped :]

    def erase(self, request: str) -> None:
        header, first, latest, dropped, events = self._replaced or self._contents
        erased = [event._replace(request=None) if event.request == request else event for event in events]
        self._replaced = header, first, latest, dropped, erased
