"""A store in one SQLite file, which several processes and several agents may share."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import Any

from lowregret._common.durable_files import as_store_error, sync
from lowregret.errors import StoreError
from lowregret.online.agent_settings import DEFAULT_NAME
from lowregret.online.decisions import Event, new_tuple
from lowregret.online.stores import TIMEOUT, CompactedError, changed_at, check_place
from lowregret.online.stores.session import Session
from lowregret.online.stores.sqlite_format import EVENT, FORMAT, create, format_of, migrate

PAUSE = 0.001
"""How many seconds between attempts; SQLite's own pauses grow to 0.1 s, which starves some processes."""
ATTEMPTS = 5
"""How often a file is opened read-only before it is copied: another process may just have closed it, and with
it the files beside it have gone that were there when we looked."""
SETTLED = 5_000_000_000
"""Nanoseconds after which another change of a folder has another time on any file system."""
INSERT = f"INSERT INTO log (agent, position, {EVENT}) VALUES (?, ?{', ?' * len(Event._fields)})"


class SQLiteStore:
    """The events of one agent in an SQLite file.

    Parameters
    ----------
    path : path
        The file; created if it does not exist, readable by its owner only.
    name : str
        The name of the agent in the file.
    read_only : bool, default False
        Whether to leave the file and its folder unchanged. Where SQLite cannot read it without writing, as
        on a file system that is read-only, a temporary copy is read.
    """

    shared = True

    def __init__(self, path: Path, name: str = DEFAULT_NAME, read_only: bool = False) -> None:
        self.notes: list[str] = []
        self._path, self._process, self._place = path, os.getpid(), path.absolute()
        self.name, self._read_only = name, read_only
        self._id: int | None = None
        self._staged: list[Callable[[], None]] = []
        self._known: list[tuple[Path, os.stat_result]] = []
        self._last: int | None = None  # the last position of the agent, as far as this session has seen it
        self._end: float | None = None
        self._shrinks = False  # after the present session
        self._folder, self._unchanged = "", 0  # and its last change, if later ones have another time
        self._waited = TIMEOUT
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        if read_only:
            self._open_read_only()
        else:
            self._open()

    def _open(self) -> None:
        with as_store_error(self._path):
            try:
                os.close(os.open(self._place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                sync(self._place.parent)
            except FileExistsError:
                pass
        with self._translating_errors():
            self._link = sqlite3.connect(  # by the absolute path: to SQLite ":memory:" is no file
                self._place, timeout=0, isolation_level=None, check_same_thread=False
            )
            try:
                self._set_up()
                self._find_agent()
                self._remember_files()
            except BaseException:
                self._link.close()
                raise

    def _set_up(self) -> None:
        """Create the tables, or convert those of an older format."""
        path = str(self._path)
        if self._retrying(format_of, self._link, path) != FORMAT:
            with self.session(TIMEOUT):
                found = format_of(self._link, path)
                if found == 0:
                    create(self._link)
                elif found == 1:
                    migrate(self._link, path)
        self._retrying(self._link.execute, "PRAGMA journal_mode = WAL")
        self._link.execute("PRAGMA synchronous = FULL")  # a commit waits for the disk

    def _remember_files(self) -> None:
        """Remember the file and those that SQLite has beside it while it is open."""
        with as_store_error(self._path):
            self._known = [(self._place, os.stat(self._place))]
            real = Path(os.path.realpath(self._place))  # SQLite has its files beside this one
            self._folder = str(real.parent)
            for end in ("-wal", "-shm"):
                beside = real.with_name(real.name + end)
                if beside.exists():
                    self._known.append((beside, os.stat(beside)))

    def _open_read_only(self) -> None:
        if not self._place.is_file():
            raise StoreError(f"cannot use {str(self._path)!r}: there is no such file")
        with self._translating_errors():
            for _ in range(ATTEMPTS):
                with suppress(sqlite3.OperationalError):
                    self._connect_read_only(self._place)
                    break
            else:
                self._open_copy()
            self._find_agent()

    def _connect_read_only(self, place: Path) -> None:
        # A connection that may write removes the files beside a store that nobody has open when it is closed;
        # one that may not leaves those of others as they are.
        mode = "ro" if place.with_name(place.name + "-wal").exists() else "rw"
        link = sqlite3.connect(
            f"{place.as_uri()}?mode={mode}",
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            link.execute("PRAGMA query_only = ON")
            if self._retrying(format_of, link, str(self._path)) == 1:
                raise sqlite3.OperationalError  # a copy can be converted
        except BaseException:
            link.close()
            raise
        self._link = link

    def _open_copy(self) -> None:
        """Read a temporary copy, which SQLite may change."""
        self._copy = tempfile.TemporaryDirectory(prefix="lowregret-")
        copy = Path(self._copy.name) / "copy.db"
        with as_store_error(self._path):
            for end in ("", "-wal"):
                source = self._place.with_name(self._place.name + end)
                with suppress(FileNotFoundError):
                    shutil.copyfile(source, f"{copy}{end}")
        SQLiteStore(copy).close()
        self._connect_read_only(copy)

    def _find_agent(self) -> None:
        found = self._one("SELECT id FROM agents WHERE name = ?", self.name)
        self._id = found[0] if found else None

    def names(self) -> list[str]:
        """Return the names of the agents in the file, in the order in which they were created."""
        with self._translating_errors():
            rows = self._retrying(self._link.execute, "SELECT name FROM agents ORDER BY id").fetchall()
        return [row[0] for row in rows]

    def session(self, timeout: float) -> AbstractContextManager[None]:
        """Open a session; other processes wait, and its end waits for the disk."""
        return Session(partial(self._enter, timeout), self._commit, self._roll_back)

    def _enter(self, timeout: float) -> None:
        if self._read_only:
            raise StoreError(f"{str(self._path)!r} was opened read-only: open it without read_only")
        self._check_process()
        for path, known in self._known[:1]:
            check_place(path, known)
        try:
            if self._link.in_transaction:  # left open by an interrupt
                self._link.rollback()
            self._staged, self._last = [], None
            self._end, self._waited = monotonic() + timeout, timeout
            self._retrying(self._link.execute, "BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise self._store_error(error) from None

    def _commit(self) -> None:
        try:
            for write in self._staged:
                write()
            self._retrying(self._link.commit)
        except sqlite3.Error as error:
            raise self._store_error(error) from None
        if self._shrinks:
            self._shrink()
        if self._known and changed_at(self._folder) != self._unchanged:
            self._check_files()

    def _check_files(self) -> None:
        """Reject files that were replaced: SQLite goes on writing to those that nobody will find."""
        changed = changed_at(self._folder)
        for path, known in self._known:
            check_place(path, known)
        self._unchanged = changed if changed < time_ns() - SETTLED else 0

    def _roll_back(self) -> None:
        """Roll back what was not committed."""
        self._end = self._last = None
        if self._link.in_transaction and os.getpid() == self._process:
            with suppress(sqlite3.Error):
                self._link.rollback()

    def head(self) -> str | None:
        """Return the text that the agent begins with, None if it is new."""
        found = self._one("SELECT id, head FROM agents WHERE name = ?", self.name)
        self._id = found[0] if found else None
        return found[1] if found else None

    def begin(self, head: str) -> None:
        """Begin a new agent."""
        self._staged.append(partial(self._begin, head))

    def _begin(self, head: str) -> None:
        cursor = self._link.execute("INSERT INTO agents (name, head) VALUES (?, ?)", (self.name, head))
        self._id = cursor.lastrowid

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        self._staged.append(partial(self._append, events))

    def _append(self, events: Sequence[Event]) -> None:
        agent, last = self._id, self._last
        if last is None:
            found = self._link.execute("SELECT max(position) FROM log WHERE agent = ?", (agent,)).fetchone()
            last = self._base() if found[0] is None else found[0]
        self._last = last + len(events)
        rows = [(agent, position, *event) for position, event in enumerate(events, last + 1)]
        self._link.executemany(INSERT, rows)

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the latest snapshot."""
        self._staged.append(partial(self._keep, position, snapshot))

    def _keep(self, position: int, snapshot: str) -> None:
        self._link.execute("DELETE FROM snapshots WHERE agent = ? AND position > ?", (self._id, self._base()))
        self._link.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (self._id, position, snapshot)
        )

    def events(self, after: int, limit: int | None = None) -> list[Event]:
        """Return the events after a position, in their order."""
        first = max(after, 1)  # the last known one must still exist
        rows = self._rows(
            f"SELECT {EVENT}, position FROM log WHERE agent = ? AND position >= ? ORDER BY position LIMIT ?",
            first,
            -1 if limit is None else limit + 1,
        )
        positions = [row[-1] for row in rows]
        if positions != list(range(first, first + len(rows))) or (after and not rows):
            base = self._base()
            if base > after:
                raise CompactedError(f"the events up to {base} were replaced by a snapshot")
            if base != after or positions != list(range(after + 1, after + 1 + len(rows))):
                raise StoreError(f"{str(self._path)!r} has lost rows of its log: restore it from a copy")
        found = [new_tuple(Event, row[:-1]) for row in rows if row[-1] > after]
        if limit is None or len(found) <= limit:
            self._last = after + len(found)
            return found
        return found[:limit]

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""
        rows = self._rows(
            "SELECT position, text FROM snapshots WHERE agent = ? ORDER BY position DESC LIMIT 1"
        )
        return rows[0] if rows else None

    def first(self) -> tuple[int, str] | None:
        """Return the snapshot before the first event and its position."""
        base = self._base()
        if base == 0:
            return None
        rows = self._rows("SELECT position, text FROM snapshots WHERE agent = ? AND position = ?", base)
        if not rows:
            raise StoreError(f"{str(self._path)!r} has lost its first snapshot: restore it from a copy")
        return rows[0]  # type: ignore[no-any-return]

    def decision(self, number: int) -> list[Event]:
        """Return the event that asked for a decision and the one that answered it."""
        query = f"SELECT {EVENT} FROM log WHERE agent = ? AND decision = ? AND kind "
        rows = [
            *self._rows(query + "= 'asked'", number),
            *self._rows(query + "IN ('told', 'forgot')", number),
        ]
        return [Event(*row) for row in rows]

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""
        return self.requested_among([request])

    def requested_among(self, requests: Sequence[str]) -> list[Event]:
        """Return the events of several requests, in their order."""
        # SQLite would rather read the whole log in its order than sort the few rows of a request.
        query = f"SELECT {EVENT} FROM log INDEXED BY requested WHERE agent = ? AND request IN "
        query += f"({', '.join('?' * len(requests))}) ORDER BY position"
        return [Event(*row) for row in self._rows(query, *requests)]

    def compact(self, position: int, snapshot: str) -> None:
        """Drop the events up to a position."""
        self._staged.append(partial(self._compact, position, snapshot))

    def _compact(self, position: int, snapshot: str) -> None:
        self._overwrite()
        for table in ("log", "snapshots"):
            self._link.execute(f"DELETE FROM {table} WHERE agent = ? AND position <= ?", (self._id, position))
        self._link.execute("INSERT INTO snapshots VALUES (?, ?, ?)", (self._id, position, snapshot))
        self._link.execute("UPDATE agents SET base = ? WHERE id = ?", (position, self._id))

    def erase(self, request: str) -> None:
        """Remove the name of a request from its events."""
        self._staged.append(partial(self._erase, request))

    def _erase(self, request: str) -> None:
        self._overwrite()
        self._link.execute(
            "UPDATE log INDEXED BY requested SET request = NULL WHERE agent = ? AND request = ?",
            (self._id, request),
        )

    def _overwrite(self) -> None:
        """Overwrite what is dropped from now on."""
        self._link.execute("PRAGMA secure_delete = ON")
        self._shrinks = True

    def _shrink(self) -> None:
        """Leave no copy of dropped contents in the files; where others use them, SQLite does it later."""
        self._shrinks = False
        with suppress(sqlite3.OperationalError):
            self._link.execute("VACUUM")
            self._link.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file."""
        self._link.close()
        if self._copy is not None:
            self._copy.cleanup()

    def _base(self) -> int:
        """Return how many events were dropped."""
        found = self._one("SELECT base FROM agents WHERE id = ?", self._id)
        return found[0] if found else 0

    def _rows(self, query: str, *values: Any) -> list[Any]:
        self._check_process()
        try:
            return self._retrying(self._link.execute, query, (self._id, *values)).fetchall()  # type: ignore[no-any-return]
        except sqlite3.Error as error:
            raise self._store_error(error) from None

    def _one(self, query: str, *values: Any) -> Any:
        with self._translating_errors():
            return self._retrying(self._link.execute, query, values).fetchone()

    def _retrying(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call SQLite, and wait while another process holds the file."""
        end = self._end
        while True:
            try:
                return call(*arguments)
            except sqlite3.OperationalError as error:
                end = end or monotonic() + TIMEOUT
                if not _is_busy(error) or monotonic() > end:
                    raise
            sleep(PAUSE)

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Raise a StoreError in place of the errors of SQLite."""
        self._check_process()
        try:
            yield
        except sqlite3.Error as error:
            raise self._store_error(error) from None

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StoreError(f"{str(self._path)!r} was opened before a fork: open it in each process")

    def _store_error(self, error: sqlite3.Error) -> StoreError:
        return StoreError(f"cannot use {str(self._path)!r}: {self._reason(error)}")

    def _reason(self, error: sqlite3.Error) -> str:
        """Return the reason of an error of SQLite, and what to do about it where that is known."""
        advice = {
            "SQLITE_BUSY": f"another process has held it for {self._waited:.3g} s: try again",
            "SQLITE_FULL": "the disk is full: free some space and try again",
            "SQLITE_NOTADB": "it is not an SQLite file: use another",
            "SQLITE_CANTOPEN": "it cannot be opened or created: pass read_only=True only to read it",
            "SQLITE_READONLY": "it cannot be written to: open it with read_only=True to read it",
        }
        name = getattr(error, "sqlite_errorname", None) or ""
        known = [reason for code, reason in advice.items() if name.startswith(code)]
        return known[0] if known else str(error)


def _is_busy(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith("SQLITE_BUSY")
