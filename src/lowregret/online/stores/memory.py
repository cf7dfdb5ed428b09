"""A store in memory: the plainest one, to see what a store is and to test with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lowregret.online.decisions import Event


class MemoryStore:
    """Events in a list; gone with the process.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.online.stores.memory import MemoryStore
    >>> store = MemoryStore()
    >>> agent = lr.open_agent(store, lr.UCB1(), ["red", "green"])
    >>> agent.tell(agent.ask(), 1)
    True
    >>> lr.open_agent(store, lr.UCB1(), ["red", "green"]).time
    1
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._state: tuple[str | None, list[Event], tuple[int, str] | None] = None, [], None

    @contextmanager
    def session(self) -> Iterator[None]:
        """Open a session."""
        head, events, snapshot = self._state
        before = head, list(events), snapshot
        try:
            yield
        except BaseException:
            self._state = before
            raise

    def head(self) -> str | None:
        """Give the text with which the store began, None if it is new."""
        return self._state[0]

    def begin(self, head: str) -> None:
        """Begin a new store."""
        self._state = head, [], None

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        self._state[1].extend(events)

    def keep(self, position: int, snapshot: str) -> None:
        """Keep a snapshot."""
        self._state = *self._state[:2], (position, snapshot)

    def events(self, after: int) -> list[Event]:
        """Give the events after a position, in their order."""
        return self._state[1][after:]

    def latest(self) -> tuple[int, str] | None:
        """Give the latest snapshot and its position."""
        return self._state[2]

    def answered(self, decision: int) -> Event | None:
        """Give the event that told or gave up a decision."""
        found = (e for e in self._state[1] if e.decision == decision and e.kind in ("told", "forgot"))
        return next(found, None)

    def requested(self, request: str) -> list[Event]:
        """Give the events that a request led to."""
        return [event for event in self._state[1] if event.request == request]

    def close(self) -> None:
        """Do nothing: there is nothing open."""
