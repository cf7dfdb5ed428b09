"""Stores hold the events of agents. A store only appends events and returns them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from time import time
from typing import TypeVar

from lowregret.errors import StoreError
from lowregret.online.decisions import Event

CHUNK_EVENTS = 10_000
"""How many events are read at a time."""
TIMEOUT = 60.0
"""How many seconds a call waits for other threads and processes, if nothing else is said."""
ATTEMPTS = 5
"""How often a call begins again after others have compacted the log, or taken decisions out of it."""

T = TypeVar("T")


class ChangedError(StoreError):
    """The log is not what it was when a call began: begin again."""


class CompactedError(ChangedError):
    """Events that a store no longer holds: its first snapshot has replaced them."""


class NewerError(StoreError):
    """A newer version wrote it, and this one cannot read it: nothing is damaged."""


class UnreachableError(StoreError):
    """No server answers; the message has its address."""


class LostError(StoreError):
    """The connection to a store was lost, and nothing of the session was stored: it may be repeated."""


class Store(ABC):
    """The base of a store, as one agent uses it; ``lowregret.testing.StoreTests`` tests a class of your own.

    Events have the positions 1, 2, 3 and so on. A session is atomic: what ``create``, ``append``,
    ``save_snapshot``, ``compact`` and ``erase`` write in it is durable when it ends, and discarded if it
    raises. Where several processes share a store, the sessions of an agent exclude one another.

    A session that raises ``LostError`` has stored nothing; an agent repeats its transaction in another one.

    Attributes
    ----------
    name : str or None
        The name of the agent, None if it has none.
    title : str
        What error messages call the store, such as its file.
    notes : sequence of str
        What was found when the store was opened, such as a setting of a server that risks data.
    shared : bool
        Whether other processes may append events.
    history : bool
        Whether the store holds all events that were not compacted, and not those of the latest session only.
    time : callable
        Returns the seconds since 1970 (UTC), of the server where several hosts share the store.
    """

    name: str | None = None
    title: str = "the store"
    notes: Sequence[str] = ()
    shared = False
    history = True
    time: Callable[[], float] = staticmethod(time)

    @abstractmethod
    def session(self, timeout: float) -> AbstractContextManager[None]:
        """Open a session; wait at most so many seconds for others."""

    @abstractmethod
    def header(self) -> str | None:
        """Return what ``create`` stored for the agent, None if it is new."""

    @abstractmethod
    def create(self, header: str) -> None:
        """Create the agent, with a header from which it is opened; within a session."""

    @abstractmethod
    def append(self, events: Sequence[Event]) -> None:
        """Append events; within a session."""

    @abstractmethod
    def save_snapshot(self, position: int, snapshot: str) -> None:
        """Replace the latest snapshot by that of the state after so many events; within a session."""

    @abstractmethod
    def events(self, after: int, limit: int | None = None) -> list[Event]:
        """Return the events after a position in their order, at most ``limit`` of them.

        Raises ``CompactedError`` if some of them were replaced by the first snapshot.
        """

    @abstractmethod
    def latest_snapshot(self) -> tuple[int, str] | None:
        """Return the position and the text of the latest snapshot."""

    @abstractmethod
    def first_snapshot(self) -> tuple[int, str] | None:
        """Return the snapshot before the first event and its position, None if no event was dropped."""

    @abstractmethod
    def events_of_decision(self, number: int) -> list[Event]:
        """Return the event that asked for a decision and the one that answered it, as far as they exist."""

    @abstractmethod
    def events_of_request(self, request: str) -> list[Event]:
        """Return the events of a request."""

    @abstractmethod
    def compact(self, position: int, snapshot: str) -> None:
        """Replace the events up to a position by the snapshot of the state there; within a session."""

    @abstractmethod
    def erase(self, request: str) -> None:
        """Remove the name of a request from its events; within a session."""

    def events_of_requests(self, requests: Sequence[str]) -> list[Event]:
        """Return the events of several requests; calls that share a session look up theirs at once."""
        return [event for request in requests for event in self.events_of_request(request)]

    def names(self) -> list[str]:
        """Return the names of the agents in the file or database, in the order of their creation."""
        return []

    def check_space(self) -> None:
        """Raise ``StoreError`` if there is no space to write; a store that cannot know does nothing."""
        return

    def close(self) -> None:
        """Close the store; a store in which nothing is open does nothing."""
        return


def check_format(title: str, number: int, supported: int) -> None:
    """Reject a store of another format than the one that this version reads."""
    if number != supported:
        error, remedy = StoreError, "use the version that wrote it"
        if number > supported:
            error, remedy = NewerError, "a newer one wrote it, so upgrade this host"
        raise error(f"{title} has format {number}, and this lowregret reads {supported}: {remedy}")


def retry_if_changed(function: Callable[[], T]) -> T:
    """Call a function that reads a log; again if others compact it or take decisions out of it meanwhile."""
    for _ in range(ATTEMPTS):
        with suppress(ChangedError):
            return function()
    raise StoreError("other processes compact this log, or take decisions out of it, all the time: try again")


def all_events(store: Store, after: int | None = None, stop: int | None = None) -> Iterator[Event]:
    """Yield the events after a position up to another one: by default all that the store holds."""
    if after is None:
        first = store.first_snapshot()
        after = 0 if first is None else first[0]
    while stop is None or after < stop:
        events = store.events(after, CHUNK_EVENTS if stop is None else min(CHUNK_EVENTS, stop - after))
        if not events:
            return
        yield from events
        after += len(events)
