"""Methods of ``NamedTuple`` classes in compiled code, with a check of the place of an arm."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import getattr_static, signature
from types import FunctionType
from typing import Any

from numba import njit, types
from numba.extending import overload, overload_method

from lowregret.engine.bridge.compile import PLACE, bodies_of, jittable_inline
from lowregret.engine.bridge.identity import GENERATED, CodeGraph
from lowregret.engine.bridge.numba_options import METHODS, accepted, lock, overload_options
from lowregret.engine.bridge.policy_types import share_all

methods: dict[str, str] = {}
"""The parameters of the methods that Numba knows, by name; they hide fields of their names."""


def implement_tuple_methods(kind: type) -> None:
    """Let compiled code call the plain methods of a class."""
    with lock:
        for name in dir(kind):
            method = getattr_static(kind, name)
            if isinstance(method, FunctionType) and name not in GENERATED:
                _implement_method(kind, name, method)
                share_all(CodeGraph(method))


def _implement_method(kind: type, name: str, method: FunctionType) -> None:
    names = ", ".join(signature(method).parameters)
    if name in methods:
        if methods[name] != names:
            raise TypeError(f"{kind.__name__}.{name}: another NamedTuple has {name}({methods[name]}) already")
        return
    methods[name] = names
    options = {**METHODS, "forceinline": True}

    def find(self: Any, *_: Any) -> Any:
        own = getattr(self.instance_class, name, None)
        return _checked(own) if isinstance(own, FunctionType) else None

    plain, kept = bodies_of(find, signature(method), options)
    overload_method(types.BaseNamedTuple, name, **overload_options(options))(plain)
    overload(plain, **overload_options({**options, "cache": True}))(kept)  # Numba calls a method by ``plain``


@cache
def _checked(method: FunctionType) -> Callable[..., Any]:
    """Return a method whose argument ``i``, if it has one, is checked to be a place in the table of arms."""
    if "i" not in method.__code__.co_varnames[:2]:
        return method
    body: Any = njit(**METHODS, forceinline=True)(method)
    if method.__code__.co_argcount == 2:
        return lambda self, i: body(self, checked_place(self.table.rows, i))
    return lambda self, i, memory: body(self, checked_place(self.table.rows, i), memory)


@jittable_inline
def checked_place(rows: Any, i: int) -> int:
    """Return a place in a table of arms; raise ``IndexError`` if there is none, as NumPy does."""
    if not -len(rows) <= i < len(rows):
        refuse_place(i)
    return i


def refuse_place(i: int) -> None:
    raise IndexError(i, PLACE)


overload(refuse_place, **overload_options({**METHODS, **accepted("_nrt", True)}))(lambda i: refuse_place)
