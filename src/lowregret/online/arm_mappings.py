"""Settings of single arms, by their names."""

import json
from collections.abc import Mapping
from typing import Any

from lowregret._common.validation import short_repr
from lowregret.errors import InputError

MAX_VALUE = 10_000


def of_arms(what: str, values: object, arms: tuple[str, ...]) -> dict[str, Any] | None:
    if not values:
        return None
    if not isinstance(values, Mapping):
        raise InputError(f"{what} must be a dictionary by the names of arms, got {short_repr(values)}")
    for arm in values:
        if arm not in arms:
            raise InputError(f"{what}: unknown arm {short_repr(arm)}: the arms are {short_repr(list(arms))}")
    return {arm: values[arm] for arm in arms if arm in values}


def valid_value(arm: str, value: object) -> object:
    """Validate the value of an arm as a flag: what OpenFeature has, and no more than fits into a page."""
    try:
        allowed = isinstance(value, bool | str | int | float | dict)
        if allowed and len(json.dumps(value, allow_nan=False)) <= MAX_VALUE:
            return value
    except (TypeError, ValueError, RecursionError):
        pass
    raise InputError(
        f"the value of arm {short_repr(arm)} must be true or false, a string, a number or an object of JSON, "
        f"at most {MAX_VALUE:,} characters, got {short_repr(value)}"
    )
