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
from lowregret.engine.bridge import code_cache, external
from lowregret.engine.bridge.compile import (
    is_importable,
    modules_of,
    path_on_disk,
    selected_bodies,
    use_numba,
)
from lowregret.engine.bridge.compile_errors import TRACEBACK, explain
from lowregret.engine.bridge.function_copies import copy_function
from lowregret.engine.bridge.identity import CodeGraph, NoIdentity
from lowregret.engine.bridge.numba_options import METHODS, OPTIONS, lock, options_of
from lowregret.engine.bridge.policy_types import attempts, policy_type
from lowregret.errors import InputError
from lowregret.policies.base import Policy
from lowregret.policies.class_validation import COMPARISONS

use_numba()
_compiled: dict[tuple[Any, ...], Callable[..., Any]] = {}
_entries: dict[tuple[Any, ...], Callable[..., Any]] = {}
_signatures: dict[tuple[Any, ...], Any] = {}
_addresses: dict[tuple[Any, ...], Any] = {}
"""What was compiled to be called by its address; machine code lives as long as these."""
CALLED = (
    *(*COMPARISONS, "lower_bound", "next_round", "transform_reward", "list_index_slope", "update_memory"),
    *("recommend", "stop", "accepts"),
)
"""The methods of a policy that the engine calls during a run."""
counts: Counter[str] = Counter()
"""How many entry points were ``compiled`` in this process, and how many ``loaded`` from the disk."""


def entry(
    function: Callable[..., Any],
    policy: Policy,
    *others: Any,
    calls: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
) -> Callable[..., Any]:
    """Compile an engine function for a policy and for other arguments of the types of the examples.

    Of two functions in ``calls``, the code calls the second where the first is written. Whoever calls it
    answers for the types.
    """
    if cast(Any, config).DISABLE_JIT:
        raise InputError(
            f"{policy}: NUMBA_DISABLE_JIT is set, so nothing can be compiled: unset it, or use "
            "engine='reference' of simulate and trace"
        )
    assert isinstance(function, FunctionType)
    shape = function, calls, policy_type(type(policy)), _shape(others)
    if shape not in _entries:
        with lock:
            kinds = tuple(map(typeof, (policy, *others)))
            key = function, calls, kinds
            if key not in _compiled:
                _compiled[key] = _compile(function, policy, kinds, calls)
            _entries[shape] = _compiled[key]
    return _entries[shape]


def signature_for(function: Callable[..., Any], examples: tuple[Any, ...]) -> Any:
    """Return the signature of a function that is called by its address, for the types of the examples."""
    shape = function, _shape(examples)
    if shape not in _signatures:
        _signatures[shape] = external.signature_for(function, tuple(map(typeof, examples)))
    return _signatures[shape]


def expect(function: Callable[..., Any], *examples: Any) -> None:
    """Let what is compiled next call a function by its address, for the types of the examples."""
    external.expected[function] = signature_for(function, examples)


def address_of(function: Callable[..., Any], *examples: Any) -> int:
    """Compile or load a function for arguments of the types of the examples; return its address."""
    shape = function, _shape(examples)
    if shape not in _addresses:
        with lock, _without_collection():
            _addresses[shape] = external.machine_code(function, signature_for(function, examples))
    return int(_addresses[shape].address)


def has_address(function: Callable[..., Any], *examples: Any) -> bool:
    """Return whether this process has what ``address_of`` returns."""
    return (function, _shape(examples)) in _addresses


def address_path(function: Callable[..., Any], *examples: Any) -> str | None:
    """Return beside which file ``address_of`` keeps the machine code, or None."""
    with lock:
        return external.path_of(function, signature_for(function, examples))


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
            path = path_on_disk(function, {**options, "called_by": "Python"}, kinds, {})
            return code_cache.compile_or_load(
                function,
                path,
                lambda body, cache: cast(Any, njit(cache=cache, **options)(body)).compile(kinds),
            )

    return call


