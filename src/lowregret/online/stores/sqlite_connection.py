"""The connections of a process to SQLite files, which its agents share, and which no fork carries over.

SQLite's locks belong to a process, but a fork copies its table of them. A child that uses or closes what it
has inherited, or that opens a file which that table lists, writes without locks. So all connections are
closed before a fork, and opened again when parent or child need them.
"""

import ctypes
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any
from weakref import WeakSet

from lowregret.errors import StoreError
from lowregret.online.stores import TIMEOUT, LostError


class Connection:
    """A connection to an SQLite file; after a fork its calls raise ``LostError``."""

    def __init__(self, place: Path, mode: str) -> None:
        if _unusable:
            raise StoreError(
                "this process was forked while another thread used SQLite: open agents before the threads "
                "start, or start processes by spawn"
            )
        self.wait, self.closed = TIMEOUT, False
        self.files: list[tuple[str, os.stat_result]] = []
        self.raw: sqlite3.Connection | None = None
        self.lock = RLock()  # so that a signal handler may fork
        with _lock:
            with suppress(OSError):  # of which SQLite will tell
                self.files = [(str(place), os.stat(place))]
                if not is_open_here(self.files[0][1]):
                    _check_wal(place)
            _connections.add(self)
        uri = f"{place.as_uri()}?mode={mode}"
        with self.lock:
            try:
                if not self.closed:
                    self.raw = sqlite3.connect(
                        uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False
                    )
            finally:
                self.closed = self.raw is None

    def execute(
        self, query: str, values: Sequence[Any] = (), rows: Iterable[Sequence[Any]] | None = None
    ) -> list[tuple[Any, ...]]:
        """Execute a statement, or one for each of some rows; return the rows that it selects."""
        with self.lock:
            if self.raw is None:
                raise LostError("this process was forked during the call, and nothing was stored: try again")
            try:
                if rows is not None:
                    return self.raw.executemany(query, rows).fetchall()
                return self.raw.execute(query, values).fetchall()
            except UnicodeDecodeError:  # of SQLite's message, which quotes a damaged table
                raise sqlite3.DatabaseError("database disk image is malformed") from None

    @property
    def in_transaction(self) -> bool:
        return self.raw is not None and self.raw.in_transaction

    def remember_files_beside(self) -> None:
        """Remember the files that SQLite has opened beside the store, by which a deletion is noticed."""
        real = os.path.realpath(self.files[0][0])
        for beside in (f"{real}-wal", f"{real}-shm"):
            with suppress(FileNotFoundError):
                self.files.append((beside, os.stat(beside)))

    def is_of(self, status: os.stat_result) -> bool:
        """Return whether it is a connection to a file."""
        return bool(self.files) and os.path.samestat(self.files[0][1], status)

    def is_current(self, first: int = 0) -> bool:
        """Return whether it is open, and its files, from one on, are still those of their names."""
        try:
            for path, before in self.files[first:]:
                now = os.stat(path)
                if now.st_ino != before.st_ino or now.st_dev != before.st_dev:
                    return False
        except OSError:
            return False
        return not self.closed

    def close(self) -> None:
        """Close the connection, and roll back its transaction."""
        with self.lock:
            raw, self.raw, self.closed = self.raw, None, True
            if raw is not None:
                raw.close()


def is_open_here(status: os.stat_result) -> bool:
    """Return whether this process has a file open: to read and close it otherwise would drop its locks."""
    with _lock:
        files = [connection.files for connection in _connections if not connection.closed]
    return any(os.path.samestat(status, paths[0][1]) for paths in files if paths)


def is_outdated_here(status: os.stat_result) -> bool:
    """Return whether this process has a connection to a file whose files beside it were deleted."""
    with _lock:
        connections = [connection for connection in _connections if not connection.closed]
    return any(connection.is_of(status) and not connection.is_current() for connection in connections)


def _check_wal(place: Path) -> None:
    """Reject a file that a backup has replaced while what SQLite has beside it was left in its place.

    A backup has no WAL, and says so in its header: bytes 18 and 19 are 2 in a file that has one.
    """
    wal = f"{os.path.realpath(place)}-wal"
    if os.path.exists(wal) and os.path.getsize(wal) > 0:
        with open(place, "rb") as file:
            header = file.read(20)
        if header[18:20] == b"\1\1":
            raise StoreError(
                f"{str(place)!r} was replaced by a copy, and {wal!r} is of the old file: delete it, or use "
                "'lowregret agent restore'"
            )


_connections: WeakSet[Connection] = WeakSet()
_lock = RLock()  # held during a fork, which a signal handler may make, so that no connection is opened
_in_use: list[sqlite3.Connection | None] = []  # connections that could not be closed before a fork
_unusable = False


def _close_before_fork() -> None:
    """Close all connections; a transaction that another thread has begun is rolled back, and repeated."""
    _lock.acquire()
    start = monotonic()
    for connection in list(_connections):
        if connection.lock.acquire(timeout=max(0.0, start + connection.wait - monotonic())):
            with suppress(sqlite3.Error):
                connection.close()
            connection.lock.release()
        else:
            _in_use.append(connection.raw)


def _after_fork_in_parent() -> None:
    _in_use.clear()
    _lock.release()


def _after_fork_in_child() -> None:
    """Refuse SQLite if another thread was in it: its locks would never be released."""
    global _unusable
    _unusable = _unusable or bool(_in_use)
    for raw in _in_use:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(raw))  # so that the end of the process does not close it
    for connection in list(_connections):
        connection.lock, connection.raw, connection.closed = RLock(), None, True
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_close_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
