"""A database in which agents are stored, over connections that are made again when they are lost."""

from __future__ import annotations

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
from lowregret.online.stores.postgresql_connection import SETTINGS, Link, Server, is_lost
from lowregret.online.stores.postgresql_format import create, format_of
from lowregret.online.stores.postgresql_pool import join, leave

OPENING = 5.0
"""How many seconds at most a server that is down is waited for when a database is opened."""


class Database:
    """The tables of agents in a database.

    Parameters
    ----------
    url : str
        The address, which may have a password.
    agent : str
        The name of the agent whose lock ``begin`` waits for.
    read_only : bool
        Whether the server is to refuse writes.
    timeout : float
        How many seconds a query outside a transaction waits for a server that is down.
    creating : bool
        Whether to create the tables if there are none.

    Attributes
    ----------
    title : str
        The URL without the password, for messages.
    link : psycopg.Connection or None
        The connection of the present call, None between calls.
    notes : list of str
        What was found when it was opened.
    """

    def __init__(self, url: str, agent: str, read_only: bool, timeout: float, creating: bool) -> None:
        self.link: Link | None = None
        self._process, self._server = os.getpid(), Server(url)
        self.title = self._server.title
        self._agent, self._read_only, self._timeout = agent, read_only, timeout
        self._inside, self._closed = False, False  # inside a transaction
        self._key, self._pool = join(url, read_only)
        self._creating = creating and not read_only
        try:
            self._connected(monotonic() + min(timeout, OPENING))
            self._release()
        except BaseException:
            self.close()
            raise
        self._creating = False
        off = "the server has fsync = off: what it has confirmed may be lost in a power failure"
        self.notes: list[str] = [off] if self._pool.fsync == "off" else []

    def check_process(self) -> None:
        """Reject a process that was forked after the connection was made."""
        if os.getpid() != self._process:
            raise StoreError(f"{self.title} was opened before a fork: open it in each process")

    def rows(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query; outside a transaction, connect again where that is needed."""
        self.check_process()
        if self._inside:
            with self.translating():
                return self.present().execute(query, values).fetchall()
        end = monotonic() + self._timeout
        while True:
            try:
                with self.translating():
                    return self._connected(end).execute(query, values).fetchall()
            except LostError:
                if monotonic() > end:
                    raise
            finally:
                self._release()

    def present(self) -> Link:
        """Return the connection of the present transaction."""
        if self.link is None:
            raise LostError(self._lost())
        return self.link

    def begin(self, end: float, waited: float) -> None:
        """Begin a transaction, and wait until a time for the lock of the agent; connect if need be."""
        self._inside = True
        while True:
            try:
                with self.translating(waited):
                    link = self._connected(end)
                    if link.pgconn.transaction_status != TransactionStatus.IDLE:  # left open by an interrupt
                        link.execute("ROLLBACK")
                    wait = min(max(1, round(1e3 * (end - monotonic()))), 2**31 - 1)
                    link.execute(
                        f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = {wait}; "
                        f"SELECT pg_advisory_xact_lock({self._lock_number()})"
                    )
                    return
            except LostError:
                if monotonic() > end:
                    raise

    def roll_back(self) -> None:
        """End a transaction that was not committed, and leave the connection to others."""
        link, self._inside = self.link, False
        if link is None or os.getpid() != self._process:
            return
        try:
            if link.pgconn.transaction_status != TransactionStatus.IDLE:
                link.execute("ROLLBACK")
            self._release()
        except psycopg.Error:
            self._disconnect()

    def close(self) -> None:
        """Close the connection of a call that was interrupted, and the others if nobody else uses them."""
        if os.getpid() == self._process and not self._closed:
            self._closed = True
            self._disconnect()
            leave(self._key)

    @contextmanager
    def translating(self, waited: float = 0.0) -> Iterator[None]:
        """Raise our errors in place of those of psycopg: ``LostError`` if there is no connection any more."""
        try:
            yield
        except psycopg.Error as error:
            if self.link is None or is_lost(self.link, error):
                self._disconnect()
                raise LostError(self._lost()) from None
            raise self._translated(error, waited) from None

    def _lost(self) -> str:
        return f"the connection to {self.title} was lost, and nothing was stored: try again"

    def _translated(self, error: psycopg.Error, waited: float) -> StoreError:
        if error.sqlstate == "55P03":
            reason = f"another process has held this agent for {waited:.3g} s: try again"
        else:
            reason = self._server.reason(error)
        return StoreError(f"cannot use {self.title}: {reason}")

    def _connected(self, end: float) -> Link:
        """Return a connection; if there is none, connect, and wait for a server that is down."""
        if self.link is None or self.link.closed:
            self.link = self._pool.take()
        if self.link is None:
            self._connect(end)
        assert self.link is not None
        return self.link

    def _release(self) -> None:
        """Leave the connection to other agents of the process."""
        link, self.link = self.link, None
        if link is not None:
            self._pool.give(link)

    def _lock_number(self) -> int:
        """Return the number of the advisory lock of the agent."""
        words = f"{self._pool.table} {self._agent}".encode()
        return int.from_bytes(blake2b(words, digest_size=8).digest(), signed=True)

    def _connect(self, end: float) -> None:
        self.link = self._server.connect(end)
        try:
            with self.translating():
                self._set_up(self.link)
        except BaseException:
            self._disconnect()
            raise

    def _set_up(self, link: Link) -> None:
        """Find or create the tables."""
        link.execute(SETTINGS)
        if self._read_only:
            link.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        if format_of(link, self.title) == 0:
            if not self._creating:
                raise StoreError(f"{self.title} has no agents: create one with open_agent")
            create(link, self.title)
        found = link.execute(
            "SELECT 'lowregret_agents'::regclass::oid::bigint, current_setting('fsync')"
        ).fetchone()
        self._pool.table, self._pool.fsync = found or (0, "")

    def _disconnect(self) -> None:
        link, self.link = self.link, None
        if link is not None:
            with suppress(psycopg.Error):
                link.close()
