"""Copies of functions in which some names stand for something else, so that Numba compiles them anew."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

from lowregret._common.bytecode import nested
from lowregret.engine.bridge.identity import global_names


def copy_function(
    function: FunctionType,
    replace: Callable[[str, Any], Any] | None = None,
    *,
    filename: str | None = None,
    copies: dict[FunctionType, FunctionType] | None = None,
) -> FunctionType:
    """Copy a function; its names then stand for what ``replace(name, value)`` returns.

    ``replace`` is called for global names, for variables of an enclosing function, and for attributes of
    modules, as "module.attribute". A copy is put into ``copies`` before its names are replaced, since
    functions may call each other. Without ``replace``, a copy sees the same global names as the function.
    """
    code, scope, cells = function.__code__, function.__globals__, function.__closure__
    if replace:
        scope, cells = dict(scope), tuple(CellType() for _ in cells or ()) or None
    if filename is not None:
        code = code.replace(co_filename=filename)
    copy = FunctionType(code, scope, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    if copies is not None:
        copies[function] = copy
    if replace:
        attributes = {name for part in nested(code) for name in part.co_names}
        for name in scope.keys() & set(global_names(code)):
            scope[name] = _replaced(name, scope[name], attributes, replace)
        for name, new, old in zip(code.co_freevars, cells or (), function.__closure__ or (), strict=True):
            new.cell_contents = _replaced(name, old.cell_contents, attributes, replace)
    return copy


def _replaced(name: str, value: Any, attributes: set[str], replace: Callable[[str, Any], Any]) -> Any:
    """Return what stands for a value: for a module a copy, if an attribute that the code uses is replaced."""
    if not isinstance(value, ModuleType):
        return replace(name, value)
    used = {attribute: vars(value)[attribute] for attribute in vars(value).keys() & attributes}
    replaced = {attribute: replace(f"{name}.{attribute}", used[attribute]) for attribute in used}
    if all(replaced[attribute] is used[attribute] for attribute in used):
        return value
    copy = ModuleType(value.__name__)
    vars(copy).update({**vars(value), **replaced})
    return copy
