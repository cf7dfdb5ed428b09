"""Compile policies and the engine with Numba, through its public extension interface alone.

Each class of policies has a Numba type of its own (see ``policy_types``), so a policy object is passed to
compiled functions as it is.

What is compiled is kept on disk (see ``code_cache``): functions of the engine that do not depend on a policy,
each by itself, and the entry points for a class of policies.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from functools import cache, partial
from inspect import Signature, getattr_static, signature
from types import FunctionType
from typing import Any, cast

import numpy as np
from numba import config, njit, typeof, types
from numba.extending import overload, overload_method

from lowregret._common.progress import compiling
from lowregret.engine.bridge import code_cache
from lowregret.engine.bridge.compile import PLACE, jittable_inline, listeners, waiting
from lowregret.engine.bridge.compile_errors import TRACEBACK, explain
from lowregret.engine.bridge.external import define_symbols, implement_external
from lowregret.engine.bridge.identity import GENERATED, CodeGraph, NoIdentity, is_kernel
from lowregret.engine.bridge.policy_types import (
    INLINED,
    METHODS,
    OPTIONS,
    PolicyType,
    accepted,
    attempts,
    class_of,
    jittable_functions,
    lock,
    overload_options,
    policy_type,
    share_all,
)
from lowregret.errors import InputError
from lowregret.policies.base import Policy
from lowregret.policies.class_validation import COMPARISONS

_compiled: dict[tuple[Any, ...], Callable[..., Any]] = {}
_entries: dict[tuple[Any, ...], Callable[..., Any]] = {}
_methods: dict[str, str] = {}
_selected: dict[Callable[..., Any], Callable[..., Any]] = {}
CALLED = (*COMPARISONS, "lower_bound", "next_round", "transform_reward", "list_index_slope", "update_memory")
"""The methods of a policy that the engine calls during a run."""
counts: Counter[str] = Counter()
"""How many entry points were ``compiled`` in this process, and how many ``loaded`` from the disk."""


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

    _selected[name] = select
    overload(name, strict=False, jit_options=options_of(inline))(choose)


def implement(name: FunctionType, function: FunctionType, inline: bool) -> None:
    """Let compiled code that calls ``name`` call a function of the engine, from the disk where that works."""
    options = options_of(inline)
    jittable_functions.add(name)

    def build(*arguments: Any, **named: Any) -> Any:
        return None if _on_disk(function, options, arguments, named) else function

    cast(Any, build).__signature__ = signature(function)
    overload(name, strict=False, jit_options=options)(build)
    _implement_from_disk(name, lambda *_: function, signature(function), options)


def _implement_from_disk(
    name: Callable[..., Any], find: Callable[..., Any], parameters: Signature, options: Any
) -> None:
    """Add the form of ``name`` that Numba keeps on disk; ``find`` returns its function by argument types."""

    def load(*arguments: Any, **named: Any) -> Any:
        return _on_disk(find(*arguments), options, arguments, named)

    cast(Any, load).__signature__ = parameters
    overload(name, **overload_options({**options, "cache": True}))(load)


def _on_disk(function: Any, options: Any, arguments: Any, named: Any) -> FunctionType | None:
    """Return a copy of a function of the engine that Numba keeps on disk, or None where it cannot be kept."""
    kinds = (*arguments, *named.values())
    if not isinstance(function, FunctionType) or not is_kernel(function.__module__):
        return None
    if not all(map(_is_importable, kinds)) or any(map(_has_policy, kinds)):
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
        return None if _on_disk(own, options, (self, *arguments), named) else own

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


def entry(
    function: Callable[..., Any], policy: Policy, *others: Any, play: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """Compile an engine function for a policy and for other arguments of the types of the examples.

    ``play`` takes the place of what the function calls by this name. Whoever calls it answers for the types.
    """
    if cast(Any, config).DISABLE_JIT:
        raise InputError(
            f"{policy}: NUMBA_DISABLE_JIT is set, so nothing can be compiled: unset it, or use "
            "engine='reference' of simulate and trace"
        )
    assert isinstance(function, FunctionType)
    shape = function, play, policy_type(type(policy)), _shape(others)
    if shape not in _entries:
        with lock:
            kinds = tuple(map(typeof, (policy, *others)))
            key = function, play, kinds
            if key not in _compiled:
                _compiled[key] = _compile(function, policy, kinds, play)
            _entries[shape] = _compiled[key]
    return _entries[shape]


def dispatch(function: Any, inline: bool) -> Callable[..., Any]:
    """Return a function of the engine as Python calls it, compiled or loaded for each types of arguments."""
    options, versions = options_of(inline), dict[Any, Callable[..., Any]]()

    def call(*arguments: Any) -> Any:
        shape = _shape(arguments)
        if shape not in versions:
            versions[shape] = function if cast(Any, config).DISABLE_JIT else version_for(arguments)
        return versions[shape](*arguments)

    def version_for(arguments: tuple[Any, ...]) -> Callable[..., Any]:
        with lock, _without_collection():
            kinds = tuple(map(typeof, arguments))
            copy = _on_disk(function, {**options, "called_by": "Python"}, kinds, {})
            if copy:
                try:
                    return cast(Any, njit(cache=True, **options)(copy)).compile(kinds)
                except (OSError, RuntimeError):  # a full disk costs the cache, not the call
                    code_cache.switch_off()
            return cast(Any, njit(**options)(function)).compile(kinds)

    return call


def with_compiled_methods(policy: Policy) -> Policy:
    """Return a policy for plain Python that computes as compiled code does, where a division by 0 is inf."""
    define_symbols()
    other = copy(policy)
    for name in CALLED:
        if callable(getattr(policy, name, None)):
            call = njit(**METHODS)(eval(f"lambda policy, *given: policy.{name}(*given)"))
            vars(other)[name] = partial(call, policy)
    return other


def is_on_disk(function: Callable[..., Any], policy: Policy, *others: Any) -> bool:
    """Return whether ``entry`` need not compile: the machine code is in this process or on the disk."""
    assert isinstance(function, FunctionType)
    if (function, None, policy_type(type(policy)), _shape(others)) in _entries:
        return True
    with lock:
        kinds = tuple(map(typeof, (policy, *others)))
        path = _path(
            function, type(policy), tuple(map(_without_class, kinds)) if _returns_int(function) else kinds
        )
    return path is not None and code_cache.has_code(path)


def _shape(value: Any) -> Any:
    """Return what determines the Numba type of a value, in a hundredth of the time that Numba takes."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    if isinstance(value, tuple):
        return type(value), *map(_shape, value)
    if isinstance(value, np.void):
        return value.dtype
    return (int, value.bit_length() > 63) if type(value) is int else type(value)


