"""A store in one SQLite file, which several processes may share.

==========  ==================================================================================
``head``    what the agent was made with
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

from lowregret._common.durable_files import sync, writing
from lowregret.errors import StoreError
from lowregret.online.decisions import Event
from lowregret.online.stores import check_place

PATIENCE = 60.0
"""How many seconds to wait for the others."""
PAUSE = 0.001
"""How many seconds until we look again; SQLite's own pauses grow to 0.1 s, and some would wait very long."""
OURS = 0x6C6F7772
"""The mark in the file's header by which SQLite files of this package are known."""

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
        The file; made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self.notes: list[str] = []
        self._path, self._process, self._place = path, os.getpid(), path.absolute()
        self._staged: list[tuple[str, Sequence[Sequence[Any]]]] = []
        self._known: os.stat_result | None = None
        new = not path.exists()
        with self._telling():
            self._link = sqlite3.connect(  # by the whole path, since SQLite keeps ":memory:" nowhere
                self._place, timeout=0, isolation_level=None, check_same_thread=False
            )
            try:
                self._set_up()
                with writing(path):
                    self._known = os.stat(self._place)
                    if new:
                        sync(self._place.parent)
            except BaseException:
                self._link.close()
                raise

    def _set_up(self) -> None:
        """Make the tables, unless they are there."""
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
        self._patiently(self._link.execute, "PRAGMA journal_mode = WAL")
        self._link.execute("PRAGMA synchronous = FULL")  # a commit waits until it is on the disk

    def session(self) -> AbstractContextManager[None]:
        """Open a session; other processes wait, and what is written goes to the file when it ends."""
        return _Session(self)

    def _enter(self) -> None:
        if self._known is not None:
            check_place(self._place, self._known)
        with self._telling():
            self._link.rollback()  # what an interrupt has left open
            self._staged = []
            self._patiently(self._link.execute, "BEGIN IMMEDIATE")

    def _commit(self) -> None:
        with self._telling():
            for statement, rows in self._staged:
                self._link.executemany(statement, rows)
            self._patiently(self._link.commit)

    def _roll_back(self) -> None:
        """Let go of what was not committed, if there is any."""
        if os.getpid() == self._process:
            with suppress(sqlite3.Error):
                self._link.rollback()

    def head(self) -> str | None:
        """Give the text with which the store began, None if it is new."""
        found = self._one("SELECT text FROM head")
        return found[0] if found else None

    def begin(self, head: str) -> None:
        """Begin a new store."""
        self._staged.append(("INSERT INTO head VALUES (1, ?)", [(head,)]))

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        self._staged.append((f"INSERT INTO log ({EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", events))

    def keep(self, position: int, snapshot: str) -> None:
        """Keep a snapshot."""
        self._staged.append(("INSERT OR REPLACE INTO latest VALUES (1, ?, ?)", [(position, snapshot)]))

    def events(self, after: int) -> list[Event]:
        """Give the events after a position, in their order."""
        first = max(after, 1)  # the last one that is known must still be there
        rows = self._rows(f"SELECT {EVENT}, position FROM log WHERE position >= ? ORDER BY position", first)
        positions = [row[-1] for row in rows]
        if positions != list(range(first, first + len(rows))) or (after and not rows):
            raise StoreError(f"{str(self._path)!r} has lost rows of its log: restore it from a copy")
        return [Event(*row[:-1]) for row in rows if row[-1] > after]

    def latest(self) -> tuple[int, str] | None:
        """Give the latest snapshot and its position."""
        found = self._one("SELECT position, text FROM latest")
        return (found[0], found[1]) if found else None

    def answered(self, decision: int) -> Event | None:
        """Give the event that told or gave up a decision."""
        found = self._events("decision = ? AND kind IN ('told', 'forgot')", decision)
        return found[0] if found else None

    def requested(self, request: str) -> list[Event]:
        """Give the events that a request led to."""
        return self._events("request = ? ORDER BY position", request)

    def close(self) -> None:
        """Close the file."""
        self._link.close()

    def _events(self, where: str, value: Any) -> list[Event]:
        return [Event(*row) for row in self._rows(f"SELECT {EVENT} FROM log WHERE {where}", value)]

    def _rows(self, query: str, value: Any) -> list[Any]:
        with self._telling():
            rows: list[Any] = self._patiently(self._link.execute, query, (value,)).fetchall()
        return rows

    def _one(self, query: str) -> Any:
        with self._telling():
            return self._patiently(self._link.execute, query).fetchone()

    def _patiently(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call SQLite, and wait where another process has what it needs."""
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
    def _telling(self) -> Iterator[None]:
        """Say in one sentence what is wrong with the file."""
        if os.getpid() != self._process:
            raise StoreError(f"{str(self._path)!r} was opened before a fork: open it in each process")
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"cannot use {str(self._path)!r}: {_reason(error)}") from None


class _Session:
    """A session.

    An interrupt may come between the first line of a ``with`` statement and its body, or between its body
    and its end, where nothing here can catch it. The transaction is then left open, but empty, since what is
    written waits in memory; the next session rolls it back. This is no generator: one that is left over
    would roll back another's transaction when Python throws it away.
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
    """Say what SQLite complains of, and what to do where that is known."""
    advice = {
        "SQLITE_BUSY": f"another process has held it for {PATIENCE:g} s: try again",
        "SQLITE_FULL": "the disk is full: free some space and try again",
        "SQLITE_NOTADB": "it is not an SQLite file: use another",
        "SQLITE_CANTOPEN": "it cannot be opened or made there",
        "SQLITE_READONLY": "it cannot be written to",
    }
    name = getattr(error, "sqlite_errorname", None) or ""
    known = [words for code, words in advice.items() if name.startswith(code)]
    return known[0] if known else str(error)
