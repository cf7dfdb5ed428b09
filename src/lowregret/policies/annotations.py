"""Read the types of a policy's parameters from its annotations."""

from __future__ import annotations

from dataclasses import fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

_BY_NAME = {"float": float, "int": int, "bool": bool, "str": str, "None": None}


def allowed_types(cls: Any) -> dict[str, tuple[Any, ...]]:
    """Return the types that each parameter of a class may have, None for ``None``."""
    try:
        hints = get_type_hints(cls)
    except (NameError, TypeError, AttributeError):  # a name that only its function knew
        hints = {}
    return {field.name: _members(hints.get(field.name, field.type)) for field in fields(cls)}


def literal_values(types: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values that ``Literal`` allows, none if there is no ``Literal``."""
    return tuple(value for each in types if get_origin(each) is Literal for value in get_args(each))


def _members(annotation: Any) -> tuple[Any, ...]:
    """Return the alternatives of an annotation."""
    if isinstance(annotation, str):  # which could not be evaluated
        names = [part.strip() for part in annotation.split("|")]
        return tuple(_BY_NAME.get(name, object) for name in names)
    if get_origin(annotation) in (Union, UnionType):
        return tuple(member for part in get_args(annotation) for member in _members(part))
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    return (None,) if annotation is NoneType else (annotation,)
