"""A store in one SQLite file, which several processes and several agents may share."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from weakref import finalize

from lowregret._common.durable_files import as_store_error, sync
from lowregret.errors import StoreError
from lowregret.online.agent_settings import DEFAULT_NAME
from lowregret.online.decisions import Event
from lowregret.online.stores import TIMEOUT, LostError
from lowregret.online.stores.connection_pool import join, leave
from lowregret.online.stores.sql import EVENT, SQLStore, Statements
from lowregret.online.stores.sqlite_connection import Connection, is_open_here
from lowregret.online.stores.sqlite_format import create, format_of

RETRY_SECONDS = 0.001
"""The time between attempts; SQLite's own pauses grow to 0.1 s, which starves some processes."""
OPENING_ATTEMPTS = 5
"""How often a file is opened read-only before it is copied: another process may just have closed it, and
deleted the files beside it."""
INSERT = f"INSERT INTO log (agent, position, {EVENT}) VALUES (?, ?{', ?' * len(Event._fields)})"


class SQLiteStore(SQLStore):
    """The events of one agent in an SQLite file, created if it does not exist, readable by its owner only.

    Read-only, the file and its folder stay unchanged: a temporary copy is read if need be.
    """

    statements = Statements("", "?")

    def __init__(self, path: Path, name: str = DEFAULT_NAME, read_only: bool = False) -> None:
        super().__init__(repr(str(path)), name, read_only)
        self._path, self._place = path, path.absolute()
        self._connection: Connection | None = None  # of the present session
        self._shrinks = False  # after the present session
        self._closed = False
        self._copy: finalize[[str, int], SQLiteStore] | None = None
        with as_store_error(self._path):
            if not read_only:
                with suppress(FileExistsError):
                    os.close(os.open(self._place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                    sync(self._place.parent)
            elif not self._place.is_file():
                raise StoreError(f"cannot use {self.title}: there is no such file")
            self._status = os.stat(self._place)
        self._key, self._pool = join(str(self._place), read_only)
        try:
            self.header()
        except BaseException:
            self.close()
            raise

    def _take(self) -> Connection:
        """Return a connection that no other call uses."""
        if self._closed:
            raise StoreError(f"{self.title} is closed: open the agent again")
        while True:
            connection: Connection | None = self._pool.take()
            if connection is None:
                break
            if not connection.closed and os.path.samestat(connection.files[0][1], self._status):
                return connection
            connection.close()
        _check_place(str(self._place), self._status)
        try:
            return self._connect_read_only() if self._read_only else self._connect()
        except sqlite3.Error as error:
            raise self._store_error(error) from None

    def _connect(self) -> Connection:
        connection = Connection(self._place, "rw")
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: Connection) -> None:
        """Create the tables, unless another process has, and remember the files that SQLite has beside it."""
        if self._retrying(format_of, connection, self.title) == 0:
            self._retrying(connection.execute, "BEGIN IMMEDIATE")
            if format_of(connection, self.title) == 0:
                create(connection)
            self._retrying(connection.execute, "COMMIT")
        self._retrying(connection.execute, "PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a commit waits for the disk
        self._retrying(connection.execute, "SELECT 1 FROM agents LIMIT 1")  # opens them
        with as_store_error(self._path):
            _check_place(str(self._place), self._status)
            real = os.path.realpath(self._place)  # SQLite has its files beside this one
            for beside in (f"{real}-wal", f"{real}-shm"):
                if os.path.exists(beside):
                    connection.files.append((beside, os.stat(beside)))

    def _connect_read_only(self) -> Connection:
        for _ in range(OPENING_ATTEMPTS):
            with suppress(sqlite3.OperationalError):
                return self._connect_to_read(self._place)
        return self._open_copy()

    def _connect_to_read(self, place: Path) -> Connection:
        # A connection that may write removes the files beside a store that nobody has open when it is closed;
        # one that may not leaves those of others as they are.
        mode = "ro" if place.with_name(place.name + "-wal").exists() else "rw"
        connection = Connection(place, mode)
        try:
            connection.execute("PRAGMA query_only = ON")
            self._retrying(format_of, connection, self.title)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_copy(self) -> Connection:
        """Read a temporary copy, which SQLite may change."""
        self._check_descriptors()
        with as_store_error(self._path):
            if is_open_here(os.stat(self._place)):
                raise StoreError(f"cannot use {self.title}: this process has it open, so use that agent")
            folder = tempfile.mkdtemp(prefix="lowregret-")
            self._copy = finalize(self, _remove, folder, os.getpid())
            copy = Path(folder) / "copy.db"
            for end in ("", "-wal"):
                source = self._place.with_name(self._place.name + end)
                with suppress(FileNotFoundError):
                    shutil.copyfile(source, f"{copy}{end}")
        connection = Connection(copy, "rw")
        try:
            connection.execute("PRAGMA user_version")  # reads what is in the -wal
        finally:
            connection.close()
        self._place, self._status = copy, os.stat(copy)
        return self._connect_to_read(copy)

    def _check_descriptors(self) -> None:
        """Say that too many files are open, if so; SQLite does not."""
        with as_store_error(self._path):
            os.close(os.open(os.devnull, os.O_RDONLY))

    def _begin(self) -> None:
        self._shrinks = False
        if self._connection is None or self._connection.closed:
            self._connection = self._take()
        connection = self._connection
        connection.wait = self._waited
        for path, status in connection.files:
            _check_place(path, status)
        try:
            if connection.in_transaction:  # left open by an interrupt
                connection.execute("ROLLBACK")
            self._retrying(connection.execute, "BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise self._store_error(error) from None

    def _commit(self) -> None:
        connection = self._connection
        assert connection is not None
        try:
            for query, values in self._staged:
                connection.execute(query, values)
            if self._appended:
                agent, first = self._id, self._last_position() + 1
                rows = [(agent, position, *event) for position, event in enumerate(self._appended, first)]
                connection.execute(INSERT, rows=rows)
            self._retrying(connection.execute, "COMMIT")
        except sqlite3.Error as error:
            raise self._store_error(error) from None
        self._created = False
        if self._shrinks:
            self._shrink(connection)
        for path, status in connection.files[1:]:  # SQLite goes on writing to those that nobody will find
            _check_place(path, status)

    def _roll_back(self) -> None:
        super()._roll_back()
        connection = self._connection
        if connection is not None:
            with suppress(sqlite3.Error, LostError):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            self._connection = None
            self._pool.give(connection, not connection.closed)

    def create(self, header: str) -> None:
        self._rows("INSERT INTO agents (name, head) VALUES (?, ?)", self.name, header)
        self._created = True
        self.header()  # finds its number

    def events_of_requests(self, requests: Sequence[str]) -> list[Event]:
        # SQLite would rather read the whole log in its order than sort the few rows of a request.
        query = f"SELECT {EVENT} FROM log INDEXED BY requested WHERE agent = ? AND request IN "
        query += f"({', '.join('?' * len(requests))}) ORDER BY position"
        return [Event(*row) for row in self._rows(query, self._id, *requests)]

    def compact(self, position: int, snapshot: str) -> None:
        self._overwrite()
        super().compact(position, snapshot)

    def erase(self, request: str) -> None:
        self._overwrite()
        query = "UPDATE log INDEXED BY requested SET request = NULL WHERE agent = ? AND request = ?"
        self._staged.append((query, (self._id, request)))

    def _overwrite(self) -> None:
        """Overwrite what the session drops from now on."""
        self._staged.append(("PRAGMA secure_delete = ON", ()))
        self._shrinks = True

    def _shrink(self, connection: Connection) -> None:
        """Leave no copy of dropped contents in the files; where others use them, SQLite does it later."""
        self._shrinks = False
        with suppress(sqlite3.OperationalError, LostError):
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def copy_to(self, path: Path) -> None:
        """Write all agents of the file to a new file, which is durable then; others may go on writing."""
        with as_store_error(path):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            connection = self._take()
            try:
                if self._query(connection, "PRAGMA quick_check(1)", ()) != [("ok",)]:
                    raise StoreError(f"{self.title} is damaged: restore it from another copy")
                self._query(connection, "PRAGMA query_only = OFF", ())
                self._query(connection, "VACUUM INTO ?", (str(path),))
                sync(path)
            finally:
                connection.close()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            connection, self._connection = self._connection, None
            if connection is not None:  # left by an interrupt
                connection.close()
            leave(self._key)
            if self._copy is not None:
                self._copy()

    def __del__(self) -> None:
        if hasattr(self, "_key"):
            self.close()

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        if self._connection is not None:
            return self._query(self._connection, query, values)
        while True:
            connection = self._take()
            try:
                return self._query(connection, query, values)
            except LostError:  # a fork has closed it
                continue
            finally:
                self._pool.give(connection, not connection.closed)

    def _query(self, connection: Connection, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            rows: list[tuple[Any, ...]] = self._retrying(connection.execute, query, values)
        except sqlite3.Error as error:
            raise self._store_error(error) from None
        return rows

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
            sleep(RETRY_SECONDS)

    def _store_error(self, error: sqlite3.Error) -> StoreError:
        """Return an error with the reason of one of SQLite, and what to do about it where that is known."""
        advice = {
            "SQLITE_BUSY": f"another process has held it for {self._waited:.3g} s: try again",
            "SQLITE_FULL": "the disk is full: free some space and try again",
            "SQLITE_NOTADB": "it is not an SQLite file: use another",
            "SQLITE_CANTOPEN": "it cannot be opened or created: pass read_only=True only to read it",
            "SQLITE_READONLY": "it cannot be written to: open it with read_only=True to read it",
        }
        name = getattr(error, "sqlite_errorname", None) or ""
        reason = next((reason for code, reason in advice.items() if name.startswith(code)), str(error))
        if name.startswith("SQLITE_CANTOPEN"):
            self._check_descriptors()
        return StoreError(f"cannot use {self.title}: {reason}")


def _is_busy(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith("SQLITE_BUSY")


def _check_place(path: str, status: os.stat_result) -> None:
    """Reject a file that was replaced since it was opened: what is written to it would be lost."""
    try:
        same = os.path.samestat(os.stat(path), status)
    except OSError:
        same = False
    if not same:
        raise StoreError(f"{path!r} was moved or deleted while it was open: open the agent again")


def _remove(folder: str, process: int) -> None:
    """Remove a temporary folder, but not in a fork of the process that uses it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
