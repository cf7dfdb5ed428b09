"""The records of a journal: how they lie in the file, and how those of format 1 are read.

The file begins with a line that names its format. A record holds one session: the length of its text (4
bytes, little-endian), a CRC-32 of that length and the text, and the text, which is JSON with some of
``head``, ``base``, ``events``, ``position`` and ``snapshot``. A record with ``base`` is the first one; its
snapshot replaces all events up to its position.
"""

from __future__ import annotations

import errno
import json
import os
import re
import struct
from collections.abc import Iterator
from typing import Any
from zlib import crc32

from lowregret.errors import StoreError
from lowregret.online.decisions import Event
from lowregret.online.former_formats import upgraded_head
from lowregret.online.sealed_snapshot import sealed

KIND = b"lowregret journal "
TITLES = {1: KIND + b"1\n", 2: KIND + b"2\n"}
TITLE = TITLES[2]
PREFIX = struct.Struct("<II")
_BEGINNING = re.compile(rb'\{"(head|base|events|position)":')
"""How the text of a record begins."""


def encode(part: dict[str, Any]) -> bytes:
    """Return a record."""
    text = json.dumps(part, separators=(",", ":")).encode()
    return PREFIX.pack(len(text), _sum(len(text), text)) + text


def records(file: int, start: int, stop: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the intact records between two offsets, each with its offset and its end."""
    with open(os.dup(file), "rb") as stream:
        stream.seek(start)
        while start < stop:
            prefix = stream.read(PREFIX.size)
            length = PREFIX.unpack(prefix)[0] if len(prefix) == PREFIX.size else stop
            if length > stop - start - PREFIX.size:
                return
            text = _text(prefix + stream.read(length), 0)
            if text is None:
                return
            end = start + PREFIX.size + length
            yield start, end, json.loads(text)
            start = end


def check_torn(file: int, start: int, stop: int, path: str) -> bytes:
    """Return the bytes of an incomplete last record; reject a file in which intact records follow it."""
    rest = os.pread(file, stop - start, start)
    for match in _BEGINNING.finditer(rest, PREFIX.size + 1):
        begin = match.start() - PREFIX.size
        if begin > 0 and _text(rest, begin) is not None:
            raise StoreError(
                f"{path!r} is damaged at byte {start}, before its end: "
                "restore it from a copy, or truncate it there"
            )
    return rest


def format_of(file: int, path: str) -> int:
    """Return the format of a journal; an incomplete first line is of the present format."""
    title = os.pread(file, len(TITLE), 0)
    for number, known in TITLES.items():
        if title == known:
            return number
    if TITLE.startswith(title):
        return 2
    if title.startswith(KIND):
        raise StoreError(f"{path!r} is a journal of an unknown format: use a newer lowregret")
    raise StoreError(f"{path!r} is not the journal of an agent: use another file")


def plain(event: Event) -> dict[str, Any]:
    """Return an event as it is stored."""
    return {key: value for key, value in event._asdict().items() if value is not None}


def upgraded_part(part: dict[str, Any], token: str) -> tuple[dict[str, Any], str]:
    """Return the contents of a record of format 1 as those of format 2, and the token of the agent."""
    part = dict(part)
    if "head" in part:
        try:
            head = upgraded_head(json.loads(part["head"]))
            token = str(head["agent"])
        except (ValueError, KeyError, TypeError):
            raise StoreError("the journal does not begin with an agent: restore it from a copy") from None
        part["head"] = json.dumps(head)
    if "events" in part:
        keys = {"key": token}
        part["events"] = [
            {**event, **keys} if event["kind"] == "asked" else event for event in part["events"]
        ]
    if "snapshot" in part:
        part["snapshot"] = sealed(part["position"], part["snapshot"])
    return part, token


def write_at(file: int, data: bytes, offset: int) -> None:
    """Write all of the data, or raise."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        if not done:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view, offset = view[done:], offset + done


def _sum(length: int, text: bytes) -> int:
    return crc32(text, crc32(length.to_bytes(4, "little")))


def _text(data: bytes, start: int) -> bytes | None:
    """Return the text of the record at an offset, None if it is incomplete or damaged."""
    length, total = PREFIX.unpack_from(data, start)
    begin = start + PREFIX.size
    text = data[begin : begin + length]
    return text if length and len(text) == length and _sum(length, text) == total else None
