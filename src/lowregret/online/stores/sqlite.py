"""A store in one SQLite file, which several processes may share.

==========  ==================================================================================
``head``    the arguments that the agent was created with
``log``     one row per event, numbered from 1; rows are never changed and never deleted
``latest``  the latest snapshot
==========  ==================================================================================
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from lowregret._common.durable_files import as_store_error, sync
from lowregret.errors import StoreError
from lowregret.online.decisions import Event
from lowregret.online.stores import check_place

PATIENCE = 60.0
"""How many seconds to wait for other processes."""
PAUSE = 0.001
"""How many seconds between attempts; SQLite's own pauses grow to 0.1 s, which starves some processes."""
OURS = 0x6C6F7772
"""The application id in the header of our SQLite files."""

TABLES = """
CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL);
CREATE TABLE latest (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE log (
    position INTEGER PRIMARY KEY, kind TEXT NOT NULL, decision INTEGER, arm TEXT, reward REAL,
    time INTEGER, propensity REAL, drawn INTEGER, request TEXT
);
CREATE UNIQUE INDEX asked ON log (decision) WHERE kind = 'asked';
CREATE UNIQUE INDEX answered ON log (decision) WHERE kind IN ('told', 'forgot');
CREATE INDEX requested ON log (request) WHERE request IS NOT NULL;
"""
EVENT = ", ".join(Event._fields)


class SQLiteStore:
    """A store in an SQLite file.

    Parameters
    ----------
    path : path
        The file; created if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.notes: list[str] = []
        self._path, self._process, self._place = path, os.getpid(), path.absolute()
        self._staged: list[tuple[str, Sequence[Sequence[Any]]]] = []
        self._known: os.stat_result | None = None
        new = not path.exists()
        with self._translating_errors():
            self._link = sqlite3.connect(  # by the absolute path: to SQLite ":memory:" is no file
                self._place, timeout=0, isolation_level=None, check_same_thread=False
            )
            try:
                self._set_up()
                with as_store_error(path):
                    self._known = os.stat(self._place)
                    if new:
                        sync(self._place.parent)
            except BaseException:
                self._link.close()
                raise

    def _set_up(self) -> None:
        """Create the tables if they do not exist."""
        with self.session():
            mark = self._one("PRAGMA application_id")[0]
            if mark != OURS:
                if mark or self._one("SELECT count(*) FROM sqlite_master")[0]:
                    raise StoreError(
                        f"{str(self._path)!r} is an SQLite file, but not of an agent: use another"
                    )
                for statement in TABLES.split(";"):
                    self._link.execute(statement)
                self._link.execute(f"PRAGMA application_id = {OURS}")
        self._retrying(self._link.execute, "PRAGMA journal_mode = WAL")
        self._link.execute("PRAGMA synchronous = FULL")  # a commit waits for the disk

    def session(self) -> AbstractContextManager[None]:
        """Open a session; other processes wait, and its end waits for the disk."""
        return _Session(self)

    def _enter(self) -> None:
        if self._known is not None:
            check_place(self._place, self._known)
        with self._translating_errors():
            self._link.rollback()  # left open by an interrupt
            self._staged = []
            self._retrying(self._link.execute, "BEGIN IMMEDIATE")

    def _commit(self) -> None:
        with self._translating_errors():
            for statement, rows in self._staged:
                self._link.executemany(statement, rows)
            self._retrying(self._link.commit)

    def _roll_back(self) -> None:
        """Roll back what was not committed."""
        if os.getpid() == self._process:
            with suppress(sqlite3.Error):
                self._link.rollback()

    def head(self) -> str | None:
        """Return the text that the store begins with, None if it is new."""
        found = self._one("SELECT text FROM head")
        return found[0] if found else None

    def begin(self, head: str) -> None:
        """Begin a new store."""
        self._staged.append(("INSERT INTO head VALUES (1, ?)", [(head,)]))

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        self._staged.append((f"INSERT INTO log ({EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", events))

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the snapshot."""
        self._staged.append(("INSERT OR REPLACE INTO latest VALUES (1, ?, ?)", [(position, snapshot)]))

    def events(self, after: int) -> list[Event]:
        """Return the events after a position, in their order."""
        first = max(after, 1)  # the last known one must still exist
        rows = self._rows(f"SELECT {EVENT}, position FROM log WHERE position >= ? ORDER BY position", first)
        positions = [row[-1] for row in rows]
        if positions != list(range(first, first + len(rows))) or (after and not rows):
            raise StoreError(f"{str(self._path)!r} has lost rows of its log: restore it from a copy")
        return [Event(*row[:-1]) for row in rows if row[-1] > after]

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""
        found = self._one("SELECT position, text FROM latest")
        return (found[0], found[1]) if found else None

    def answered(self, decision: int) -> Event | None:
        """Return the event that answered a decision."""
        found = self._events("decision = ? AND kind IN ('told', 'forgot')", decision)
        return found[0] if found else None

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""
        return self._events("request = ? ORDER BY position", request)

    def close(self) -> None:
        """Close the file."""
        self._link.close()

    def _events(self, where: str, value: Any) -> list[Event]:
        return [Event(*row) for row in self._rows(f"SELECT {EVENT} FROM log WHERE {where}", value)]

    def _rows(self, query: str, value: Any) -> list[Any]:
        with self._translating_errors():
            rows: list[Any] = self._retrying(self._link.execute, query, (value,)).fetchall()
        return rows

    def _one(self, query: str) -> Any:
        with self._translating_errors():
            return self._retrying(self._link.execute, query).fetchone()

    def _retrying(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call SQLite, and wait while another process holds the file."""
        end = None
        while True:
            try:
                return call(*arguments)
            except sqlite3.OperationalError as error:
                end = end or monotonic() + PATIENCE
                if not _is_busy(error) or monotonic() > end:
                    raise
            sleep(PAUSE)

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Raise a StoreError in place of the errors of SQLite."""
        if os.getpid() != self._process:
            raise StoreError(f"{str(self._path)!r} was opened before a fork: open it in each process")
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"cannot use {str(self._path)!r}: {_reason(error)}") from None


class _Session:
    """A session.

    An interrupt between the first line of a ``with`` statement and its body, or between its body and its
    end, cannot be caught here. The transaction is then left open, but empty, because writes are staged in
    memory; the next session rolls it back. This is not a generator, because a generator that is left over
    would roll back another transaction when it is garbage-collected.
    """

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store

    def __enter__(self) -> None:
        try:
            self._store._enter()
        except BaseException:
            self._store._roll_back()
            raise

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._store._commit()
        finally:
            self._store._roll_back()


def _is_busy(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith("SQLITE_BUSY")


def _reason(error: sqlite3.Error) -> str:
    """Return the reason of an error of SQLite, and what to do about it where that is known."""
    advice = {
        "SQLITE_BUSY": f"another process has held it for {PATIENCE:g} s: try again",
        "SQLITE_FULL": "the disk is full: free some space and try again",
        "SQLITE_NOTADB": "it is not an SQLite file: use another",
        "SQLITE_CANTOPEN": "it cannot be opened or created",
        "SQLITE_READONLY": "it cannot be written to",
    }
    name = getattr(error, "sqlite_errorname", None) or ""
    known = [reason for code, reason in advice.items() if name.startswith(code)]
    return known[0] if known else str(error)
