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
from lowregret.online.stores import CHUNK_EVENTS, TIMEOUT, LostError
from lowregret.online.stores.connection_pool import pools_of, register_user, unregister_user
from lowregret.online.stores.event_checksum import OTHER_BITS, checksum_of
from lowregret.online.stores.sql import EVENT, SQLStore, Statements
from lowregret.online.stores.sqlite_connection import Connection, is_open_here, is_outdated_here
from lowregret.online.stores.sqlite_format import ADD_CHECKSUMS, CHECKSUM_COLUMN, create, format_of

BUSY_SECONDS = 0.001
"""The time between attempts; SQLite's own pauses grow to 0.1 s, which starves some processes."""
EMPTYING_ATTEMPTS = 100
"""How often a deleted `-wal` is emptied while others read it."""
SHRINK_SECONDS = 5.0
"""How long a compaction or an erasure waits for a moment in which nobody else uses the files."""
OPENING_ATTEMPTS = 5
"""How often a file is opened read-only before it is copied: another process may just have closed it, and
deleted the files beside it."""
LOST_FILE = (
    "its -wal was deleted while another process has it open: make a call there, or stop it, and try again"
)
INSERT = f"INSERT INTO log (agent, position, checksum, {EVENT}) VALUES (?, ?, ?{', ?' * len(Event._fields)})"


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
        self._key, self._pool = register_user(str(self._place), read_only)
        try:
            if read_only and not self._rows(CHECKSUM_COLUMN):
                self.statements = Statements("", "?", checksums=False)
            self.header()
        except BaseException:
            self.close()
            raise

    def _take(self) -> Connection:
        """Return a connection that no other call uses."""
        if self._closed:
            raise StoreError(f"{self.title} is closed: open the agent again")
        connection: Connection | None = self._pool.acquire()
        if connection is not None:
            if connection.is_current() and connection.is_of(self._status):
                return connection
            self._pool.release(connection, not connection.closed)
        _check_place(str(self._place), self._status)
        self._close_outdated()
        try:
            return self._connect_read_only() if self._read_only else self._connect()
        except sqlite3.Error as error:
            raise self._store_error(error) from None

    def _close_outdated(self) -> None:
        """Close the connections of this process whose files beside the store were deleted.

        SQLite goes on writing to a ``-wal`` that was deleted, and a new connection does not find what is in
        it. So that is written to the store first, and nobody connects before.
        """
        writing, reading = pools_of(str(self._place))
        outdated = writing.acquire_if(lambda connection: not connection.is_current())
        ours = [old for old in outdated if not old.closed and old.is_of(self._status)]
        try:
            if ours and not self._empties_wal(ours[0]):
                raise StoreError(
                    f"cannot use {self.title}: its -wal was deleted while others read it: try again"
                )
        except BaseException:
            for connection in outdated:
                writing.release(connection, not connection.closed)
            raise
        for connection in (*outdated, *reading.acquire_if(lambda connection: not connection.is_current())):
            connection.close()
        if is_outdated_here(self._status):
            raise StoreError(f"cannot use {self.title}: its -wal was deleted during a call: try again")

    def _empties_wal(self, connection: Connection) -> bool:
        """Write what is in the ``-wal`` to the store; return whether that was possible."""
        for _ in range(EMPTYING_ATTEMPTS):
            try:
                ((busy, *_),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                if not _is_short_read(error):  # another connection has done it
                    raise self._store_error(error) from None
                return True
            if not busy:
                return True
            sleep(BUSY_SECONDS)
        return False

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
        elif not self._retrying(connection.execute, CHECKSUM_COLUMN):
            self._retrying(connection.execute, "BEGIN IMMEDIATE")
            if not connection.execute(CHECKSUM_COLUMN):
                connection.execute(ADD_CHECKSUMS)
            self._retrying(connection.execute, "COMMIT")
        self._retrying(connection.execute, "PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a commit waits for the disk
        self._retrying(connection.execute, "SELECT 1 FROM agents LIMIT 1")  # opens them
        with as_store_error(self._path):
            _check_place(str(self._place), self._status)
            connection.remember_files_beside()
            if any(
                path.endswith("-wal") and self._lacks_pages(connection, path) for path, _ in connection.files
            ):
                raise StoreError(f"cannot use {self.title}: {LOST_FILE}")

    def _lacks_pages(self, connection: Connection, wal: str) -> bool:
        """Return whether pages are in a ``-wal`` that was deleted while another process has it open.

        Nobody can find them: SQLite knows of them, and the file of that name is empty. Another process may
        write the first ones at any moment, and empty the file later, so one look at it is not enough.
        """
        for _ in range(OPENING_ATTEMPTS):
            if os.stat(wal).st_size > 0:
                return False
            ((_, pages, _),) = self._retrying(connection.execute, "PRAGMA wal_checkpoint(PASSIVE)")
            if pages <= 0:
                return False
        return True

    def _connect_read_only(self) -> Connection:
        for _ in range(OPENING_ATTEMPTS):
            try:
                return self._connect_to_read(self._place)
            except sqlite3.OperationalError as error:
                if _is_short_read(error):  # a copy would lack what is in a deleted file
                    raise
        return self._open_copy()

    def _connect_to_read(self, place: Path) -> Connection:
        # A connection that may write removes the files beside a store that nobody has open when it is closed;
        # one that may not leaves those of others as they are.
        mode = "ro" if place.with_name(place.name + "-wal").exists() else "rw"
        connection = Connection(place, mode)
        try:
            connection.execute("PRAGMA query_only = ON")
            self._retrying(format_of, connection, self.title)
            connection.remember_files_beside()
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
        self._give_back()  # what an interrupt has left open
        connection = self._connection = self._take()
        connection.wait = self._waited
        try:
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
                rows = [
                    (agent, position, checksum_of(position, event), *event)
                    for position, event in enumerate(self._appended, first)
                ]
                connection.execute(INSERT, rows=rows)
            self._retrying(connection.execute, "COMMIT")
        except sqlite3.Error as error:
            raise self._store_error(error) from None
        if self._appended:
            self._see(first + len(self._appended) - 1, self._appended[-1])
        self._created = False
        if self._shrinks:
            self._shrink(connection)
        if not connection.is_current(1):  # SQLite goes on writing to files that nobody will find
            raise StoreError(
                f"a file of {self.title} was deleted during a call, which may be stored: repeat it"
            )

    def _roll_back(self) -> None:
        super()._roll_back()
        self._give_back()

    def _give_back(self) -> None:
        """Roll back what was not committed, and let other calls use the connection."""
        connection = self._connection
        if connection is not None:
            with suppress(sqlite3.Error, LostError):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            self._connection = None
            self._pool.release(connection, not connection.closed)

    def create(self, header: str) -> None:
        self._rows("INSERT INTO agents (name, head) VALUES (?, ?)", self.name, header)
        self._created = True
        self.header()  # finds its number

    def events_of_requests(self, requests: Sequence[str]) -> list[Event]:
        # SQLite would rather read the whole log in its order than sort the few rows of a request.
        columns, marks = f"{EVENT}, position, {self.statements.checksum}", ", ".join("?" * len(requests))
        query = f"SELECT {columns} FROM log INDEXED BY requested WHERE agent = ? AND request IN ({marks})"
        return self._checked(self._rows(f"{query} ORDER BY position", self._id, *requests))

    def compact(self, position: int, snapshot: str) -> None:
        self._overwrite()
        super().compact(position, snapshot)

    def erase(self, request: str) -> None:
        self._overwrite()
        query = (
            f"UPDATE log INDEXED BY requested SET request = NULL, checksum = checksum & {OTHER_BITS} "
            "WHERE agent = ? AND request = ?"
        )
        self._staged.append((query, (self._id, request)))

    def _overwrite(self) -> None:
        """Overwrite what the session drops from now on."""
        self._staged.append(("PRAGMA secure_delete = ON", ()))
        self._shrinks = True

    def _shrink(self, connection: Connection) -> None:
        """Leave no copy of dropped contents in the files, unless others use them all the time."""
        self._shrinks = False
        end = monotonic() + SHRINK_SECONDS
        for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            with suppress(sqlite3.OperationalError, LostError):
                while self._is_in_use(connection, statement) and monotonic() < end:
                    sleep(BUSY_SECONDS)

    def _is_in_use(self, connection: Connection, statement: str) -> bool:
        """Execute a statement that needs a moment in which nobody else uses the files."""
        try:
            rows = connection.execute(statement)
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            return True
        return bool(rows and rows[0][0])  # a checkpoint says that others still read

    def copy_to(self, path: Path) -> None:
        """Write all agents of the file to a new file, which is durable then; others may go on writing."""
        with as_store_error(path):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            connection = self._take()
            try:
                if self._query(connection, "PRAGMA integrity_check(1)", ()) != [("ok",)]:
                    raise StoreError(f"{self.title} is damaged: restore it from another copy")
                self._query(connection, "PRAGMA query_only = OFF", ())
                self._query(connection, "VACUUM INTO ?", (str(path),))
                sync(path)
            finally:
                connection.close()

    def check_space(self) -> None:
        """Find out whether a call that writes would get a connection."""
        SQLiteStore(self._path, self.name or DEFAULT_NAME).close()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            connection, self._connection = self._connection, None
            if connection is not None:  # left by an interrupt
                connection.close()
            unregister_user(self._key)
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
                self._pool.release(connection, not connection.closed)

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
            sleep(BUSY_SECONDS)

    def _store_error(self, error: sqlite3.Error) -> StoreError:
        """Return an error with the reason of one of SQLite, and what to do about it where that is known."""
        if "decode to UTF-8" in str(error):  # with the text, which may be a name
            return self._undecodable()
        if isinstance(error, sqlite3.IntegrityError):  # the log has another decision of this number
            return self._lost_events()
        advice = {
            "SQLITE_BUSY": f"another process has held it for {self._waited:.3g} s: try again",
            "SQLITE_FULL": "the disk is full: free some space and try again",
            "SQLITE_IOERR_SHORT_READ": LOST_FILE,
            "SQLITE_NOTADB": "it is not an SQLite file: use another",
            "SQLITE_CANTOPEN": "it cannot be opened or created: pass read_only=True only to read it",
            "SQLITE_READONLY": "it cannot be written to: open it with read_only=True to read it",
        }
        name = getattr(error, "sqlite_errorname", None) or ""
        reason = next((reason for code, reason in advice.items() if name.startswith(code)), str(error))
        if os.path.isdir(self._path):
            reason = "it is a folder: name a file in it"
        if name.startswith("SQLITE_CANTOPEN"):
            self._check_descriptors()
        return StoreError(f"cannot use {self.title}: {reason}")

    def _undecodable(self) -> StoreError:
        """Return an error that names the first event with a string that cannot be decoded."""
        columns = ", ".join(f"CAST({name} AS BLOB)" for name in ("kind", "arm", "request", "key"))
        query = (
            f"SELECT position, {columns} FROM log WHERE agent = ? AND position > ? ORDER BY position LIMIT ?"
        )
        last = 0
        while rows := self._rows(query, self._id, last, CHUNK_EVENTS):
            for last, *texts in rows:
                try:
                    b"".join(text or b"" for text in texts).decode()
                except UnicodeDecodeError:
                    return self._damaged(last)
        return StoreError(f"{self.title} is damaged: restore it from a copy")


def _is_short_read(error: sqlite3.Error) -> bool:
    """Return whether events are missing in the ``-wal`` that the file beside it lists."""
    return getattr(error, "sqlite_errorname", None) == "SQLITE_IOERR_SHORT_READ"


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
