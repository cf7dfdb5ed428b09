"""The connections of a process to a PostgreSQL server, which its agents share.

A call has a connection to itself while it lasts, so a process needs as many as it makes calls at the same
time, however many agents it has open.
"""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Lock

import psycopg
from psycopg.pq import TransactionStatus

from lowregret.online.stores.postgresql_connection import Link

Key = tuple[str, bool, int]
"""The URL, whether connections only read, and the process."""


class Pool:
    """Connections that no call uses at present.

    Attributes
    ----------
    table : int
        The number of the table of agents in the database, part of the locks.
    fsync : str
        The setting of this name of the server.
    """

    def __init__(self) -> None:
        self.table, self.fsync = 0, ""
        self.users = 0
        self._idle: list[Link] = []

    def take(self) -> Link | None:
        """Return a connection, the one that was used last; None if there is none."""
        with _lock:
            return self._idle.pop() if self._idle else None

    def give(self, link: Link) -> None:
        """Take back a connection after a call."""
        usable = not link.closed and link.pgconn.transaction_status == TransactionStatus.IDLE
        with _lock:
            if usable and self.users:
                self._idle.append(link)
                return
        with suppress(psycopg.Error):
            link.close()

    def close(self) -> None:
        """Close all connections."""
        while (link := self.take()) is not None:
            with suppress(psycopg.Error):
                link.close()


def join(url: str, read_only: bool) -> tuple[Key, Pool]:
    """Return the connections of this process to a server, and count one more who uses them."""
    key = url, read_only, os.getpid()
    with _lock:
        pool = _pools.setdefault(key, Pool())
        pool.users += 1
    return key, pool


def leave(key: Key) -> None:
    """Count one user less; the last one closes the connections."""
    with _lock:
        pool = _pools[key]
        pool.users -= 1
        if pool.users:
            return
        del _pools[key]
    pool.close()


_pools: dict[Key, Pool] = {}
_lock = Lock()


def _unlock_after_fork() -> None:
    """Replace a lock that another thread of the parent may have held."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_after_fork)
