"""Connections to a PostgreSQL server: its address, its name without secrets, and its errors."""

from math import ceil
from time import monotonic, sleep
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict

from lowregret.errors import InputError
from lowregret.online.stores import UnreachableError

T = TypeVar("T")

ANSWER_GRACE_SECONDS = 1.0
"""How much longer than agreed a statement waits: a server that is up says what is wrong."""
RECONNECT_SECONDS = 0.05
"""The time between attempts to connect."""
LOST_STATES = ("08", "57P", "53300")
"""How the SQLSTATE of an error begins after which there is no connection: lost, shut down, or too many."""
PERMANENT_FAILURES = (
    "authentication failed",
    "does not exist",
    "no pg_hba.conf entry",
    "failed to resolve",
    "password",
    "invalid ",
)
"""What a message has after which another attempt to connect would fail in the same way."""
ERROR_ADVICE = {
    "53100": "the disk of the server is full: free some space and try again",
    "25006": "it cannot be written to: open it with read_only=True to read it",
    "23505": "another program has written to the log of this agent: open the agent again",
    "22021": "its encoding cannot represent a character: use a database with the encoding UTF8",
    "22P05": "its encoding cannot represent a character: use a database with the encoding UTF8",
}
SESSION_SETTINGS = """
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') IN ('off', 'local');
SET client_min_messages = warning;
SET tcp_keepalives_idle = 30;
SET tcp_keepalives_interval = 10;
SET tcp_keepalives_count = 3;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET jit = off;
"""
"""A commit waits for the disk. The server soon notices that a client is gone, whose lock it then frees. Plans
use the indexes, also those that were made while the tables were small."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection on which nobody waits for a frozen server longer than until ``end``."""

    end = 0.0

    def wait(self, gen: PQGen[T], *arguments: Any, **options: Any) -> T:
        return super().wait(
            _until(gen, max(self.end, monotonic()) + ANSWER_GRACE_SECONDS), *arguments, **options
        )


def _until(gen: PQGen[T], end: float) -> PQGen[T]:
    """Pass on what a statement waits for, and what is ready; nothing is, each time that psycopg looks up."""
    try:
        waits_for = next(gen)
        while True:
            ready = yield waits_for
            if not ready and monotonic() > end:
                raise psycopg.OperationalError("the server does not answer")
            waits_for = gen.send(ready)
    except StopIteration as stop:
        result: T = stop.value
        return result


class Server:
    """A PostgreSQL server; ``title`` is its URL without the password and the options, for messages."""

    def __init__(self, url: str) -> None:
        try:
            parts = conninfo_to_dict(url)
        except psycopg.Error:  # whose message may have a part of the password
            raise InputError(
                "a PostgreSQL store must be a URL such as 'postgresql://user:password@host/database', with "
                "special characters percent-encoded"
            ) from None
        self._url, self._password = url, str(parts.get("password") or "")
        user, host, port = (parts.get(key) for key in ("user", "host", "port"))
        place = f"{host or ''}{f':{port}' if port else ''}"
        self.title = f"'postgresql://{f'{user}@' if user else ''}{place}/{parts.get('dbname') or ''}'"

    def __repr__(self) -> str:
        return f"Server({self.title})"

    def connect(self, end: float) -> Connection:
        """Connect; try again until a time, on the clock of ``monotonic``."""
        while True:
            try:
                return Connection.connect(
                    self._url,
                    autocommit=True,
                    connect_timeout=max(2, ceil(end - monotonic())),  # psycopg waits for 2 s at least
                    fallback_application_name="lowregret",
                    client_encoding="UTF8",
                )
            except psycopg.Error as error:
                if not _may_come_back(error) or end - monotonic() <= RECONNECT_SECONDS:
                    raise UnreachableError(f"cannot use {self.title}: {self.reason(error)}") from None
            sleep(RECONNECT_SECONDS)

    def reason(self, error: psycopg.Error) -> str:
        """Return the reason of an error, and what to do about it where that is known."""
        advice = ERROR_ADVICE.get(error.sqlstate or "")
        if advice is not None:
            return advice
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        text = lines[0] if lines else type(error).__name__
        return text.replace(self._password, "***") if self._password else text


def is_lost(connection: Connection, error: psycopg.Error) -> bool:
    """Return whether a connection has ended, or is in a state from which nothing more is to be expected."""
    unexplained = error.sqlstate is None and isinstance(error, psycopg.OperationalError)  # not by the server
    return connection.closed or unexplained or (error.sqlstate or "").startswith(LOST_STATES)


def _may_come_back(error: psycopg.Error) -> bool:
    """Return whether another attempt to connect may succeed: the server is down or starts."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    temporary = (error.sqlstate or "").startswith(LOST_STATES)
    return temporary or not any(part in str(error) for part in PERMANENT_FAILURES)
