"""How this room refuses bad input: each check returns a clean value or raises one sentence."""

import math
import reprlib
from collections.abc import Callable, Collection, Mapping, Set
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np

from lowregret.errors import InputError

# Squares of anything up to this size are still finite, so moments never overflow.
LARGEST = 1e150
MOST_ARMS = 1_000_000
LONGEST = 2**53
"""The longest horizon: up to here every count is exact as a float."""
LARGEST_SEED = 2**64 - 1

Scale = Literal["linear", "log"]

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80


class Rule(NamedTuple):
    """What one number must satisfy, and the words for it."""

    words: str
    holds: Callable[[float], bool]


FINITE = Rule("{name} must be a finite number up to 1e150", lambda value: abs(value) <= LARGEST)
POSITIVE = Rule("{name} must be positive and finite", lambda value: 0.0 < value <= LARGEST)
VARIANCE = Rule("a {name} must be finite and at least 0", lambda value: 0.0 <= value <= LARGEST)
UNIT = Rule("a {name} must lie in [0, 1]", lambda value: 0.0 <= value <= 1.0)


def show(value: object) -> str:
    """Show an offending value on one line, however long or odd it is."""
    try:
        return " ".join(_short.repr(value.item() if isinstance(value, np.generic) else value).split())
    except ValueError:  # Python refuses to write out whole numbers of more than 4300 digits
        return "a huge whole number"


def number(owner: str, name: str, value: object, rule: Rule = FINITE) -> float:
    """Return the value as a float that keeps the rule."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            converted = float(value)
        except OverflowError:
            converted = math.inf
        if rule.holds(converted):
            return converted
    raise InputError(f"{owner}: {rule.words.format(name=name)}, got {show(value)}")


def whole(owner: str, name: str, value: object, most: int | None = None) -> int:
    """Return the value as an int of at least 1, and at most ``most`` if that is given."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        if most is None or int(value) <= most:
            return int(value)
        raise InputError(f"{owner}: {name} must be at most {most}, got {show(value)}")
    raise InputError(f"{owner}: {name} must be a whole number of at least 1, got {show(value)}")


def listed(values: object) -> Any:
    """Return a list if the values are list-like; anything else comes back as it is."""
    if isinstance(values, np.ndarray):
        return values.tolist()
    if isinstance(values, Collection) and not isinstance(values, str | bytes | Mapping | Set):
        return list(values)
    return values


def numbers(owner: str, name: str, values: object) -> tuple[float, ...]:
    """Return the values, of which there must be some, as floats."""
    found = listed(values)
    if isinstance(found, list) and found:
        return tuple(number(owner, f"each of the {name}", value) for value in found)
    raise InputError(f"{owner}: {name} must be a non-empty sequence of numbers, got {show(values)}")


def settle(family: object, **rules: Rule) -> None:
    """Check the named fields of a frozen family and store them as floats."""
    owner = type(family).__name__.lower()
    for name, rule in rules.items():
        object.__setattr__(family, name, number(owner, name, getattr(family, name), rule))


def frame(low: object, high: object) -> tuple[float, float]:
    """Return the low end and the width of the interval that a scaling maps to [0, 1]."""
    bottom, top = number("scale", "low", low), number("scale", "high", high)
    if bottom >= top:
        raise InputError(f"scale: low must lie below high, got {show(low)} and {show(high)}")
    return bottom, top - bottom


def recording_times(horizon: int, points: int, scale: Scale = "linear") -> tuple[int, ...]:
    """Give the times at which the regret is recorded, spaced evenly or by a constant factor.

    Examples
    --------
    >>> from lowregret._common.validation import recording_times
    >>> recording_times(1_000, 4)
    (250, 500, 750, 1000)
    >>> recording_times(1_000, 4, "log")
    (1, 10, 100, 1000)
    """
    if scale == "linear":
        count = min(points, horizon)
        return tuple(horizon * (i + 1) // count for i in range(count))
    steps = max(points - 1, 1)
    return tuple(sorted({round(float(horizon) ** (i / steps)) for i in range(points - 1)} | {horizon}))


def seed_of(seed: int) -> int:
    """Give a seed as a plain int."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed!r}")
    return int(seed)
