"""The connections of a process to a file or a server, which its agents share.

A call has a connection to itself while it lasts, so a process needs as many as it makes calls at the same
time, however many agents it has open.
"""

import os
from collections.abc import Callable
from threading import RLock
from typing import Any

Key = tuple[str, bool, int]
"""The path or URL, whether connections only read, and the process."""


class Pool:
    """Connections that no call uses at present."""

    def __init__(self) -> None:
        self.table = 0  # the number of the table of agents in a database of a server, part of the locks
        self.fsync = ""  # the setting of the server
        self.checksums = False  # whether the log of a database of a server has a column of them
        self.time = 0.0, 0.0  # a reading of its clock, and of ``monotonic`` at that time
        self.users = 0
        self._idle: list[Any] = []  # of psycopg, or of ``sqlite_connection``

    def acquire(self) -> Any:
        """Return a connection, the one that was used last; None if there is none."""
        with _lock:
            return self._idle.pop() if self._idle else None

    def release(self, connection: Any, usable: bool) -> None:
        """Take back a connection after a call; close it if it is of no use."""
        with _lock:
            if usable and self.users:
                self._idle.append(connection)
                return
        connection.close()

    def acquire_if(self, condition: Callable[[Any], bool]) -> list[Any]:
        """Return the connections that meet a condition."""
        with _lock:
            taken = [connection for connection in self._idle if condition(connection)]
            self._idle = [connection for connection in self._idle if connection not in taken]
        return taken

    def close(self) -> None:
        while (connection := self.acquire()) is not None:
            connection.close()


def register_user(where: str, read_only: bool) -> tuple[Key, Pool]:
    """Return the connections of this process to a place, and count one more who uses them."""
    key = where, read_only, os.getpid()
    with _lock:
        pool = _pools.setdefault(key, Pool())
        pool.users += 1
    return key, pool


def pools_of(where: str) -> tuple[Pool, Pool]:
    """Return the connections of this process to a place: those that may write, and those that only read."""
    writing, reading = (_pools.get((where, read_only, os.getpid()), Pool()) for read_only in (False, True))
    return writing, reading


def unregister_user(key: Key) -> None:
    """Count one user less; the last one closes the connections."""
    with _lock:
        pool = _pools[key]
        pool.users -= 1
        if pool.users:
            return
        del _pools[key]
    pool.close()


_pools: dict[Key, Pool] = {}
_lock = RLock()  # which the garbage collector may ask for again


def _unlock_after_fork() -> None:
    """Replace a lock that another thread of the parent may have held."""
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_after_fork)
