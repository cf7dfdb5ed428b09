"""Words of messages."""

from __future__ import annotations


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as "1 run" and "2,000 runs"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
