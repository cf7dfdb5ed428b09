"""What the stores in SQL databases have in common: their statements, and how a session writes."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from time import monotonic
from typing import Any

from lowregret.errors import StoreError
from lowregret.online.decisions import Event, new_tuple
from lowregret.online.stores import TIMEOUT, CompactedError, Store
from lowregret.online.stores.event_checksum import is_intact

EVENT = ", ".join(Event._fields)
"""The columns of an event."""
POSITION, CHECKSUM = len(Event._fields), len(Event._fields) + 1
"""Where rows of the log have what is not of their event."""
REQUEST = Event._fields.index("request")
UNLIMITED = 2**62
"""The limit of a query without one."""


class Statements:
    """The statements that are the same in all databases but for a prefix of tables and a placeholder.

    A log that an older version has created has no column of checksums, unless this one could add it.
    """

    def __init__(self, prefix: str, mark: str, checksums: bool = True) -> None:
        agents, log, snapshots = (prefix + table for table in ("agents", "log", "snapshots"))
        self.checksum = "checksum" if checksums else "NULL"
        event = f"{EVENT}, position, {self.checksum}"
        decision = f"SELECT {event} FROM {log} WHERE agent = {mark} AND decision = {mark} AND kind"
        self.names = f"SELECT name FROM {agents} ORDER BY id"
        self.header = f"SELECT id, head FROM {agents} WHERE name = {mark}"
        self.base = f"SELECT base FROM {agents} WHERE id = {mark}"
        self.set_base = f"UPDATE {agents} SET base = {mark} WHERE id = {mark}"
        self.last_position = f"SELECT max(position) FROM {log} WHERE agent = {mark}"
        self.events = (
            f"SELECT {event} FROM {log} WHERE agent = {mark} AND position >= {mark} "
            f"ORDER BY position LIMIT {mark}"
        )
        # Two parts, because each has an index.
        self.decision = f"{decision} = 'asked' UNION ALL {decision} IN ('told', 'forgot')"
        self.latest_snapshot = (
            f"SELECT position, text FROM {snapshots} WHERE agent = {mark} ORDER BY position DESC LIMIT 1"
        )
        self.snapshot = f"SELECT position, text FROM {snapshots} WHERE agent = {mark} AND position = {mark}"
        self.save_snapshot = (
            f"INSERT INTO {snapshots} (agent, position, text) VALUES ({mark}, {mark}, {mark}) "
            "ON CONFLICT (agent, position) DO UPDATE SET text = EXCLUDED.text"
        )
        self.drop_snapshots = (
            f"DELETE FROM {snapshots} WHERE agent = {mark} AND position <> {mark} "
            f"AND position > (SELECT base FROM {agents} WHERE id = {mark})"
        )
        self.compact = [
            f"DELETE FROM {table} WHERE agent = {mark} AND position <= {mark}" for table in (log, snapshots)
        ]


class SQLStore(Store):
    """The events of one agent in a database; what a session writes is staged, and written when it ends."""

    name: str
    shared = True
    statements: Statements

    def __init__(self, title: str, name: str, read_only: bool) -> None:
        self.title, self.name, self._read_only = title, name, read_only
        self._id: int | None = None
        self._staged: list[tuple[str, tuple[Any, ...]]] = []
        self._appended: list[Event] = []
        self._created = False  # the agent, in the present session
        self._last: int | None = None  # the last position of the agent, as far as this session has seen it
        self._seen: tuple[int, tuple[Any, ...]] | None = None  # position and fields of the last known event
        self._end = 0.0  # of the wait of the present session
        self._waited = TIMEOUT  # seconds

    def session(self, timeout: float) -> AbstractContextManager[None]:
        """Open a session; other processes wait, and its end waits for the disk.

        An interrupt between the first line of a ``with`` statement and its body, or between its body and its
        end, cannot be caught here. The transaction is then left open, but empty, because writes are staged in
        memory (except that of a new agent); the next session rolls it back. This is not a generator, because
        one that is left over would roll back another transaction when it is garbage-collected.
        """
        self._waited = timeout
        return self

    def __enter__(self) -> None:
        try:
            if self._read_only:
                raise StoreError(f"{self.title} was opened read-only: open it without read_only")
            self._staged, self._appended, self._last = [], [], None
            self._end = monotonic() + self._waited
            self._begin()
        except BaseException:
            self._roll_back()
            raise

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            self._roll_back()

    @abstractmethod
    def _begin(self) -> None:
        """Begin a transaction, in which no other process writes to the agent."""

    @abstractmethod
    def _commit(self) -> None:
        """Write what was staged, and then the events that were appended."""

    def _roll_back(self) -> None:
        """Discard what was not committed."""
        self._last, self._end, self._staged, self._appended = None, 0.0, [], []
        if self._created:
            self._id, self._created = None, False

    @abstractmethod
    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""

    def _find(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return rows of the log that an index finds."""
        return self._rows(query, *values)

    def names(self) -> list[str]:
        return [row[0] for row in self._rows(self.statements.names)]

    def header(self) -> str | None:
        rows = self._rows(self.statements.header, self.name)
        self._id = rows[0][0] if rows else None
        return str(rows[0][1]) if rows else None

    def append(self, events: Sequence[Event]) -> None:
        self._appended.extend(events)

    def save_snapshot(self, position: int, snapshot: str) -> None:
        self._staged += [
            (self.statements.drop_snapshots, (self._id, position, self._id)),
            (self.statements.save_snapshot, (self._id, position, snapshot)),
        ]

    def events(self, after: int, limit: int | None = None) -> list[Event]:
        first = max(after, 1)  # the last known one must still exist
        rows = self._rows(self.statements.events, self._id, first, UNLIMITED if limit is None else limit + 1)
        if rows:
            self._check_seen(rows)
        if len(rows) == 1 and rows[0][POSITION] == after:  # nothing is new, as most often
            self._last = after
            return []
        positions = [row[POSITION] for row in rows]
        if positions != list(range(first, first + len(rows))) or not rows:
            base = self._base()
            if base > after:
                raise CompactedError(f"the events up to {base} were replaced by a snapshot")
            if base != after or positions != list(range(after + 1, after + 1 + len(rows))):
                raise StoreError(f"{self.title} has lost rows of its log: restore it from a copy")
        events = self._checked(rows[positions[:1] == [after] :])
        if limit is None or len(events) <= limit:
            self._last = after + len(events)
            return events
        return events[:limit]

    def _checked(self, rows: Iterable[tuple[Any, ...]]) -> list[Event]:
        """Return the events of rows, each of which must have its checksum."""
        events = []
        for row in rows:
            event: Event = new_tuple(Event, row[:POSITION])
            if not is_intact(row[POSITION], event, row[CHECKSUM]):
                raise self._damaged(row[POSITION])
            events.append(event)
        return events

    def _damaged(self, position: int) -> StoreError:
        remedy = "restore a copy that 'lowregret agent verify' accepts"
        return StoreError(f"event {position} of {self.title} is damaged: {remedy}")

    def _check_seen(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Reject a log in which an event that this process knows was replaced: by a copy, or a failover."""
        if self._seen is not None:
            position, fields = self._seen
            place = position - rows[0][POSITION]
            row = rows[place] if 0 <= place < len(rows) else None
            if row is not None and row[POSITION] == position and _without_request(row) != fields:
                self._checked([row])
                raise self._lost_events()
            if row is rows[-1]:  # nothing is new, as most often
                return
        self._see(rows[-1][POSITION], rows[-1])

    def _see(self, position: int, event: tuple[Any, ...]) -> None:
        """Remember an event, unless a later one is known: who verifies a log reads it from the beginning."""
        if self._seen is None or position >= self._seen[0]:
            self._seen = position, _without_request(event)

    def _lost_events(self) -> StoreError:
        return StoreError(f"{self.title} has lost events that this process has seen: open the agent again")

    def latest_snapshot(self) -> tuple[int, str] | None:
        return self._snapshot(self.statements.latest_snapshot, self._id)

    def first_snapshot(self) -> tuple[int, str] | None:
        base = self._base()
        while base:
            snapshot = self._snapshot(self.statements.snapshot, self._id, base)
            if snapshot is not None:
                return snapshot
            before, base = base, self._base()
            if base == before:  # else another process has compacted the log between the two queries
                raise StoreError(f"{self.title} has lost its first snapshot: restore it from a copy")
        return None

    def _snapshot(self, query: str, *values: Any) -> tuple[int, str] | None:
        rows = self._rows(query, *values)
        return (rows[0][0], rows[0][1]) if rows else None

    def events_of_decision(self, number: int) -> list[Event]:
        return self._checked(self._find(self.statements.decision, *(self._id, number) * 2))

    def events_of_request(self, request: str) -> list[Event]:
        return self.events_of_requests([request])

    def compact(self, position: int, snapshot: str) -> None:
        self._staged += [
            *((statement, (self._id, position)) for statement in self.statements.compact),
            (self.statements.save_snapshot, (self._id, position, snapshot)),
            (self.statements.set_base, (position, self._id)),
        ]
        self._last = max(self._last_position(), position)

    def _base(self) -> int:
        """Return how many events were dropped."""
        rows = self._rows(self.statements.base, self._id)
        return int(rows[0][0]) if rows else 0

    def _last_position(self) -> int:
        """Return the position of the last event; within a session."""
        if self._last is None:
            last = self._rows(self.statements.last_position, self._id)[0][0]
            self._last = self._base() if last is None else int(last)
        return self._last


def _without_request(event: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the fields of an event, or of its row, but for the request, which may be erased."""
    return event[:REQUEST] + event[REQUEST + 1 : POSITION]
