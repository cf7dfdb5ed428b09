"""A store in a PostgreSQL database, which many processes on many hosts and many agents may share."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from hashlib import blake2b
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg.pq import TransactionStatus

from lowregret.errors import InputError, StoreError
from lowregret.online.agent_settings import DEFAULT_NAME
from lowregret.online.decisions import Event
from lowregret.online.stores import TIMEOUT, LostError
from lowregret.online.stores.connection_pool import register_user, unregister_user
from lowregret.online.stores.event_checksum import OTHER_BITS, checksum_of
from lowregret.online.stores.postgresql_connection import SESSION_SETTINGS, Connection, Server, is_lost
from lowregret.online.stores.postgresql_format import CHECKSUM_COLUMN, TYPES, add_checksums, create, format_of
from lowregret.online.stores.sql import EVENT, SQLStore, Statements

NOW = "extract(epoch FROM clock_timestamp())::float8"
"""The time of the server in seconds since 1970, by which all hosts have the same clock."""
OPENING_SECONDS = 5.0
"""How long a server that is down is waited for when a store is opened, at most."""
MAX_INSERTED_EVENTS = 10_000
"""How many events one statement inserts at most."""
MAX_SINGLE_EVENTS = 5
"""Up to how many events one statement for each is quicker than one for all."""


class LogStatements(Statements):
    """The statements on the log that PostgreSQL has of its own."""

    def __init__(self, checksums: bool) -> None:
        super().__init__("lowregret_", "%s", checksums)
        names = [*Event._fields, "checksum"] if checksums else [*Event._fields]
        columns = ", ".join(names)
        types = ", ".join(f"{name} {kind}" for name, kind in zip(names, TYPES, strict=False))
        insert = f"INSERT INTO lowregret_log (agent, position, {columns}, call)"
        self.insert_one = f"{insert} VALUES (%s, %s, {', '.join('%s' for _ in names)}, %s)"
        self.insert_many = (
            f"{insert} SELECT %s, %s + n, {columns}, CASE n WHEN 1 THEN %s::uuid END FROM ROWS FROM "
            f"(json_to_recordset(%s::json) AS ({types})) WITH ORDINALITY AS new ({columns}, n)"
        )
        # One search of the index for each request.
        self.requested = (
            f"SELECT found.* FROM unnest(%s::text[]) AS wanted CROSS JOIN LATERAL ("
            f"SELECT {EVENT}, position, {self.checksum} FROM lowregret_log "
            "WHERE agent = %s AND left(request, 200) = left(wanted, 200) AND request = wanted OFFSET 0"
            ") AS found ORDER BY position"
        )
        erased = f", checksum = checksum & {OTHER_BITS}" if checksums else ""
        self.erase = (
            f"UPDATE lowregret_log SET request = NULL{erased} "
            "WHERE agent = %s AND left(request, 200) = left(%s, 200) AND request = %s"
        )


STATEMENTS = {checksums: LogStatements(checksums) for checksums in (True, False)}

SPILL = (
    "WITH small AS MATERIALIZED (SELECT length(set_config('work_mem', '64kB', true)) AS size) "
    "SELECT count(*) FROM small CROSS JOIN LATERAL generate_series(1, 30000 + 0 * size)"
)
"""Makes the server write a megabyte to a temporary file, which fails where nothing else can be written."""

_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class PostgreSQLStore(SQLStore):
    """The events of one agent in a PostgreSQL database; an advisory lock excludes other sessions.

    A connection that is lost is made again. ``_connection`` is that of the present call, None between calls.
    """

    statements: LogStatements

    def __init__(
        self,
        url: str,  # such as postgresql://user:password@host:5432/database
        name: str = DEFAULT_NAME,  # of the agent
        read_only: bool = False,  # also for a server that is a hot standby
        timeout: float = TIMEOUT,  # the seconds that a call that reads waits for a server that is down
        creating: bool = True,  # the tables, if there are none
    ) -> None:
        self._server = Server(url)
        super().__init__(self._server.title, name, read_only)
        self._connection: Connection | None = None
        self._process, self._timeout = os.getpid(), timeout
        self._inside, self._closed = False, False  # inside a transaction
        self._key, self._pool = register_user(url, read_only)
        self._creating = creating and not read_only
        try:
            self._get_connection(monotonic() + min(timeout, OPENING_SECONDS))
            self._release()
            self._creating = False
            self._checksums = self._pool.checksums  # whether the log has a column of them
            self.statements = STATEMENTS[self._checksums]
            off = "the server has fsync = off: what it has confirmed may be lost in a power failure"
            none = "its events have no checksums: open it once as the owner of the table lowregret_log"
            self.notes = [off] if self._pool.fsync == "off" else []
            self.notes += [] if self._checksums or read_only else [none]
            self.header()
        except BaseException:
            self.close()
            raise

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StoreError(f"{self.title} was opened before a fork: open it in each process")

    def _begin(self) -> None:
        """Begin a transaction, and wait for the lock of the agent; connect if need be."""
        self._check_process()
        self._inside = True
        while True:
            try:
                with self._translate_errors(self._waited):
                    connection = self._get_connection(self._end)
                    # An interrupt may have left a transaction open.
                    if connection.pgconn.transaction_status != TransactionStatus.IDLE:
                        connection.execute("ROLLBACK")
                    wait = min(max(1, round(1e3 * (self._end - monotonic()))), 2**31 - 1)
                    results = connection.execute(
                        f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = {wait}; "
                        f"SELECT pg_advisory_xact_lock({self._lock_number()}), {NOW}"
                    )
                    while results.nextset():
                        pass
                    self._pool.time = results.fetchall()[0][-1], monotonic()
                    return
            except LostError:
                if monotonic() > self._end:
                    raise

    def _lock_number(self) -> int:
        words = f"{self._pool.table} {self.name}".encode()
        return int.from_bytes(blake2b(words, digest_size=8).digest(), signed=True)

    def _commit(self) -> None:
        """Write what was staged; a commit whose answer was lost is looked up, and repeated if need be."""
        if not (self._staged or self._appended or self._created):
            return
        call, first = uuid4(), 0
        while True:
            if self._appended:
                first = self._last_position() + 1
            try:
                self._write(first, call)
            except LostError:
                if not self._was_stored(first, call):
                    continue
            self._created = False
            if self._appended:
                self._see(first + len(self._appended) - 1, self._appended[-1])
            return

    def _write(self, first: int, call: UUID) -> None:
        with self._translate_errors():
            connection = self._transaction_connection()
            with connection.pipeline() if psycopg.Pipeline.is_supported() else nullcontext():
                for query, values in self._staged:
                    connection.execute(query, values)
                self._insert(connection, first, call)
                connection.execute("COMMIT")

    def _was_stored(self, first: int, call: UUID) -> bool:
        """Return whether a commit was made whose answer was lost; raise an error if it cannot be repeated."""
        unknown = "the call may have been stored, so repeat it with the same request or reward"
        while True:
            self._last = None
            try:
                self._begin()  # waits for a commit that is still under way
                query = "SELECT call FROM lowregret_log WHERE agent = %s AND position = %s"
                rows = self._rows(query, self._id, first)
                base, last = self._base(), self._last_position()
                break
            except LostError:
                if monotonic() > self._end:
                    raise StoreError(f"the connection to {self.title} was lost: {unknown}") from None
            except StoreError as error:
                raise StoreError(f"{error}; {unknown}") from None
        if rows and rows[0][0] == call:
            return True
        if first <= base:
            raise StoreError(f"the connection to {self.title} was lost: {unknown}")
        if last != first - 1:  # another process has stored events meanwhile
            raise LostError(f"the connection to {self.title} was lost, and nothing was stored: try again")
        return False

    def _insert(self, connection: Connection, first: int, call: UUID) -> None:
        """Insert the events of the session from a position on; the first row has the number of the call."""
        events, statements, checksums = self._appended, self.statements, self._checksums
        if len(events) <= MAX_SINGLE_EVENTS:
            for position, event in enumerate(events, first):
                row = (*event, checksum_of(position, event)) if checksums else event
                values = self._id, position, *row, call if position == first else None
                connection.execute(statements.insert_one, values)
            return
        for start in range(0, len(events), MAX_INSERTED_EVENTS):
            part = enumerate(events[start : start + MAX_INSERTED_EVENTS], first + start)
            rows = _json([{**one._asdict(), "checksum": checksum_of(place, one)} for place, one in part])
            values = self._id, first + start - 1, None if start else call, rows
            connection.execute(statements.insert_many, values)

    def _roll_back(self) -> None:
        """End a transaction that was not committed, and leave the connection to others."""
        super()._roll_back()
        connection, self._inside = self._connection, False
        if connection is None or os.getpid() != self._process:
            return
        try:
            if connection.pgconn.transaction_status != TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
            self._release()
        except psycopg.Error:
            self._disconnect()

    def create(self, header: str) -> None:
        if "\\u0000" in header:
            raise InputError("PostgreSQL cannot store the character NUL: leave it out of the names of arms")
        query = "INSERT INTO lowregret_agents (name, head) VALUES (%s, %s) RETURNING id"
        self._id = self._rows(query, self.name, header)[0][0]
        self._created = True

    def events_of_requests(self, requests: Sequence[str]) -> list[Event]:
        return self._checked(self._find(self.statements.requested, list(requests), self._id))

    def erase(self, request: str) -> None:
        self._staged.append((self.statements.erase, (self._id, request, request)))

    def time(self) -> float:
        """Return the time of the server: its latest reading, and what has passed since."""
        now, read = self._pool.time
        return now + (monotonic() - read)

    def check_space(self) -> None:
        self._rows(SPILL)

    def close(self) -> None:
        """Close the connection of a call that was interrupted, and the others if nobody else uses them."""
        if os.getpid() == self._process and not self._closed:
            self._closed = True
            self._disconnect()
            unregister_user(self._key)

    def __del__(self) -> None:
        if hasattr(self, "_key"):
            self.close()

    def _find(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return rows that an index finds, with a new plan of the query when the log has doubled."""
        size = self._last or (self._seen[0] if self._seen else 0)
        return self._rows(f"{query} -- below {1 << size.bit_length()} events", *values)

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; outside a transaction, connect again where that is needed."""
        self._check_process()
        if self._inside:
            with self._translate_errors():
                return self._transaction_connection().execute(query, values).fetchall()
        end = monotonic() + self._timeout
        while True:
            try:
                with self._translate_errors():
                    return self._get_connection(end).execute(query, values).fetchall()
            except LostError:
                if monotonic() > end:
                    raise
            finally:
                self._release()

    @contextmanager
    def _translate_errors(self, waited: float = 0.0) -> Iterator[None]:
        """Raise our errors instead of those of psycopg: ``LostError`` if there is no connection any more."""
        try:
            yield
        except psycopg.Error as error:
            if self._connection is None or is_lost(self._connection, error):
                self._disconnect()
                raise self._lost() from None
            reason = self._server.reason(error)
            if error.sqlstate == "55P03":
                held = f"this agent for {waited:.3g} s" if waited else "its tables for too long"
                reason = f"another process has held {held}: try again"
            raise StoreError(f"cannot use {self.title}: {reason}") from None

    def _lost(self) -> LostError:
        return LostError(f"the connection to {self.title} was lost, and nothing was stored: try again")

    def _transaction_connection(self) -> Connection:
        if self._connection is None:
            raise self._lost()
        return self._connection

    def _get_connection(self, end: float) -> Connection:
        """Return a connection; if there is none, connect, and wait for a server that is down."""
        if self._connection is None or self._connection.closed:
            self._connection = self._pool.acquire()
        if self._connection is None:
            self._connection = self._server.connect(end)
            self._connection.end = end
            try:
                with self._translate_errors():
                    self._set_up(self._connection)
            except BaseException:
                self._disconnect()
                raise
        self._connection.end = end
        return self._connection

    def _set_up(self, connection: Connection) -> None:
        connection.execute(SESSION_SETTINGS)
        if self._read_only:
            connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        if format_of(connection, self.title) == 0:
            if not self._creating:
                raise StoreError(f"{self.title} has no agents: create one with open_agent")
            create(connection, self.title)
        row = connection.execute(
            f"SELECT 'lowregret_agents'::regclass::oid::bigint, current_setting('fsync'), {NOW}"
        ).fetchone()
        self._pool.table, self._pool.fsync, now = row or (0, "", 0.0)
        self._pool.time = now, monotonic()
        if not self._pool.checksums:
            exists = connection.execute(CHECKSUM_COLUMN).fetchone() is not None
            self._pool.checksums = exists or (not self._read_only and add_checksums(connection))

    def _release(self) -> None:
        """Leave the connection to other agents of the process."""
        connection, self._connection = self._connection, None
        if connection is not None:
            idle = not connection.closed and connection.pgconn.transaction_status == TransactionStatus.IDLE
            self._pool.release(connection, idle)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()