def _compile(
    function: FunctionType, policy: Policy, kinds: tuple[Any, ...], play: Callable[..., Any] | None
) -> Callable[..., Any]:
    plain = tuple(map(_without_class, kinds)) if _returns_int(function) else kinds
    path = _path(function, type(policy), plain, play)
    bodies: dict[Any, Any] = {}
    if play is not None:
        bodies[function.__globals__["play"]] = _inlined(cast(FunctionType, play), type(policy), bodies)
    function = _specialised(function, type(policy), bodies)
    if path and plain != kinds:
        function, kinds = _from_tuples(function, kinds), plain
    define_symbols()
    attempts.clear()
    loaded = bool(path) and code_cache.has_code(str(path))
    with nullcontext() if loaded else compiling(str(policy)), _without_collection():
        try:
            if path:
                try:
                    return _finish(
                        njit(cache=True, **OPTIONS)(code_cache.with_filename(function, path)), kinds
                    )
                except ImportError:  # of a module that a function of the user's compiled by Numba was in
                    pass
                except (OSError, RuntimeError):  # a full disk costs the cache, not the simulation
                    code_cache.switch_off()
            return _finish(njit(**OPTIONS)(function), kinds)
        except Exception as error:  # of Numba's many kinds, some are not its own
            raise explain(error, policy, attempts, OPTIONS) from (error if TRACEBACK else None)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage inside: Numba makes objects by the million, and a seventh of its time went there."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _finish(dispatcher: Any, kinds: tuple[Any, ...]) -> Callable[..., Any]:
    """Compile or load a function for arguments of some types."""
    made: Callable[..., Any] = dispatcher.compile(kinds)
    counts["loaded" if dispatcher.stats.cache_hits else "compiled"] += 1
    return made


