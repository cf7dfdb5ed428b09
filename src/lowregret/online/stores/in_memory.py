"""A store in memory: that of an agent without a file, and the simplest example of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lowregret.errors import StoreError
from lowregret.online.decisions import ANSWERS, Event

Contents: TypeAlias = tuple[str | None, tuple[int, str] | None, int, list[Event]]
"""Head, snapshot, how many events were dropped, and the events after those."""


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

    def __init__(self, history: bool = True) -> None:
        self.notes: list[str] = []
        self._history = history
        self._contents: Contents = None, None, 0, []
        self._staged: list[Event] = []
        self._replaced: Contents | None = None

    def session(self) -> MemoryStore:
        """Open a session."""
        return self

    def __enter__(self) -> None:
        self._staged = []
        self._replaced = None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Commit the session in one step, so that an interrupt comes before or after it."""
        if kind is None:
            head, snapshot, dropped, events = self._replaced or self._contents
            if not self._history:
                self._contents = head, snapshot, dropped + len(events), self._staged
            elif self._replaced is None:
                events.extend(self._staged)
            else:
                self._contents = head, snapshot, dropped, events + self._staged

    def head(self) -> str | None:
        """Return the text that the store begins with, None if it is new."""
        return self._contents[0]

    def begin(self, head: str) -> None:
        """Begin a new store."""
        self._replaced = head, None, 0, []

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        self._staged.extend(events)

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the snapshot."""
        head, _, dropped, events = self._replaced or self._contents
        self._replaced = head, (position, snapshot), dropped, events

    def events(self, after: int) -> list[Event]:
        """Return the events after a position, in their order."""
        first = after - self._contents[2]
        if first < 0:
            raise StoreError("a MemoryStore without history holds the events of its latest session only")
        return self._contents[3][first:]

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""
        return self._contents[1]

    def answered(self, decision: int) -> Event | None:
        """Return the event that answered a decision."""
        found = (e for e in self._contents[3] if e.decision == decision and e.kind in ANSWERS)
        return next(found, None)

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""
        return [event for event in self._contents[3] if event.request == request]

    def close(self) -> None:
        """Do nothing: nothing is open."""
