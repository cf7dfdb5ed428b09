"""Compile the entry points of the engine for a class of policies, through Numba's public interface alone.

Each class of policies has a Numba type of its own (see ``policy_types``), so a policy object is passed to
compiled functions as it is. What is compiled is kept on disk (see ``code_cache``).
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from functools import partial
from inspect import signature
from types import FunctionType
from typing import Any, cast

import numpy as np
from numba import config, njit, typeof, types

from lowregret._common.progress import compiling
from lowregret.engine.bridge import code_cache
from lowregret.engine.bridge.compile_errors import TRACEBACK, explain
from lowregret.engine.bridge.external import define_symbols
from lowregret.engine.bridge.identity import CodeGraph, NoIdentity
from lowregret.engine.bridge.overloads import is_importable, on_disk, options_of, selected_bodies
from lowregret.engine.bridge.policy_types import METHODS, OPTIONS, attempts, lock, policy_type
from lowregret.errors import InputError
from lowregret.policies.base import Policy
from lowregret.policies.class_validation import COMPARISONS

_compiled: dict[tuple[Any, ...], Callable[..., Any]] = {}
_entries: dict[tuple[Any, ...], Callable[..., Any]] = {}
CALLED = (*COMPARISONS, "lower_bound", "next_round", "transform_reward", "list_index_slope", "update_memory")
"""The methods of a policy that the engine calls during a run."""
counts: Counter[str] = Counter()
"""How many entry points were ``compiled`` in this process, and how many ``loaded`` from the disk."""


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
            copy = on_disk(function, {**options, "called_by": "Python"}, kinds, {})
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
    """Collect no garbage inside: Numba makes objects by the million, which the collector would visit anew."""
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
    named = isinstance(kind, types.BaseNamedTuple) and not is_importable(kind)
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
        if isinstance(value, FunctionType) and (value in bodies or value in selected_bodies):
            if value not in bodies:
                body = selected_bodies[value](kind)
                bodies[value] = _inlined(body, kind, bodies) if isinstance(body, FunctionType) else body
            replaced[name] = bodies[value]
    return code_cache.copied(function, function.__code__, {**names, **replaced}) if replaced else function


def _inlined(body: FunctionType, kind: type[Policy], bodies: dict[Any, Any]) -> Any:
    return njit(inline="always", **OPTIONS)(_specialised(body, kind, bodies))


def _path(function: FunctionType, kind: type[Policy], kinds: tuple[Any, ...], play: Any = None) -> str | None:
    """Return where the machine code of an entry point is kept, or None where its code has no identity."""
    if code_cache.is_off() or not all(map(is_importable, kinds)):
        return None
    try:
        identity = CodeGraph(kind, function).identity
    except NoIdentity:
        return None
    where = function.__module__, None if play is None else play.__module__
    return code_cache.file_for(f"{kind.__name__}_{identity}", function.__name__, where, OPTIONS, kinds)
