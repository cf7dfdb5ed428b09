"""A store of one agent in an append-only file, for one process.

After a crash the last record may be incomplete, in any of its pages; it was never acknowledged, and is moved
to a file beside the journal when that is opened. A damaged record before the last one is an error. When the
journal has become long, a snapshot replaces the older half of its events, and the journal until then is kept
under another name, so that opening takes less than a second however many decisions were made.
"""

from __future__ import annotations

import json
import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import Any
from weakref import finalize

from lowregret._common.durable_files import as_store_error, locked, sync
from lowregret.errors import StoreError
from lowregret.online.agent_settings import DEFAULT_NAME
from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.stores import CompactedError, check_place
from lowregret.online.stores.journal_records import (
    TITLE,
    check_torn,
    encode,
    format_of,
    plain,
    records,
    upgraded_part,
    write_at,
)

RETAINED = 100_000
"""How many events a journal holds at least, if there were so many; it is shortened at twice as many."""


class JournalStore:
    """A store in a journal.

    Parameters
    ----------
    path : path
        The file; created if it does not exist, readable by its owner only. A file beside it, named
        ``.lock``, identifies its process.
    name : str, optional
        The name that a new agent gets; an agent that exists has one.
    read_only : bool, default False
        Whether to leave the file and its folder unchanged. Another process may then have it open.
    """

    shared = False

    def __init__(self, path: Path, name: str | None = None, read_only: bool = False) -> None:
        self.notes: list[str] = []
        path = Path(os.path.realpath(path))  # one lock per file, whatever links lead to it
        self._path, self._process, self._read_only = path, os.getpid(), read_only
        self._staged: dict[str, Any] = {}
        self._compaction: tuple[int, str] | None = None
        self._erased: set[str] = set()
        self._unsure = False  # after an interrupted write the file is read again
        self._replacing = False  # while we replace the file by another
        with ExitStack() as stack:
            if not read_only:
                lock = path.with_name(path.name + ".lock")
                with as_store_error(path):
                    os.close(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600))
                stack.enter_context(locked(path, lock))
            with as_store_error(path):
                self._file = os.open(path, os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT, 0o600)
            stack.callback(os.close, self._file)
            self._open()
            if self._format == 1 and not read_only:
                self._rewrite(encode(part) for _, _, part in self._parts(len(TITLE)))
            self.name = (self.names() or [name or DEFAULT_NAME])[0]
            # Also at the exit of Python, while os.close still exists.
            self._let_go = finalize(self, stack.pop_all().close)

    def names(self) -> list[str]:
        """Return the names of the agents in the file, which is one or none."""
        try:
            return [] if self._head is None else [json.loads(self._head).get("name", DEFAULT_NAME)]
        except (ValueError, AttributeError):
            return []

    @contextmanager
    def session(self, timeout: float) -> Iterator[None]:
        """Open a session; its end waits for the disk."""
        if os.getpid() != self._process:
            raise StoreError(f"{str(self._path)!r} was opened before a fork: a journal is for one process")
        if self._read_only:
            raise StoreError(f"{str(self._path)!r} was opened read-only: open it without read_only")
        if self._file < 0:
            raise StoreError(f"cannot use {str(self._path)!r}: it is closed")
        self._be_sure()
        self._check_alone()
        self._staged, self._compaction, self._erased = {}, None, set()
        yield
        if self._staged:
            self._write(self._staged)
            if "snapshot" in self._staged:
                self._shorten()
        if self._compaction or self._erased:
            self._rewrite(self._remaining(self._compaction))

    def head(self) -> str | None:
        """Return the text that the agent begins with, None if it is new."""
        return self._head

    def begin(self, head: str) -> None:
        """Begin a new agent."""
        self._staged["head"] = head

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        self._staged.setdefault("events", []).extend(map(plain, events))

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the latest snapshot."""
        self._staged |= {"position": position, "snapshot": snapshot}

    def events(self, after: int, limit: int | None = None) -> list[Event]:
        """Return the events after a position, in their order."""
        self._be_sure()
        if after >= self._count:
            return []
        if after < self._base:
            raise CompactedError(f"the events up to {self._base} were replaced by a snapshot")
        record = bisect_right(self._starts, after) - 1
        found: list[Event] = []
        for _, _, part in self._parts(self._offsets[record]):
            found += [Event(**event) for event in part.get("events", ())]
            if limit is not None and len(found) >= after - self._starts[record] + limit:
                break
        found = found[after - self._starts[record] :]
        return found if limit is None else found[:limit]

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""
        self._be_sure()
        return self._snapshot_at(self._snapshots[-1]) if self._snapshots else None

    def first(self) -> tuple[int, str] | None:
        """Return the snapshot before the first event and its position."""
        self._be_sure()
        return self._snapshot_at(self._snapshots[0]) if self._base else None

    def decision(self, number: int) -> list[Event]:
        """Return the event that asked for a decision and the one that answered it."""
        self._be_sure()
        if number not in self._asked:
            return []
        return self._at(
            [self._asked[number], *([self._answered[number]] if number in self._answered else [])]
        )

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""
        self._be_sure()
        return self._at(self._requests.get(request, []))

    def compact(self, position: int, snapshot: str) -> None:
        """Drop the events up to a position."""
        self._compaction = position, snapshot

    def erase(self, request: str) -> None:
        """Remove the name of a request from its events."""
        self._erased.add(request)

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._file >= 0:
            self._let_go()
        self._file = -1  # the descriptor may be reused by another file

    def _be_sure(self) -> None:
        """Read the file again if a write was interrupted."""
        if self._unsure:
            self._open()

    def _check_alone(self) -> None:
        """Reject a file that another process has changed: its lock was removed."""
        now = os.fstat(self._file)
        check_place(self._path, now)
        if now.st_size != self._end:
            raise StoreError(
                f"{str(self._path)!r} was changed by another process: a journal is for one, open it again"
            )

    def _open(self) -> None:
        """Read the file, and remove an incomplete record at its end."""
        if self._replacing:
            self._follow()
        self._head: str | None = None
        self._token = ""
        self._snapshots: list[tuple[int, int]] = []  # positions, and offsets of their records
        self._starts, self._offsets = array("q"), array("q")  # of records: position before, and offset
        self._asked: dict[int, int] = {}  # positions by decision
        self._answered: dict[int, int] = {}
        self._requests: dict[str, list[int]] = {}  # positions
        self._base = self._count = self._end = 0
        size = os.fstat(self._file).st_size
        self._format = format_of(self._file, str(self._path))
        if size >= len(TITLE):
            self._end = len(TITLE)
            for offset, end, part in records(self._file, self._end, size):
                self._enter(part, offset)
                self._end = end
        if self._end < size:
            self._remove_torn(check_torn(self._file, self._end, size, str(self._path)))
        self._unsure = False

    def _remove_torn(self, rest: bytes) -> None:
        """Move an incomplete record to a file beside the journal: it may be a damaged one that counted."""
        what = f"an incomplete record of {len(rest)} bytes at the end of the journal"
        if self._read_only:
            self.notes.append(f"ignored {what}")
            return
        beside = self._path.with_name(self._path.name + ".removed")
        with as_store_error(self._path):
            side = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                write_at(side, rest, os.fstat(side).st_size)
                os.fsync(side)
            finally:
                os.close(side)
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)
        self.notes.append(f"moved {what} to {beside.name!r}")

    def _enter(self, part: dict[str, Any], offset: int) -> None:
        """Index a record."""
        if self._format == 1:
            part, self._token = upgraded_part(part, self._token)
        self._head = part.get("head", self._head)
        if "base" in part:
            self._base = self._count = part["position"]
        if "events" in part:
            self._starts.append(self._count)
            self._offsets.append(offset)
        for event in part.get("events", ()):
            self._count += 1
            if event["kind"] == "asked":
                self._asked[event["decision"]] = self._count
                if "request" in event:
                    self._requests.setdefault(event["request"], []).append(self._count)
            elif event["kind"] in ANSWERS:
                self._answered[event["decision"]] = self._count
        if "snapshot" in part:
            self._snapshots.append((part["position"], offset))

    def _parts(self, start: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield the records from an offset on, with their offsets and ends."""
        token = self._token
        for offset, end, part in records(self._file, start, self._end):
            yield offset, end, upgraded_part(part, token)[0] if self._format == 1 else part

    def _snapshot_at(self, place: tuple[int, int]) -> tuple[int, str]:
        _, _, part = next(self._parts(place[1]))
        return part["position"], part["snapshot"]

    def _at(self, positions: list[int]) -> list[Event]:
        """Return the events at increasing positions; read each record once."""
        found: list[Event] = []
        for record, group in groupby(positions, lambda position: bisect_left(self._starts, position) - 1):
            _, _, part = next(self._parts(self._offsets[record]))
            found += [Event(**part["events"][position - self._starts[record] - 1]) for position in group]
        return found

    def _write(self, part: dict[str, Any]) -> None:
        """Append one record durably, or nothing; its pages may reach the disk in any order."""
        data, before = encode(part), self._end
        self._unsure = True
        with as_store_error(self._path):
            try:
                if not before:
                    write_at(self._file, TITLE, 0)
                    os.fsync(self._file)
                    sync(self._path.parent)
                offset = before or len(TITLE)
                write_at(self._file, data, offset)
                os.fsync(self._file)
                self._end = offset + len(data)
                self._enter(part, offset)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(self._file, before)
                raise
        self._unsure = False

    def _shorten(self) -> None:
        """Replace the older half of a long journal by a snapshot; what fails now is done the next time."""
        if self._count - self._base <= 2 * RETAINED:
            return
        places = [place for place in self._snapshots if self._base < place[0] <= self._count - RETAINED]
        if places:
            with suppress(StoreError):
                with as_store_error(self._path):
                    archive = self._path.with_name(f"{self._path.name}.until-{self._count}")
                    with suppress(FileExistsError):
                        os.link(self._path, archive)
                self._rewrite(self._remaining(self._snapshot_at(places[-1])))

    def _remaining(self, base: tuple[int, str] | None) -> Iterator[bytes]:
        """Yield the records of a journal whose older events are replaced and whose requests are erased."""
        base = base or self.first()
        count = 0
        if base is not None:
            count = base[0]
            yield encode({"base": True, "head": self._head, "position": base[0], "snapshot": base[1]})
        before = self._base
        for offset, end, part in self._parts(len(TITLE)):
            events, position = part.get("events", []), before + len(part.get("events", []))
            if "base" in part or (base is not None and position <= count):
                before = position
                continue
            names = {event.get("request") for event in events}
            if before < count or names & self._erased:
                kept = [event for place, event in enumerate(events, before + 1) if place > count]
                yield encode({**part, "events": [_erased(event, self._erased) for event in kept]})
            else:
                yield os.pread(self._file, end - offset, offset) if self._format == 2 else encode(part)
            before = position

    def _rewrite(self, data: Iterable[bytes]) -> None:
        """Replace the file by one with other records, at once."""
        partial = self._path.with_name(self._path.name + ".unfinished")
        with as_store_error(self._path):
            try:
                file = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
                try:
                    write_at(file, TITLE + b"".join(data), 0)
                    os.fsync(file)
                    os.fchmod(file, os.fstat(self._file).st_mode & 0o777)
                finally:
                    os.close(file)
                self._unsure = self._replacing = True
                partial.replace(self._path)
                sync(self._path.parent)
            except BaseException:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)
                raise
        self._open()

    def _follow(self) -> None:
        """Use the file that now has the name, under the same descriptor."""
        with as_store_error(self._path):
            file = os.open(self._path, os.O_RDWR)
            os.dup2(file, self._file)
            os.close(file)
        self._replacing = False


def _erased(event: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key != "request" or value not in names}
