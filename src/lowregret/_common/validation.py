"""Checks of input: each returns a clean value or raises an `InputError` of one sentence."""

import math
import reprlib
from collections.abc import Collection, Mapping, Set
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from lowregret._common.text import Rule as Rule
from lowregret._common.text import has_control_characters
from lowregret.errors import InputError

MAX_MAGNITUDE = 1e150
"""Largest absolute value of a reward or parameter: its square is finite, so moments never overflow."""
MAX_BANDIT_ARMS = 1_000_000
MAX_HORIZON = 2**53
"""Largest horizon: up to here a float represents every count exactly."""
MAX_SEED = 2**64 - 1

Scale = Literal["linear", "log"]

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 80


FINITE = Rule("{name} must be a finite number up to 1e150", lambda value: abs(value) <= MAX_MAGNITUDE)
POSITIVE = Rule("{name} must be positive and finite", lambda value: 0.0 < value <= MAX_MAGNITUDE)
VARIANCE = Rule("a {name} must be finite and at least 0", lambda value: 0.0 <= value <= MAX_MAGNITUDE)
UNIT = Rule("a {name} must lie in [0, 1]", lambda value: 0.0 <= value <= 1.0)


def short_repr(value: object) -> str:
    """Return the repr of a value on one line, shortened where it is long."""
    try:
        return " ".join(_repr.repr(value.item() if isinstance(value, np.generic) else value).split())
    except ValueError:  # Python does not print integers of more than 4300 digits
        return "a huge integer"


def number(owner: str, name: str, value: object, rule: Rule = FINITE) -> float:
    """Return the value as a float that satisfies the rule."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            converted = float(value)
        except OverflowError:
            converted = math.inf
        if rule.holds(converted):
            return converted
    raise InputError(f"{owner}: {rule.words.format(name=name)}, got {short_repr(value)}")


def integer(owner: str, name: str, value: object, most: int | None = None, least: int = 1) -> int:
    """Return the value as an int of at least ``least``, and at most ``most`` if that is given; 1e4 is one."""
    count = whole(value)
    if isinstance(count, Integral) and not isinstance(count, bool) and int(count) >= least:
        if most is None or int(count) <= most:
            return int(count)
        raise InputError(f"{owner}: {name} must be at most {most}, got {short_repr(value)}")
    raise InputError(f"{owner}: {name} must be an integer of at least {least}, got {short_repr(value)}")


def whole(value: object) -> object:
    """Return an integer for a float such as 1e4, and any other value unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def plain_text(owner: str, name: str, value: object) -> str:
    """Return the value as a string without control characters."""
    if not isinstance(value, str):
        raise InputError(f"{owner}: {name} must be a string, got {short_repr(value)}")
    if has_control_characters(value):
        raise InputError(f"{owner}: {name} must have no control characters, got {short_repr(value)}")
    return value


def as_list(values: object) -> Any:
    """Return sequences and arrays as a list, and any other value unchanged."""
    if isinstance(values, np.ndarray):
        return values.tolist()
    if isinstance(values, Collection) and not isinstance(values, str | bytes | Mapping | Set):
        return list(values)
    return values


def numbers(owner: str, name: str, values: object) -> tuple[float, ...]:
    numbers = as_list(values)
    if isinstance(numbers, list) and numbers:
        return tuple(number(owner, f"each of the {name}", value) for value in numbers)
    raise InputError(f"{owner}: {name} must be a non-empty sequence of numbers, got {short_repr(values)}")


def validate_fields(family: object, **rules: Rule) -> None:
    """Check the named fields of a frozen dataclass and store them as floats."""
    owner = type(family).__name__.lower()
    for name, rule in rules.items():
        object.__setattr__(family, name, number(owner, name, getattr(family, name), rule))


def scale_interval(low: object, high: object) -> tuple[float, float]:
    """Return the lower end and the width of the interval that a scaling maps to [0, 1]."""
    bottom, top = number("scale", "low", low), number("scale", "high", high)
    if bottom >= top:
        raise InputError(f"scale: low must lie below high, got {short_repr(low)} and {short_repr(high)}")
    return bottom, top - bottom


def recording_times(horizon: int, points: int, scale: Scale = "linear") -> tuple[int, ...]:
    """Return the times at which the regret is recorded, spaced evenly or by a constant factor."""
    if scale == "linear":
        count = min(points, horizon)
        return tuple(horizon * (i + 1) // count for i in range(count))
    steps = max(points - 1, 1)
    return tuple(sorted({round(float(horizon) ** (i / steps)) for i in range(points - 1)} | {horizon}))


def seed_of(seed: object) -> int:
    if seed is None:
        raise InputError(
            "seed must be an integer, got None: leave it out for seed 0, or draw one of your own"
        )
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) <= MAX_SEED:
        raise InputError(f"seed must be an integer from 0 to 2^64 - 1, got {short_repr(seed)}")
    return int(seed)
