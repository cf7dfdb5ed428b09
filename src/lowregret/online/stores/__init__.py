"""Where an agent keeps its events. A store only appends them and gives them back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from lowregret.errors import StoreError
from lowregret.online.decisions import Event


class Store(Protocol):
    """What a store can do; ``lowregret.testing.check_store`` holds one to it.

    Events have positions 1, 2, 3 and so on. What is written in a session (``begin``, ``append``, ``keep``) is
    durable, all of it, when the session ends; if the session or its end raises, none of it is there. Where
    several processes may share a store, a session keeps the others out.

    Attributes
    ----------
    notes : list of str
        What was found when the store was opened, such as a torn end.
    """

    notes: list[str]

    def session(self) -> AbstractContextManager[None]:
        """Open a session."""

    def head(self) -> str | None:
        """Give the text with which the store began, None if it is new."""

    def begin(self, head: str) -> None:
        """Begin a new store; within a session."""

    def append(self, events: Sequence[Event]) -> None:
        """Append events; within a session."""

    def keep(self, position: int, snapshot: str) -> None:
        """Keep a snapshot of the state after so many events, in place of the one before; within a session."""

    def events(self, after: int) -> list[Event]:
        """Give the events after a position, in their order."""

    def latest(self) -> tuple[int, str] | None:
        """Give the latest snapshot and its position."""

    def answered(self, decision: int) -> Event | None:
        """Give the event that told or gave up a decision."""

    def requested(self, request: str) -> list[Event]:
        """Give the events that a request led to."""

    def close(self) -> None:
        """Let go of all that is open."""


def check_place(path: Path, known: os.stat_result) -> None:
    """Refuse a file that is no longer the one that was opened: what is written to that is lost."""
    try:
        same = os.path.samestat(os.stat(path), known)
    except OSError:
        same = False
    if not same:
        raise StoreError(f"{str(path)!r} was moved or deleted while it was open: open the agent again")
