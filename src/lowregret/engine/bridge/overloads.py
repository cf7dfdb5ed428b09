"""Let compiled code call the functions of the engine, which stay plain Python until this is imported.

Functions that do not depend on a policy are kept on disk (see ``code_cache``), each by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from inspect import Signature, getattr_static, signature
from types import FunctionType
from typing import Any, cast

from numba import njit, types
from numba.extending import overload, overload_method

from lowregret.engine.bridge import code_cache
from lowregret.engine.bridge.compile import PLACE, jittable_inline, listeners, waiting
from lowregret.engine.bridge.external import define_symbols, implement_external
from lowregret.engine.bridge.identity import GENERATED, CodeGraph, is_kernel
from lowregret.engine.bridge.policy_types import (
    INLINED,
    METHODS,
    OPTIONS,
    PolicyType,
    accepted,
    class_of,
    jittable_functions,
    lock,
    overload_options,
    share_all,
)
from lowregret.policies.base import Policy

selected_bodies: dict[Callable[..., Any], Callable[..., Any]] = {}
"""By the functions that ``by_policy_class`` made, what selects their body for a class."""
_methods: dict[str, str] = {}


def options_of(inline: bool) -> Any:
    """Return how a function of the engine is compiled."""
    return INLINED if inline else OPTIONS


def implement_as_constant(name: Callable[..., Any], find: Callable[[type[Policy]], Any]) -> None:
    """Let compiled code that calls ``name`` with a policy use a constant of its class."""

    def choose(policy: Any) -> Any:
        constant = find(class_of(policy))
        return lambda policy: constant

    overload(name, strict=False, jit_options=INLINED)(choose)


def implement_by_class(
    name: Callable[..., Any], select: Callable[[type[Policy]], Callable[..., Any]], inline: bool
) -> None:
    """Let compiled code that calls ``name`` with a policy call the body that its class selects."""

    def choose(policy: Any, *arguments: Any) -> Any:
        body = select(class_of(policy))
        return getattr(body, "py_func", body)

    selected_bodies[name] = select
    overload(name, strict=False, jit_options=options_of(inline))(choose)


def implement(name: FunctionType, function: FunctionType, inline: bool) -> None:
    """Let compiled code that calls ``name`` call a function of the engine, from the disk where that works."""
    options = options_of(inline)
    jittable_functions.add(name)

    def build(*arguments: Any, **named: Any) -> Any:
        return None if on_disk(function, options, arguments, named) else function

    cast(Any, build).__signature__ = signature(function)
    overload(name, strict=False, jit_options=options)(build)
    _implement_from_disk(name, lambda *_: function, signature(function), options)


def _implement_from_disk(
    name: Callable[..., Any], find: Callable[..., Any], parameters: Signature, options: Any
) -> None:
    """Add the form of ``name`` that Numba keeps on disk; ``find`` returns its function by argument types."""

    def load(*arguments: Any, **named: Any) -> Any:
        return on_disk(find(*arguments), options, arguments, named)

    cast(Any, load).__signature__ = parameters
    overload(name, **overload_options({**options, "cache": True}))(load)


def on_disk(function: Any, options: Any, arguments: Any, named: Any) -> FunctionType | None:
    """Return a copy of a function of the engine that Numba keeps on disk, or None where it cannot be kept."""
    kinds = (*arguments, *named.values())
    if not isinstance(function, FunctionType) or not is_kernel(function.__module__):
        return None
    if not all(map(is_importable, kinds)) or any(map(_has_policy, kinds)):
        return None
    define_symbols()
    where = function.__module__, function.__qualname__, tuple(named)
    path = code_cache.file_for("engine", function.__name__, where, options, kinds)
    return code_cache.with_filename(function, path) if path else None


def implement_tuple_methods(kind: type) -> None:
    with lock:
        for name in dir(kind):
            method = getattr_static(kind, name)
            if isinstance(method, FunctionType) and name not in GENERATED:
                _register_tuple_method(kind, name, method)
                share_all(CodeGraph(method))


def _register_tuple_method(kind: type, name: str, method: FunctionType) -> None:
    names = ", ".join(signature(method).parameters)
    if name in _methods:
        if _methods[name] != names:
            raise TypeError(
                f"{kind.__name__}.{name}: another NamedTuple has {name}({_methods[name]}) already"
            )
        return
    _methods[name] = names
    options = {**METHODS, "forceinline": True}

    def find(self: Any, *_: Any) -> Any:
        own = getattr(self.instance_class, name, None)
        return _checked(own) if isinstance(own, FunctionType) else None

    def build(self: Any, *arguments: Any, **named: Any) -> Any:
        own = find(self)
        return None if on_disk(own, options, (self, *arguments), named) else own

    cast(Any, build).__signature__ = signature(method)
    overload_method(types.BaseNamedTuple, name, **overload_options(options))(build)
    _implement_from_disk(build, find, signature(method), options)


@cache
def _checked(method: FunctionType) -> Callable[..., Any]:
    """Return a method whose argument ``i``, if it has one, is checked to be a place in ``self.rows``."""
    if "i" not in method.__code__.co_varnames[:2]:
        return method
    body: Any = njit(**METHODS, forceinline=True)(method)
    if method.__code__.co_argcount == 2:
        return lambda self, i: body(self, checked_place(self.rows, i))
    return lambda self, i, memory: body(self, checked_place(self.rows, i), memory)


@jittable_inline
def checked_place(rows: Any, i: int) -> int:
    """Return a place in a table of arms; raise ``IndexError`` if there is none, as NumPy does."""
    if not -len(rows) <= i < len(rows):
        refuse_place(i)
    return i


def refuse_place(i: int) -> None:
    raise IndexError(i, PLACE)


overload(refuse_place, **overload_options({**METHODS, **accepted("_nrt", True)}))(lambda i: refuse_place)


def _has_policy(kind: Any) -> bool:
    return isinstance(kind, PolicyType) or any(map(_has_policy, getattr(kind, "types", ())))


def is_importable(kind: Any) -> bool:
    """Return whether the classes in a Numba type are found again by name in another process."""
    if isinstance(kind, types.BaseNamedTuple):
        named: Any = getattr(kind, "instance_class", None)
        home: Any = sys.modules.get(named.__module__)
        for part in named.__qualname__.split("."):
            home = getattr(home, part, None)
        if home is not named or named.__module__ == "__main__":
            return False
    return all(map(is_importable, getattr(kind, "types", ())))


_DECORATORS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        implement,
        implement_as_constant,
        implement_by_class,
        implement_external,
        implement_tuple_methods,
    )
}


def register_waiting() -> None:
    """Make known to Numba what kernels were decorated with."""
    with lock:
        while waiting:
            name, arguments = waiting.pop(0)
            _DECORATORS[name](*arguments)


listeners.append(register_waiting)
register_waiting()