def _returns_int(function: FunctionType) -> bool:
    return function.__annotations__.get("return") in (int, "int")


def _without_class(kind: Any) -> Any:
    """Return the type of a plain tuple for a ``NamedTuple`` whose class other processes could not import."""
    named = isinstance(kind, types.BaseNamedTuple) and not _is_importable(kind)
    return types.Tuple(tuple(getattr(kind, "types", ()))) if named else kind


def _from_tuples(function: FunctionType, kinds: tuple[Any, ...]) -> FunctionType:
    """Make a function that takes plain tuples in place of such a ``NamedTuple``, and calls ``function``."""
    names = list(signature(function).parameters)
    scope: dict[str, Any] = {"body": njit(inline="always", **OPTIONS)(function), "__name__": __name__}
    arguments = []
    for name, kind in zip(names, kinds, strict=True):
        if _without_class(kind) != kind:
            scope[f"class_of_{name}"] = kind.instance_class
            arguments.append(f"class_of_{name}(*{name})")
        else:
            arguments.append(name)
    source = f"def {function.__name__}({', '.join(names)}):\n    return body({', '.join(arguments)})\n"
    exec(compile(source, __file__, "exec"), scope)
    return cast(FunctionType, scope[function.__name__])


def _specialised(function: FunctionType, kind: type[Policy], bodies: dict[Any, Any]) -> FunctionType:
    """Copy a function with the bodies that ``by_policy_class`` selects in place of the functions it made.

    Numba copies such bodies into the code of their callers before it compiles that. Compiled one by one, all
    that they call would be optimised again with every caller.
    """
    names, replaced = function.__globals__, {}
    for name in function.__code__.co_names:
        value = names.get(name)
        if isinstance(value, FunctionType) and (value in bodies or value in _selected):
            if value not in bodies:
                body = _selected[value](kind)
                bodies[value] = _inlined(body, kind, bodies) if isinstance(body, FunctionType) else body
            replaced[name] = bodies[value]
    return code_cache.copied(function, function.__code__, {**names, **replaced}) if replaced else function


def _inlined(body: FunctionType, kind: type[Policy], bodies: dict[Any, Any]) -> Any:
    return njit(inline="always", **OPTIONS)(_specialised(body, kind, bodies))


def _path(function: FunctionType, kind: type[Policy], kinds: tuple[Any, ...], play: Any = None) -> str | None:
    """Return where the machine code of an entry point is kept, or None where its code has no identity."""
    if code_cache.is_off() or not all(map(_is_importable, kinds)):
        return None
    try:
        identity = CodeGraph(kind, function).identity
    except NoIdentity:
        return None
    where = function.__module__, None if play is None else play.__module__
    return code_cache.file_for(f"{kind.__name__}_{identity}", function.__name__, where, OPTIONS, kinds)


def _has_policy(kind: Any) -> bool:
    return isinstance(kind, PolicyType) or any(map(_has_policy, getattr(kind, "types", ())))


def _is_importable(kind: Any) -> bool:
    """Return whether the classes in a Numba type are found again by name in another process."""
    if isinstance(kind, types.BaseNamedTuple):
        named: Any = getattr(kind, "instance_class", None)
        home: Any = sys.modules.get(named.__module__)
        for part in named.__qualname__.split("."):
            home = getattr(home, part, None)
        if home is not named or named.__module__ == "__main__":
            return False
    return all(map(_is_importable, getattr(kind, "types", ())))


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
