"""A store in a PostgreSQL database, which many processes on many hosts and many agents may share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import psycopg

from lowregret.errors import InputError, StoreError
from lowregret.online.agent_settings import DEFAULT_NAME
from lowregret.online.decisions import Event, new_tuple
from lowregret.online.stores import TIMEOUT, CompactedError, LostError
from lowregret.online.stores.postgresql_connection import Link
from lowregret.online.stores.postgresql_database import Database
from lowregret.online.stores.postgresql_format import EVENT, TYPES
from lowregret.online.stores.session import Session

CHUNK = 10_000
"""How many events one statement inserts at most."""
FEW = 5
"""Up to how many events one statement for each is quicker than one for all."""
_COLUMNS = f"INSERT INTO lowregret_log (agent, position, {EVENT}, call)"
INSERT_ONE = f"{_COLUMNS} VALUES (%s, %s, {', '.join('%s' for _ in TYPES)}, %s)"
INSERT_MANY = (
    f"{_COLUMNS} SELECT %s, %s + n, {EVENT}, CASE n WHEN 1 THEN %s::uuid END FROM ROWS FROM "
    "(json_to_recordset(%s::json) AS ("
    f"{', '.join(f'{name} {kind}' for name, kind in zip(Event._fields, TYPES, strict=True))}"
    f")) WITH ORDINALITY AS new ({EVENT}, n)"
)
SELECT = f"SELECT {EVENT} FROM lowregret_log WHERE agent = %s AND "
DECISION = (
    f"{SELECT} decision = %s AND kind = 'asked' "
    f"UNION ALL {SELECT} decision = %s AND kind IN ('told', 'forgot')"
)
"""Two parts, because each has an index."""
REQUESTED = (
    f"SELECT {EVENT} FROM unnest(%s::text[]) AS wanted CROSS JOIN LATERAL ("
    f"SELECT {EVENT}, position FROM lowregret_log "
    "WHERE agent = %s AND left(request, 200) = left(wanted, 200) AND request = wanted OFFSET 0"
    ") AS found ORDER BY position"
)
"""One search of the index for each request."""

_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class PostgreSQLStore:
    """The events of one agent in a PostgreSQL database.

    The sessions of an agent exclude one another by an advisory lock of its own, so two agents do not wait for
    each other. A commit whose answer was lost, because the server or the connection ended, is looked up when
    the server is back.

    Parameters
    ----------
    url : str
        The address of the database, such as ``postgresql://user:password@host:5432/database``.
    name : str
        The name of the agent in the database.
    read_only : bool, default False
        Whether to write nothing, also for a server that is a hot standby.
    timeout : float, default 60
        How many seconds a call that reads waits for a server that is down.
    creating : bool, default True
        Whether to create the tables if there are none.
    """

    shared = True

    def __init__(
        self,
        url: str,
        name: str = DEFAULT_NAME,
        read_only: bool = False,
        timeout: float = TIMEOUT,
        creating: bool = True,
    ) -> None:
        self._database = Database(url, name, read_only, timeout, creating)
        self.notes, self.title = self._database.notes, self._database.title
        self.name, self._read_only = name, read_only
        self._id: int | None = None
        self._staged: list[Callable[[Link], None]] = []
        self._appended: list[Event] = []
        self._begun = False  # the agent, in the present session
        self._last: int | None = None  # the last position of the agent, as far as this session has seen it
        self._end = 0.0  # of the wait of the present session
        self._waited = timeout  # seconds
        self._seen: tuple[int, Event] | None = (
            None  # the last event that this process knows, and its position
        )
        self.head()

    def names(self) -> list[str]:
        """Return the names of the agents in the database, in the order in which they were created."""
        return [row[0] for row in self._rows("SELECT name FROM lowregret_agents ORDER BY id")]

    def session(self, timeout: float) -> AbstractContextManager[None]:
        """Open a session; others who use this agent wait, and its end waits for the disk of the server."""
        return Session(partial(self._enter, timeout), self._commit, self._roll_back)

    def _enter(self, timeout: float) -> None:
        if self._read_only:
            raise StoreError(f"{self.title} was opened read-only: open it without read_only")
        self._database.check_process()
        self._staged, self._appended, self._last = [], [], None
        self._end, self._waited = monotonic() + timeout, timeout
        self._database.begin(self._end, timeout)

    def _commit(self) -> None:
        """Write what was staged; a commit whose answer was lost is looked up, and repeated if need be."""
        if not (self._staged or self._appended or self._begun):
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
            self._begun = False
            if self._appended:
                self._seen = first + len(self._appended) - 1, self._appended[-1]
            return

    def _write(self, first: int, call: UUID) -> None:
        with self._database.translating():
            link = self._database.present()
            with link.pipeline() if psycopg.Pipeline.is_supported() else nullcontext():
                for write in self._staged:
                    write(link)
                self._insert(link, first, call)
                link.execute("COMMIT")

    def _was_stored(self, first: int, call: UUID) -> bool:
        """Return whether a commit was made whose answer was lost; raise an error if it cannot be repeated."""
        unknown = "the call may have been stored, so repeat it with the same request or reward"
        while True:
            self._last = None
            try:
                self._database.begin(self._end, self._waited)  # waits for a commit that is still under way
                query = "SELECT call FROM lowregret_log WHERE agent = %s AND position = %s"
                found = self._rows(query, self._id, first)
                base, last = self._base(), self._last_position()
                break
            except LostError:
                if monotonic() > self._end:
                    raise StoreError(f"the connection to {self.title} was lost: {unknown}") from None
            except StoreError as error:
                raise StoreError(f"{error}; {unknown}") from None
        if found and found[0][0] == call:
            return True
        if first <= base:
            raise StoreError(f"the connection to {self.title} was lost: {unknown}")
        if last != first - 1:  # another process has stored events meanwhile
            raise LostError(f"the connection to {self.title} was lost, and nothing was stored: try again")
        return False

    def _insert(self, link: Link, first: int, call: UUID) -> None:
        """Insert the events of the session from a position on; the first row has the number of the call."""
        events = self._appended
        if len(events) <= FEW:
            for place, event in enumerate(events):
                link.execute(INSERT_ONE, (self._id, first + place, *event, None if place else call))
            return
        for start in range(0, len(events), CHUNK):
            rows = _json([event._asdict() for event in events[start : start + CHUNK]])
            link.execute(INSERT_MANY, (self._id, first + start - 1, None if start else call, rows))

    def _roll_back(self) -> None:
        """Roll back what was not committed."""
        self._last = None
        if self._begun:
            self._id, self._begun = None, False
        self._database.roll_back()

    def head(self) -> str | None:
        """Return the text that the agent begins with, None if it is new."""
        found = self._rows("SELECT id, head FROM lowregret_agents WHERE name = %s", self.name)
        self._id = found[0][0] if found else None
        return found[0][1] if found else None

    def begin(self, head: str) -> None:
        """Begin a new agent."""
        if "\\u0000" in head:
            raise InputError("PostgreSQL cannot store the character NUL: leave it out of the names of arms")
        rows = self._rows(
            "INSERT INTO lowregret_agents (name, head) VALUES (%s, %s) RETURNING id", self.name, head
        )
        self._id = rows[0][0]
        self._begun = True

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        self._appended.extend(events)

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the latest snapshot."""
        self._stage(
            "DELETE FROM lowregret_snapshots AS old USING lowregret_agents AS one "
            "WHERE one.id = %s AND old.agent = one.id AND old.position > one.base AND old.position <> %s",
            position,
        )
        self._stage_snapshot(position, snapshot)

    def events(self, after: int, limit: int | None = None) -> list[Event]:
        """Return the events after a position, in their order."""
        first = max(after, 1)  # the last known one must still exist
        rows = self._rows(
            f"SELECT {EVENT}, position FROM lowregret_log WHERE agent = %s AND position >= %s "
            "ORDER BY position LIMIT %s",
            self._id,
            first,
            None if limit is None else limit + 1,
        )
        positions = [row[-1] for row in rows]
        if positions != list(range(first, first + len(rows))) or (after and not rows):
            base = self._base()
            if base > after:
                raise CompactedError(f"the events up to {base} were replaced by a snapshot")
            if base != after or positions != list(range(after + 1, after + 1 + len(rows))):
                raise StoreError(f"{self.title} has lost rows of its log: restore it from a copy")
        if self._seen and self._seen[0] == after and rows and rows[0][-1] == after:
            self._check_seen(new_tuple(Event, rows[0][:-1]), self._seen[1])
        found = [new_tuple(Event, row[:-1]) for row in rows if row[-1] > after]
        if found:
            self._seen = after + len(found), found[-1]
        if limit is None or len(found) <= limit:
            self._last = after + len(found)
            return found
        return found[:limit]

    def _check_seen(self, event: Event, seen: Event) -> None:
        """Reject a log whose event was replaced, as after a failover; the request may be erased."""
        if event._replace(request=None) != seen._replace(request=None):
            raise StoreError(f"{self.title} has lost events that this process has seen: open the agent again")

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""
        rows = self._rows(
            "SELECT position, text FROM lowregret_snapshots WHERE agent = %s ORDER BY position DESC LIMIT 1",
            self._id,
        )
        return (rows[0][0], rows[0][1]) if rows else None

    def first(self) -> tuple[int, str] | None:
        """Return the snapshot before the first event and its position."""
        base = self._base()
        if base == 0:
            return None
        rows = self._rows(
            "SELECT position, text FROM lowregret_snapshots WHERE agent = %s AND position = %s",
            self._id,
            base,
        )
        if not rows:
            raise StoreError(f"{self.title} has lost its first snapshot: restore it from a copy")
        return rows[0][0], rows[0][1]

    def decision(self, number: int) -> list[Event]:
        """Return the event that asked for a decision and the one that answered it."""
        return [Event(*row) for row in self._found(DECISION, self._id, number, self._id, number)]

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""
        return self.requested_among([request])

    def requested_among(self, requests: Sequence[str]) -> list[Event]:
        """Return the events of several requests, in their order."""
        return [Event(*row) for row in self._found(REQUESTED, list(requests), self._id)]

    def compact(self, position: int, snapshot: str) -> None:
        """Drop the events up to a position."""
        for table in ("lowregret_log", "lowregret_snapshots"):
            self._stage(f"DELETE FROM {table} WHERE agent = %s AND position <= %s", position)
        self._stage_snapshot(position, snapshot)
        self._stage("UPDATE lowregret_agents SET base = %s WHERE id = %s", agent_last=(position,))
        self._last = max(self._last_position(), position)

    def erase(self, request: str) -> None:
        """Remove the name of a request from its events."""
        self._stage(
            "UPDATE lowregret_log SET request = NULL "
            "WHERE agent = %s AND left(request, 200) = left(%s, 200) AND request = %s",
            request,
            request,
        )

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def __del__(self) -> None:
        if hasattr(self, "_database"):
            self.close()

    def _stage(self, query: str, *values: Any, agent_last: tuple[Any, ...] = ()) -> None:
        """Execute a statement when the session ends; its first parameter is the agent."""

        def write(link: Link) -> None:
            link.execute(query, (*agent_last, self._id, *values))

        self._staged.append(write)

    def _stage_snapshot(self, position: int, snapshot: str) -> None:
        self._stage(
            "INSERT INTO lowregret_snapshots (agent, position, text) VALUES (%s, %s, %s) "
            "ON CONFLICT (agent, position) DO UPDATE SET text = EXCLUDED.text",
            position,
            snapshot,
        )

    def _base(self) -> int:
        """Return how many events were dropped."""
        found = self._rows("SELECT base FROM lowregret_agents WHERE id = %s", self._id)
        return int(found[0][0]) if found else 0

    def _last_position(self) -> int:
        """Return the position of the last event; within a session."""
        if self._last is None:
            found = self._rows("SELECT max(position) FROM lowregret_log WHERE agent = %s", self._id)
            self._last = self._base() if found[0][0] is None else int(found[0][0])
        return self._last

    def _found(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return rows of the log that an index finds.

        A connection keeps the plan of a query. One that was made while the log was short may scan all of it,
        so the query gets another text, and with it another plan, when the log has doubled.
        """
        known = self._last or (self._seen[0] if self._seen else 0)
        return self._rows(f"{query} -- below {1 << known.bit_length()} events", *values)

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._database.rows(query, values)
