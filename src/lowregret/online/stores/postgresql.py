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
from lowregret.online.decisions import Event
from lowregret.online.stores import TIMEOUT, LostError
from lowregret.online.stores.event_checksum import OTHER_BITS, checksum_of
from lowregret.online.stores.postgresql_connection import Connection
from lowregret.online.stores.postgresql_database import Database
from lowregret.online.stores.postgresql_format import TYPES
from lowregret.online.stores.sql import EVENT, SQLStore, Statements

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
    """The events of one agent in a PostgreSQL database; an advisory lock excludes other sessions."""

    statements: LogStatements

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
        self.statements = STATEMENTS[self._database.checksums]
        self.notes, self._process = self._database.notes, os.getpid()
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
                self._see(first + len(self._appended) - 1, self._appended[-1])
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
        events, statements, checksums = self._appended, self.statements, self._database.checksums
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
        super()._roll_back()
        self._database.roll_back()

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
        return self._database.time()

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
