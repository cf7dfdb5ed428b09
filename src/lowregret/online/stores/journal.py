"""A store in an append-only file, for one process.

The file begins with a line that names its format. A record holds one session: the length of its text (4
bytes, little-endian), a CRC-32 of that length and the text, and the text, which is JSON with some of
``head``, ``events``, ``position`` and ``snapshot``. After a crash the last record may be incomplete, in any
of its pages; it was never acknowledged, and is dropped when the file is opened. A damaged record before the
last one is an error.
"""

from __future__ import annotations

import errno
import json
import os
import re
import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import Any
from weakref import finalize
from zlib import crc32

from lowregret._common.durable_files import as_store_error, locked, sync
from lowregret.errors import StoreError
from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.stores import check_place

_KIND = b"lowregret journal "
TITLE = _KIND + b"1\n"
_PREFIX = struct.Struct("<II")
_TEXT = re.compile(rb'\{"(head|events|position)":')
"""How the text of a record begins."""


class JournalStore:
    """A store in a journal.

    Parameters
    ----------
    path : path
        The file; created if it does not exist. A file beside it, named ``.lock``, identifies its process.
    """

    def __init__(self, path: Path) -> None:
        self.notes: list[str] = []
        path = Path(os.path.realpath(path))  # one lock per file, whatever links lead to it
        self._path, self._process = path, os.getpid()
        self._staged: dict[str, Any] = {}
        self._unsure = False  # after an interrupted write the file is read again
        with ExitStack() as stack:
            stack.enter_context(locked(path, path.with_name(path.name + ".lock")))
            with as_store_error(path):
                self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            stack.callback(os.close, self._file)
            self._open()
            # Also at the exit of Python, while os.close still exists.
            self._let_go = finalize(self, stack.pop_all().close)

    @contextmanager
    def session(self) -> Iterator[None]:
        """Open a session; its end waits for the disk."""
        if os.getpid() != self._process:
            raise StoreError(f"{str(self._path)!r} was opened before a fork: a journal is for one process")
        if self._file < 0:
            raise StoreError(f"cannot use {str(self._path)!r}: it is closed")
        self._be_sure()
        self._check_alone()
        self._staged = {}
        yield
        if self._staged:
            self._write(self._staged)

    def head(self) -> str | None:
        """Return the text that the store begins with, None if it is new."""
        return self._head

    def begin(self, head: str) -> None:
        """Begin a new store."""
        self._staged["head"] = head

    def append(self, events: Sequence[Event]) -> None:
        """Append events."""
        plain = [{k: v for k, v in event._asdict().items() if v is not None} for event in events]
        self._staged.setdefault("events", []).extend(plain)

    def keep(self, position: int, snapshot: str) -> None:
        """Replace the snapshot."""
        self._staged |= {"position": position, "snapshot": snapshot}

    def events(self, after: int) -> list[Event]:
        """Return the events after a position, in their order."""
        self._be_sure()
        if after >= self._count:
            return []
        record = bisect_right(self._starts, after) - 1
        found = []
        for _, part in self._records(self._offsets[record], self._end):
            found += [Event(**event) for event in part.get("events", ())]
        return found[after - self._starts[record] :]

    def latest(self) -> tuple[int, str] | None:
        """Return the latest snapshot and its position."""
        self._be_sure()
        if self._latest is None:
            return None
        _, part = next(self._records(self._latest, self._end))
        return part["position"], part["snapshot"]

    def answered(self, decision: int) -> Event | None:
        """Return the event that answered a decision."""
        position = self._answers[decision] if decision < len(self._answers) else 0
        return self._at([position])[0] if position else None

    def requested(self, request: str) -> list[Event]:
        """Return the events of a request."""
        return self._at(self._requests.get(request, []))

    def close(self) -> None:
        """Close the file and release its lock."""
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
        """Read the file, and drop an incomplete record at its end."""
        self._head: str | None = None
        self._latest: int | None = None  # the offset of the record with the latest snapshot
        self._starts, self._offsets = (
            array("q"),
            array("q"),
        )  # of records: the position before it, and its offset
        self._answers = array("q", [0])  # by decision: the position of its answer
        self._requests: dict[str, list[int]] = {}  # positions
        self._count = self._end = 0
        size = os.fstat(self._file).st_size
        title = os.pread(self._file, len(TITLE), 0)
        if title != TITLE[: len(title)]:
            if title.startswith(_KIND):
                raise StoreError(
                    f"{str(self._path)!r} is a journal of an unknown format: use a newer lowregret"
                )
            raise StoreError(f"{str(self._path)!r} is not the journal of an agent: use another file")
        if title == TITLE:
            self._end = len(TITLE)
            for offset, part in self._records(self._end, size):
                self._enter(part, offset)
        if self._end < size:
            self._check_torn(size)
            with as_store_error(self._path):
                os.ftruncate(self._file, self._end)
                os.fsync(self._file)
            self.notes.append(
                f"dropped an incomplete record of {size - self._end} bytes at the end of the journal"
            )
        self._unsure = False

    def _check_torn(self, size: int) -> None:
        """Reject a file in which intact records follow a damaged one."""
        rest = os.pread(self._file, size - self._end, self._end)
        for match in _TEXT.finditer(rest, _PREFIX.size + 1):
            start = match.start() - _PREFIX.size
            if start > 0 and _text(rest, start) is not None:
                raise StoreError(
                    f"{str(self._path)!r} is damaged at byte {self._end}, before its end: "
                    "restore it from a copy, or truncate it there"
                )

    def _records(self, start: int, stop: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the intact records between two offsets, each with its offset."""
        with open(os.dup(self._file), "rb") as file:
            file.seek(start)
            while start < stop:
                prefix = file.read(_PREFIX.size)
                length = _PREFIX.unpack(prefix)[0] if len(prefix) == _PREFIX.size else stop
                if length > stop - start - _PREFIX.size:
                    return
                text = _text(prefix + file.read(length), 0)
                if text is None:
                    return
                yield start, json.loads(text)
                start += _PREFIX.size + length
                self._end = max(self._end, start)

    def _enter(self, part: dict[str, Any], offset: int) -> None:
        """Index a record."""
        self._head = part.get("head", self._head)
        if "snapshot" in part:
            self._latest = offset
        if "events" in part:
            self._starts.append(self._count)
            self._offsets.append(offset)
        for event in part.get("events", ()):
            self._count += 1
            if event["kind"] in ANSWERS:
                missing = event["decision"] + 1 - len(self._answers)
                self._answers.extend([0] * missing)
                self._answers[event["decision"]] = self._count
            elif "request" in event:
                self._requests.setdefault(event["request"], []).append(self._count)

    def _at(self, positions: list[int]) -> list[Event]:
        """Return the events at increasing positions; read each record once."""
        found: list[Event] = []
        for record, group in groupby(positions, lambda position: bisect_left(self._starts, position) - 1):
            _, part = next(self._records(self._offsets[record], self._end))
            found += [Event(**part["events"][position - self._starts[record] - 1]) for position in group]
        return found

    def _write(self, part: dict[str, Any]) -> None:
        """Append one record durably, or nothing; its pages may reach the disk in any order."""
        text = json.dumps(part, separators=(",", ":")).encode()
        data, before = _PREFIX.pack(len(text), _sum(len(text), text)) + text, self._end
        self._unsure = True
        with as_store_error(self._path):
            try:
                if not before:
                    _write_at(self._file, TITLE, 0)
                    os.fsync(self._file)
                    sync(self._path.parent)
                offset = before or len(TITLE)
                _write_at(self._file, data, offset)
                os.fsync(self._file)
                self._end = offset + len(data)
                self._enter(part, offset)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(self._file, before)
                raise
        self._unsure = False


def _sum(length: int, text: bytes) -> int:
    return crc32(text, crc32(length.to_bytes(4, "little")))


def _text(data: bytes, start: int) -> bytes | None:
    """Return the text of the record at an offset, None if it is incomplete or damaged."""
    length, total = _PREFIX.unpack_from(data, start)
    begin = start + _PREFIX.size
    text = data[begin : begin + length]
    return text if length and len(text) == length and _sum(length, text) == total else None


def _write_at(file: int, data: bytes | bytearray, offset: int) -> None:
    """Write all of the data, or raise."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        if not done:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view, offset = view[done:], offset + done
