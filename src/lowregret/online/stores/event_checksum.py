"""A checksum for each event, by which a row of a log that was changed later is found.

It has two parts: the upper 31 bits are of the request alone, the lower 32 bits of all else. So the name of a
request can be erased, and its part of the checksum with it, while the other part still holds.
"""

import struct
from math import nan
from zlib import crc32

from lowregret.online.decisions import Event

OTHER_BITS = 2**32 - 1
"""The bits of a checksum that are not of the request."""
_NUMBER, _TEXT = int | float | None, str | None
TYPES = str, _NUMBER, _TEXT, *[_NUMBER] * 4, _TEXT, _TEXT, _NUMBER
"""The types of the fields of an event."""

_pack = struct.Struct("<4q3d").pack


def checksum_of(position: int, event: Event) -> int:
    """Return the checksum of the event at a position."""
    kind, decision, arm, reward, time, propensity, drawn, request, key, timestamp = event
    numbers = _pack(
        position,
        -1 if decision is None else decision,
        -1 if time is None else time,
        -1 if drawn is None else drawn,
        nan if reward is None else reward + 0.0,  # which no store need tell from -0.0
        nan if propensity is None else propensity + 0.0,
        nan if timestamp is None else timestamp + 0.0,
    )
    others = crc32(f"{kind}\0{arm}\0{key}".encode(), crc32(numbers))
    return others if request is None else (crc32(request.encode()) >> 1 << 32) + others


def is_intact(position: int, event: Event, checksum: int | None) -> bool:
    """Return whether an event has its checksum; one that an older version wrote has none.

    A row that has lost a column has no checksum either, and its values stand one column too far to the left:
    their types tell the two apart.
    """
    if checksum is None:
        return all(map(isinstance, event, TYPES))
    try:
        return checksum & (OTHER_BITS if event.request is None else 2**63 - 1) == checksum_of(position, event)
    except (TypeError, ValueError, AttributeError, struct.error):  # a value of another type
        return False
