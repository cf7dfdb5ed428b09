"""Stores hold the events of an agent. A store only appends events and returns them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from lowregret.errors import StoreError
from lowregret.online.decisions import Event


class Store(Protocol):
    """The interface of a store; ``lowregret.testing.check_store`` tests one against it.

    Events have the positions 1, 2, 3 and so on. A session is atomic: what ``begin``, ``append`` and ``keep``
    write in it is durable when it ends, and discarded if it raises. Where several processes share a store,
    sessions exclude one another.

    Attributes
    ----------
    notes : list of str
        What was found when the store was opened, such as an incomplete record.
    """

    notes: list[str]

    def session(self) -> AbstractContextManager[None]:
        """Open a session."""

    def head(self) -> str | None:
        """Return the text that the store begins with, None if it is new."""

    def begin(self, head: str) -> None:
        """Begin a new store; within a session."""

    def append(self, events: Sequence[Event]) -> None:
        """Append events; within a session."""

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the snapshot by that of the state after so many events; within a session."""

    def events(self, after: int) -> list[Event]:
        """Return the events after a position, in their order."""

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""

    def answered(self, decision: int) -> Event | None:
        """Return the event that answered a decision: its reward, or that it was discarded."""

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""

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
