"""Read the types of a policy's parameters, and the rules they must satisfy, from its annotations."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from lowregret._common.text import Rule as Rule

Positive = Annotated[float, Rule("positive", lambda value: value > 0)]
NonNegative = Annotated[float, Rule("at least 0", lambda value: value >= 0)]
Probability = Annotated[float, Rule("between 0 and 1", lambda value: 0 <= value <= 1)]
InsideUnit = Annotated[float, Rule("between 0 and 1, both excluded", lambda value: 0 < value < 1)]

_BY_NAME = {"float": float, "int": int, "bool": bool, "str": str, "None": None}


class Parameter(NamedTuple):
    """The types that a parameter may have, None for ``None``, and its rules."""

    types: tuple[Any, ...]
    rules: tuple[Rule, ...]


@lru_cache(maxsize=256)
def parameters_of(cls: Any) -> dict[str, Parameter]:
    """Return what the annotations of a class say of its parameters."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, AttributeError):  # a name that only its function knew
        hints = {}
    return {field.name: _read_annotation(hints.get(field.name, field.type)) for field in fields(cls)}


def literal_values(types: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values that ``Literal`` allows, none if there is no ``Literal``."""
    return tuple(value for kind in types if get_origin(kind) is Literal for value in get_args(kind))


def _read_annotation(annotation: Any) -> Parameter:
    if isinstance(annotation, str):  # which could not be evaluated
        return Parameter(tuple(_BY_NAME.get(part.strip(), object) for part in annotation.split("|")), ())
    if get_origin(annotation) in (Union, UnionType):
        parts = [_read_annotation(part) for part in get_args(annotation)]
        return Parameter(sum((part.types for part in parts), ()), sum((part.rules for part in parts), ()))
    if get_origin(annotation) is Annotated:
        kind, *extras = get_args(annotation)
        return Parameter(
            _read_annotation(kind).types, tuple(extra for extra in extras if isinstance(extra, Rule))
        )
    return Parameter((None if annotation is NoneType else annotation,), ())
