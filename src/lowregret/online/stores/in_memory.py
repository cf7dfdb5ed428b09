"""A store in memory: that of an agent without a file, and the simplest example of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lowregret.errors import StoreError
from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.stores import CompactedError

Snapshot: TypeAlias = tuple[int, str]
Contents: TypeAlias = tuple[str | None, Snapshot | None, Snapshot | None, int, list[Event]]
"""Head, first and latest snapshot, how many events were dropped, and the events after those."""


class MemoryStore:
    """Events in a list, which end with the process.

    Parameters
    ----------
    history : bool, default True
        Whether to hold all events, from which an agent can be opened. Without history the store holds the
        events of the latest session only, so its size does not grow: for one agent, as ``Agent`` makes it.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.online.stores.in_memory import MemoryStore
    >>> store = MemoryStore()
    >>> agent = lr.open_agent(store, lr.UCB1(), ["red", "green"])
    >>> agent.tell(agent.ask(), 1)
    True
    >>> lr.open_agent(store, lr.UCB1(), ["red", "green"]).time
    1
    """

    shared = False

    def __init__(self, history: bool = True) -> None:
        self.notes: list[str] = []
        self.history = history
        self._contents: Contents = None, None, None, 0, []
        self._staged: list[Event] = []
        self._replaced: Contents | None = None

    def session(self, timeout: float) -> MemoryStore:
        """Open a session."""
        return self

    def __enter__(self) -> None:
        self._staged = []
        self._replaced = None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Commit the session in one step, so that an interrupt comes before or after it."""
        if kind is None:
            head, first, latest, dropped, events = self._replaced or self._contents
            if not self.history:
                self._contents = head, first, latest, dropped + len(events), self._staged
            elif self._replaced is None:
                events.extend(self._staged)
            else:
                self._contents = head, first, latest, dropped, events + self._staged

    def head(self) -> str | None:
        """Return the text that the agent begins with, None if it is new."""
        return self._contents[0]

    def begin(self, head: str) -> None:
        """Begin a new agent."""
        self._replaced = head, None, None, 0, []

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        self._staged.extend(events)

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the latest snapshot."""
        head, first, _, dropped, events = self._replaced or self._contents
        self._replaced = head, first, (position, snapshot), dropped, events

    def events(self, after: int, limit: int | None = None) -> list[Event]:
        """Return the events after a position, in their order."""
        first = after - self._contents[3]
        if first < 0:
            if not self.history:
                raise StoreError("a MemoryStore without history holds the events of its latest session only")
            raise CompactedError(f"the events up to {self._contents[3]} were replaced by a snapshot")
        return self._contents[4][first : None if limit is None else first + limit]

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""
        return self._contents[2]

    def first(self) -> tuple[int, str] | None:
        """Return the snapshot before the first event and its position."""
        return self._contents[1]

    def decision(self, number: int) -> list[Event]:
        """Return the event that asked for a decision and the one that answered it."""
        kinds = "asked", *ANSWERS
        return [event for event in self._contents[4] if event.decision == number and event.kind in kinds]

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""
        return [event for event in self._contents[4] if event.request == request]

    def compact(self, position: int, snapshot: str) -> None:
        """Drop the events up to a position."""
        head, _, latest, dropped, events = self._replaced or self._contents
        first = position, snapshot
        later = latest if latest is not None and latest[0] > position else first
        self._replaced = head, first, later, position, events[position - dropped :]

    def erase(self, request: str) -> None:
        """Remove the name of a request from its events."""
        head, first, latest, dropped, events = self._replaced or self._contents
        erased = [event._replace(request=None) if event.request == request else event for event in events]
        self._replaced = head, first, latest, dropped, erased

    def close(self) -> None:
        """Do nothing: nothing is open."""
