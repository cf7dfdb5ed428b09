"""A database in which agents are stored, over connections that are made again when they are lost."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from time import monotonic
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from lowregret.errors import StoreError
from lowregret.online.stores import LostError
from lowregret.online.stores.connection_pool import register_user, unregister_user
from lowregret.online.stores.postgresql_connection import SESSION_SETTINGS, Connection, Server, is_lost
from lowregret.online.stores.postgresql_format import CHECKSUM_COLUMN, add_checksums, create, format_of

NOW = "extract(epoch FROM clock_timestamp())::float8"
"""The time of the server in seconds since 1970, by which all hosts have the same clock."""
OPENING_SECONDS = 5.0
"""How long a server that is down is waited for when a database is opened, at most."""


class Database:
    """The tables of agents in a database; ``connection`` is that of the present call, None between calls."""

    def __init__(self, url: str, agent: str, read_only: bool, timeout: float, creating: bool) -> None:
        self.connection: Connection | None = None
        self._process, self._server = os.getpid(), Server(url)
        self.title = self._server.title
        self._agent, self._read_only, self._timeout = agent, read_only, timeout
        self._inside, self._closed = False, False  # inside a transaction
        self._key, self._pool = register_user(url, read_only)
        self._creating = creating and not read_only
        try:
            self._get_connection(monotonic() + min(timeout, OPENING_SECONDS))
            self._release()
        except BaseException:
            self.close()
            raise
        self._creating = False
        self.checksums = self._pool.checksums  # whether the log has a column of them
        off = "the server has fsync = off: what it has confirmed may be lost in a power failure"
        none = "its events have no checksums: open it once as the owner of the table lowregret_log"
        self.notes: list[str] = [off] if self._pool.fsync == "off" else []
        self.notes += [] if self.checksums or read_only else [none]

    def rows(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query; outside a transaction, connect again where that is needed."""
        if self._inside:
            with self.translate_errors():
                return self.transaction_connection().execute(query, values).fetchall()
        end = monotonic() + self._timeout
        while True:
            try:
                with self.translate_errors():
                    return self._get_connection(end).execute(query, values).fetchall()
            except LostError:
                if monotonic() > end:
                    raise
            finally:
                self._release()

    def time(self) -> float:
        """Return the time of the server: its latest reading, and what has passed since."""
        now, read = self._pool.time
        return now + (monotonic() - read)

    def transaction_connection(self) -> Connection:
        if self.connection is None:
            raise LostError(self._lost())
        return self.connection

    def begin(self, end: float, waited: float) -> None:
        """Begin a transaction, and wait until a time for the lock of the agent; connect if need be."""
        self._inside = True
        while True:
            try:
                with self.translate_errors(waited):
                    connection = self._get_connection(end)
                    # An interrupt may have left a transaction open.
                    if connection.pgconn.transaction_status != TransactionStatus.IDLE:
                        connection.execute("ROLLBACK")
                    wait = min(max(1, round(1e3 * (end - monotonic()))), 2**31 - 1)
                    results = connection.execute(
                        f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = {wait}; "
                        f"SELECT pg_advisory_xact_lock({self._lock_number()}), {NOW}"
                    )
                    while results.nextset():
                        pass
                    self._pool.time = results.fetchall()[0][-1], monotonic()
                    return
            except LostError:
                if monotonic() > end:
                    raise

    def roll_back(self) -> None:
        """End a transaction that was not committed, and leave the connection to others."""
        connection, self._inside = self.connection, False
        if connection is None or os.getpid() != self._process:
            return
        try:
            if connection.pgconn.transaction_status != TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
            self._release()
        except psycopg.Error:
            self._disconnect()

    def close(self) -> None:
        """Close the connection of a call that was interrupted, and the others if nobody else uses them."""
        if os.getpid() == self._process and not self._closed:
            self._closed = True
            self._disconnect()
            unregister_user(self._key)

    @contextmanager
    def translate_errors(self, waited: float = 0.0) -> Iterator[None]:
        """Raise our errors instead of those of psycopg: ``LostError`` if there is no connection any more."""
        try:
            yield
        except psycopg.Error as error:
            if self.connection is None or is_lost(self.connection, error):
                self._disconnect()
                raise LostError(self._lost()) from None
            reason = self._server.reason(error)
            if error.sqlstate == "55P03":
                held = f"this agent for {waited:.3g} s" if waited else "its tables for too long"
                reason = f"another process has held {held}: try again"
            raise StoreError(f"cannot use {self.title}: {reason}") from None

    def _lost(self) -> str:
        return f"the connection to {self.title} was lost, and nothing was stored: try again"

    def _get_connection(self, end: float) -> Connection:
        """Return a connection; if there is none, connect, and wait for a server that is down."""
        if self.connection is None or self.connection.closed:
            self.connection = self._pool.acquire()
        if self.connection is None:
            self.connection = self._server.connect(end)
            self.connection.end = end
            try:
                with self.translate_errors():
                    self._set_up(self.connection)
            except BaseException:
                self._disconnect()
                raise
        self.connection.end = end
        return self.connection

    def _release(self) -> None:
        """Leave the connection to other agents of the process."""
        connection, self.connection = self.connection, None
        if connection is not None:
            idle = not connection.closed and connection.pgconn.transaction_status == TransactionStatus.IDLE
            self._pool.release(connection, idle)

    def _lock_number(self) -> int:
        words = f"{self._pool.table} {self._agent}".encode()
        return int.from_bytes(blake2b(words, digest_size=8).digest(), signed=True)

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

    def _disconnect(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()
