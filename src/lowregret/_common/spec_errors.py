"""Errors of pydantic in one sentence that names the key, the value and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from lowregret._common.other_names import ARGUMENTS, ours
from lowregret._common.validation import short_repr
from lowregret.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

Key: TypeAlias = str | int

_WORDS = {
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "string_type": "must be a string",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "too_short": "must have at least one entry",
    "string_too_short": "must not be empty",
    "bool_type": "must be true or false",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
}


class SpecError(InputError):
    """An invalid value in structured input, such as an experiment, with the path of its keys."""

    def __init__(self, path: Iterable[Key], problem: str) -> None:
        self.path, self.problem = tuple(path), problem
        where = dotted(self.path)
        joint = " " if problem.startswith(("must ", "is ")) else ": "
        super().__init__(f"{where}{joint}{problem}" if where else problem)


def dotted(path: Iterable[Key]) -> str:
    """Return a path of keys as Python writes it: ``environments[2].grid``."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def unknown_key(key: str, allowed: Iterable[str]) -> str:
    """Return the message for an unknown key, with the allowed key that resembles it."""
    allowed = list(allowed)
    theirs = [name for name in allowed if ours(key, {name: ARGUMENTS.get(name, "")})]
    near = theirs or get_close_matches(key, allowed, n=1)
    return f"unknown key {key!r}, " + (f"did you mean {near[0]!r}?" if near else f"use {', '.join(allowed)}")


def first_error(error: ValidationError, model: type[BaseModel]) -> SpecError:
    """Return the first error that pydantic found; a missing key last, as another may be its misspelling."""
    details: Any = min(error.errors(include_url=False), key=lambda entry: entry["type"] == "missing")
    path, kind, value = details["loc"], details["type"], details["input"]
    if kind == "extra_forbidden":
        return SpecError(path[:-1], unknown_key(str(path[-1]), _keys_at(model, path[:-1])))
    if kind == "missing":
        return SpecError(path, "is missing")
    if kind == "value_error":
        return SpecError(path, str(details["ctx"]["error"]))
    words = _WORDS.get(kind) or details["msg"].replace("Input should be", "must be")
    return SpecError(path, f"{words.format(**details.get('ctx', {}))}, got {short_repr(value)}")


def _keys_at(model: type[BaseModel], path: tuple[Key, ...]) -> list[str]:
    """Return the keys of the table at a path of the model."""
    kind: Any = model
    for key in path:
        if isinstance(key, str):
            kind = kind.model_fields[key].annotation
            kind = next(iter(getattr(kind, "__args__", ())), kind)
    return [name for name, field in kind.model_fields.items() if not field.exclude]


def line_of(text: str, path: tuple[Key, ...]) -> int | None:
    r"""Return the line of a TOML document that sets a path of keys, or the nearest key above it."""
    counts: dict[str, int] = {}
    here: tuple[Key, ...] = ()
    best, depth = None, 0
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*(\[\[?)\s*([\w.\s-]+?)\s*\]", line)
        pair = re.match(r"\s*([\w-]+)\s*=", line)
        if header:
            first, *inner = (part.strip() for part in header[2].split("."))
            if header[1] == "[[" and not inner:
                counts[first] = counts.get(first, -1) + 1
            here = (first, *([counts[first]] if first in counts else []), *inner)
            keys = here
        elif pair:
            keys = (*here, pair[1])
        else:
            continue
        if len(keys) > depth and path[: len(keys)] == keys:
            best, depth = number, len(keys)
    return best