def with_compiled_methods(policy: Policy) -> Policy:
    """Return a policy for plain Python that computes as compiled code does, where a division by 0 is inf."""
    other = copy(policy)
    for name in CALLED:
        if callable(getattr(policy, name, None)):
            call = njit(**METHODS)(eval(f"lambda policy, *given: policy.{name}(*given)"))
            vars(other)[name] = partial(call, policy)
    return other


def has_entry(
    function: Callable[..., Any],
    policy: Policy,
    *others: Any,
    calls: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
) -> bool:
    """Return whether this process has what ``entry`` returns."""
    return (function, calls, policy_type(type(policy)), _shape(others)) in _entries


def entry_path(
    function: Callable[..., Any],
    policy: Policy,
    *others: Any,
    calls: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
) -> str | None:
    """Return beside which file ``entry`` keeps the machine code, or None."""
    assert isinstance(function, FunctionType)
    with lock:
        kinds = tuple(map(typeof, (policy, *others)))
        return _path(function, type(policy), _plain(function, kinds), calls)


def is_on_disk(function: Callable[..., Any], policy: Policy, *others: Any) -> bool:
    """Return whether ``entry`` need not compile: the machine code is in this process or on the disk."""
    if (function, None, policy_type(type(policy)), _shape(others)) in _entries:
        return True
    path = entry_path(function, policy, *others)
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


def _compile(function: FunctionType, policy: Policy, kinds: Any, calls: Any) -> Callable[..., Any]:
    plain = _plain(function, kinds)
    path = _path(function, type(policy), plain, calls)
    bodies: dict[Any, Any] = {}
    if calls is not None:
        bodies[calls[0]] = _inlined(calls[1], type(policy), bodies)
    function = _specialised(function, type(policy), bodies)
    if path and plain != kinds:
        function, kinds = _from_tuples(function, kinds), plain
    attempts.clear()
    loaded = bool(path) and code_cache.has_code(str(path))
    with nullcontext() if loaded else compiling(str(policy)), _without_collection():
        try:
            return code_cache.compile_or_load(
                function, path, lambda body, cache: _finish(njit(cache=cache, **OPTIONS)(body), kinds)
            )
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


def _plain(function: FunctionType, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the types for which machine code is kept: no other if the function returns what has a class."""
    if function.__annotations__.get("return") not in (int, "int"):
        return kinds
    return tuple(map(_without_class, kinds))


def _without_class(kind: Any) -> Any:
    """Return the type of a plain tuple for a ``NamedTuple`` whose class other processes could not import."""
    named = isinstance(kind, types.BaseNamedTuple) and not is_importable(kind)
    return types.Tuple(tuple(getattr(kind, "types", ()))) if named else kind


def _from_tuples(function: FunctionType, kinds: tuple[Any, ...]) -> FunctionType:
    """Make a function that takes plain tuples instead of such a ``NamedTuple``, and calls ``function``."""
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
    """Copy a function so that it calls the bodies that ``by_policy_class`` selects for a class.

    Numba copies such bodies into the code of their callers before it compiles that. Compiled one by one, all
    that they call would be optimised again with every caller.
    """

    def body_of(_: str, value: Any) -> Any:
        if isinstance(value, FunctionType) and value in selected_bodies and value not in bodies:
            body = selected_bodies[value](kind)
            bodies[value] = _inlined(body, kind, bodies) if isinstance(body, FunctionType) else body
        return bodies.get(value, value) if isinstance(value, FunctionType) else value

    return copy_function(function, body_of)


def _inlined(body: FunctionType, kind: type[Policy], bodies: dict[Any, Any]) -> Any:
    return njit(inline="always", **OPTIONS)(_specialised(body, kind, bodies))


def _path(function: FunctionType, kind: type[Policy], kinds: Any, calls: Any = None) -> str | None:
    """Return where the machine code of an entry point is kept, or None where its code has no identity."""
    if code_cache.is_off() or not all(map(is_importable, kinds)):
        return None
    try:
        identity = CodeGraph(kind, function).identity
    except NoIdentity:
        return None
    where = function.__module__, calls and calls[1].__module__
    parts = where, OPTIONS, kinds, modules_of(kinds)
    return code_cache.file_for(f"{kind.__name__}_{identity}", function.__name__, *parts)
