"""A store in a PostgreSQL database, which many processes on many hosts and many agents may share."""

import json
import os
from collections.abc import Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import psycopg

from lowregret.errors import InputError, StoreError
from lowregret.online.agent_settings import DEFAULT_NAME
from lowregret.online.decisions import Event, new_tuple
from lowregret.online.stores import TIMEOUT, LostError
from lowregret.online.stores.postgresql_connection import Connection
from lowregret.online.stores.postgresql_database import Database
from lowregret.online.stores.postgresql_format import TYPES
from lowregret.online.stores.sql import EVENT, SQLStore, Statements

MAX_EVENTS = 10_000
"""How many events one statement inserts at most."""
MAX_SINGLE_EVENTS = 5
"""Up to how many events one statement for each is quicker than one for all."""
_COLUMNS = f"INSERT INTO lowregret_log (agent, position, {EVENT}, call)"
INSERT_ONE = f"{_COLUMNS} VALUES (%s, %s, {', '.join('%s' for _ in TYPES)}, %s)"
INSERT_MANY = (
    f"{_COLUMNS} SELECT %s, %s + n, {EVENT}, CASE n WHEN 1 THEN %s::uuid END FROM ROWS FROM "
    "(json_to_recordset(%s::json) AS ("
    f"{', '.join(f'{name} {kind}' for name, kind in zip(Event._fields, TYPES, strict=True))}"
    f")) WITH ORDINALITY AS new ({EVENT}, n)"
)
REQUESTED = (
    f"SELECT {EVENT} FROM unnest(%s::text[]) AS wanted CROSS JOIN LATERAL ("
    f"SELECT {EVENT}, position FROM lowregret_log "
    "WHERE agent = %s AND left(request, 200) = left(wanted, 200) AND request = wanted OFFSET 0"
    ") AS found ORDER BY position"
)
"""One search of the index for each request."""

SPILL = (
    "WITH small AS MATERIALIZED (SELECT length(set_config('work_mem', '64kB', true)) AS size) "
    "SELECT count(*) FROM small CROSS JOIN LATERAL generate_series(1, 30000 + 0 * size)"
)
"""Makes the server write a megabyte to a temporary file, which fails where nothing else can be written."""

_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class PostgreSQLStore(SQLStore):
    """The events of one agent in a PostgreSQL database; an advisory lock excludes other sessions."""

    statements = Statements("lowregret_", "%s")

    def __init__(
        self,
        url: str,  # such as postgresql://user:password@host:5432/database
        name: str = DEFAULT_NAME,  # of the agent
        read_only: bool = False,  # also for a server that is a hot standby
        timeout: float = TIMEOUT,  # the seconds that a call that reads waits for a server that is down
        creating: bool = True,  # the tables, if there are none
    ) -> None:
        self._database = Database(url, name, read_only, timeout, creating)
        super().__init__(self._database.title, name, read_only)
        self.notes, self._process = self._database.notes, os.getpid()
        self._seen: tuple[int, Event] | None = None  # the last known event and its position
        self.header()

    def _begin(self) -> None:
        self._check_process()
        self._database.begin(self._end, self._waited)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StoreError(f"{self.title} was opened before a fork: open it in each process")

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
                self._seen = first + len(self._appended) - 1, self._appended[-1]
            return

    def _write(self, first: int, call: UUID) -> None:
        with self._database.translate_errors():
            connection = self._database.transaction_connection()
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
                self._database.begin(self._end, self._waited)  # waits for a commit that is still under way
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
        events = self._appended
        if len(events) <= MAX_SINGLE_EVENTS:
            for place, event in enumerate(events):
                connection.execute(INSERT_ONE, (self._id, first + place, *event, None if place else call))
            return
        for start in range(0, len(events), MAX_EVENTS):
            rows = _json([event._asdict() for event in events[start : start + MAX_EVENTS]])
            connection.execute(INSERT_MANY, (self._id, first + start - 1, None if start else call, rows))

    def _roll_back(self) -> None:
        super()._roll_back()
        self._database.roll_back()

    def create(self, header: str) -> None:
        if "\\u0000" in header:
            raise InputError("PostgreSQL cannot store the character NUL: leave it out of the names of arms")
        query = "INSERT INTO lowregret_agents (name, head) VALUES (%s, %s) RETURNING id"
        self._id = self._rows(query, self.name, header)[0][0]
        self._created = True

    def _check_last(self, after: int, rows: list[tuple[Any, ...]], events: list[Event]) -> None:
        """Reject a log whose event was replaced, as after a failover; the request may be erased."""
        if self._seen and self._seen[0] == after and rows and rows[0][-1] == after:
            event, seen = new_tuple(Event, rows[0][:-1]), self._seen[1]
            if event._replace(request=None) != seen._replace(request=None):
                raise StoreError(
                    f"{self.title} has lost events that this process has seen: open the agent again"
                )
        if events:
            self._seen = after + len(events), events[-1]

    def events_of_requests(self, requests: Sequence[str]) -> list[Event]:
        return [Event(*row) for row in self._find(REQUESTED, list(requests), self._id)]

    def erase(self, request: str) -> None:
        query = (
            "UPDATE lowregret_log SET request = NULL "
            "WHERE agent = %s AND left(request, 200) = left(%s, 200) AND request = %s"
        )
        self._staged.append((query, (self._id, request, request)))

    def check_space(self) -> None:
        self._rows(SPILL)

    def close(self) -> None:
        self._database.close()

    def __del__(self) -> None:
        if hasattr(self, "_database"):
            self.close()

    def _find(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return rows that an index finds, with a new plan of the query when the log has doubled."""
        size = self._last or (self._seen[0] if self._seen else 0)
        return self._rows(f"{query} -- below {1 << size.bit_length()} events", *values)

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        self._check_process()
        return self._database.rows(query, values)
