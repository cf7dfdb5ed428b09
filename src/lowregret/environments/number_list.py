"""Lists of numbers as strings: ``0.1,0.2*3``."""

import re

from lowregret._common.validation import MAX_ARMS, integer, short_repr
from lowregret.errors import InputError

# Bounded, because Python does not read integers of more than 4300 digits.
_DIGITS = re.compile("[0-9]{1,100}")


def number_list(family: str, key: str, text: str) -> float | list[float]:
    """Parse ``0.1,0.2*3``; a single value is returned as a number, so that it applies to all arms."""
    values: list[float] = []
    for piece in text.split(","):
        written, star, times = (part.strip() for part in piece.partition("*"))
        try:
            value = float(written)
        except ValueError:
            raise InputError(f"{family}: {key} must be numbers, got {short_repr(written)}") from None
        count = arm_count(family, int(times) if _DIGITS.fullmatch(times) else times) if star else 1
        values.extend([value] * count)
        if len(values) > MAX_ARMS:
            raise InputError(f"{family}: at most {MAX_ARMS} arms are allowed, got more")
    return values if len(values) > 1 else values[0]


def arm_count(owner: str, value: object) -> int:
    """Return how many arms are equal."""
    return integer(owner, "count", value, most=MAX_ARMS)
