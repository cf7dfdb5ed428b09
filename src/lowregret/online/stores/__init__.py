"""Stores hold the events of agents. A store only appends events and returns them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from lowregret.errors import StoreError
from lowregret.online.decisions import Event

TIMEOUT = 60.0
"""How many seconds a call waits for other threads and processes, if nothing else is said."""


class CompactedError(StoreError):
    """Events that a store no longer holds: its first snapshot has replaced them."""


class LostError(StoreError):
    """The connection to a store was lost, and nothing of the session was stored: it may be repeated."""


class Store(Protocol):
    """The interface of a store, as one agent uses it; ``lowregret.testing.check_store`` tests one against it.

    Events have the positions 1, 2, 3 and so on. A session is atomic: what ``begin``, ``append``, ``keep``,
    ``compact`` and ``erase`` write in it is durable when it ends, and discarded if it raises. Where several
    processes share a store, the sessions of an agent exclude one another.

    A session that raises ``LostError`` has stored nothing; an agent repeats its transaction in another one.

    A store may also have ``requested_among(requests)``, which returns the events of several requests in their
    order. Calls that share a transaction then ask it once, and not ``requested`` for each of them.

    Attributes
    ----------
    notes : list of str
        What was found when the store was opened, such as an incomplete record.
    shared : bool
        Whether other processes may append events.
    """

    notes: list[str]
    shared: bool

    def session(self, timeout: float) -> AbstractContextManager[None]:
        """Open a session; wait at most so many seconds for others."""

    def head(self) -> str | None:
        """Return the text that the agent begins with, None if it is new."""

    def begin(self, head: str) -> None:
        """Begin a new agent; within a session."""

    def append(self, events: Sequence[Event]) -> None:
        """Append events; within a session."""

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the latest snapshot by that of the state after so many events; within a session."""

    def events(self, after: int, limit: int | None = None) -> list[Event]:
        """Return the events after a position in their order, at most ``limit`` of them.

        Raises ``CompactedError`` if some of them were replaced by the first snapshot.
        """

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""

    def first(self) -> tuple[int, str] | None:
        """Return the snapshot before the first event and its position, None if no event was dropped."""

    def decision(self, number: int) -> list[Event]:
        """Return the event that asked for a decision and the one that answered it, as far as they exist."""

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""

    def compact(self, position: int, snapshot: str) -> None:
        """Drop the events up to a position, and keep the snapshot of the state there; within a session."""

    def erase(self, request: str) -> None:
        """Remove the name of a request from its events; within a session."""

    def close(self) -> None:
        """Close whatever is open."""


def check_place(path: Path, known: os.stat_result) -> None:
    """Reject a file that was replaced since it was opened: what is written to it would be lost."""
    try:
        same = os.path.samestat(os.stat(path), known)
    except OSError:
        same = False
    if not same:
        raise StoreError(f"{str(path)!r} was moved or deleted while it was open: open the agent again")


def changed_at(folder: str) -> int:
    """Return when a folder was changed, in nanoseconds; -1 if it is gone."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return -1
