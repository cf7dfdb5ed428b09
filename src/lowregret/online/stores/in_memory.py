"""A store in memory: that of an agent without a file, and the simplest example of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from lowregret.errors import StoreError
from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.stores import CompactedError, Store

Snapshot: TypeAlias = tuple[int, str]


class Contents(NamedTuple):
    """What a store holds; ``dropped`` is the number of events that the first snapshot has replaced."""

    header: str | None
    first: Snapshot | None
    latest: Snapshot | None
    dropped: int
    events: list[Event]


class MemoryStore(Store):
    """Events in a list, which end with the process; without ``history``, those of the latest session only."""

    def __init__(self, history: bool = True) -> None:
        self.history = history
        self._contents = Contents(None, None, None, 0, [])
        self._staged: list[Event] = []
        self._replaced: Contents | None = None  # by the present session

    def session(self, timeout: float) -> MemoryStore:
        return self

    def __enter__(self) -> None:
        self._staged = []
        self._replaced = None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Commit the session in one step, so that an interrupt comes before or after it."""
        if kind is None:
            contents = self._staged_contents()
            if not self.history:
                header, first, latest, dropped, events = contents  # quicker than _replace
                self._contents = Contents(header, first, latest, dropped + len(events), self._staged)
            elif self._replaced is None:
                contents.events.extend(self._staged)
            else:
                self._contents = contents._replace(events=contents.events + self._staged)

    def _staged_contents(self) -> Contents:
        """Return the contents as the present session leaves them, without the events that it appends."""
        return self._contents if self._replaced is None else self._replaced

    def header(self) -> str | None:
        return self._contents.header

    def create(self, header: str) -> None:
        self._replaced = Contents(header, None, None, 0, [])

    def append(self, events: Sequence[Event]) -> None:
        self._staged.extend(events)

    def save_snapshot(self, position: int, snapshot: str) -> None:
        self._replaced = self._staged_contents()._replace(latest=(position, snapshot))

    def events(self, after: int, limit: int | None = None) -> list[Event]:
        first = after - self._contents.dropped
        if first < 0:
            if not self.history:
                raise StoreError("a MemoryStore without history holds the events of its latest session only")
            raise CompactedError(f"the events up to {self._contents.dropped} were replaced by a snapshot")
        return self._contents.events[first : None if limit is None else first + limit]

    def latest_snapshot(self) -> tuple[int, str] | None:
        return self._contents.latest

    def first_snapshot(self) -> tuple[int, str] | None:
        return self._contents.first

    def events_of_decision(self, number: int) -> list[Event]:
        kinds = "asked", *ANSWERS
        return [event for event in self._contents.events if event.decision == number and event.kind in kinds]

    def events_of_request(self, request: str) -> list[Event]:
        return [event for event in self._contents.events if event.request == request]

    def compact(self, position: int, snapshot: str) -> None:
        contents, first = self._staged_contents(), (position, snapshot)
        later = contents.latest is not None and contents.latest[0] > position
        self._replaced = contents._replace(
            first=first,
            latest=contents.latest if later else first,
            dropped=position,
            events=contents.events[position - contents.dropped :],
        )

    def erase(self, request: str) -> None:
        contents = self._staged_contents()
        events = [
            event._replace(request=None) if event.request == request else event for event in contents.events
        ]
        self._replaced = contents._replace(events=events)
