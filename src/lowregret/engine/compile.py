"""Compile policies and the engine with Numba, through its public extension interface alone.

Each class of policies has a Numba type of its own (see ``policy_types``), so a policy object is passed to
compiled functions as it is.

What is compiled is kept on disk (see ``code_cache``): functions of the engine that do not depend on a policy,
each by itself, and the entry points for a class of policies.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from inspect import Signature, getattr_static, signature
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit, typeof, types
from numba.extending import overload, overload_method

from lowregret.engine import code_cache
from lowregret.engine.compile_errors import explain
from lowregret.engine.compile_progress import announced
from lowregret.engine.identity import GENERATED, NoIdentity, Reach, is_engine
from lowregret.engine.policy_types import (
    INLINED,
    METHODS,
    OPTIONS,
    PolicyType,
    attempts,
    class_of,
    lenient,
    lock,
    policy_type,
    share_all,
    shared_functions,
)
from lowregret.errors import InputError
from lowregret.policies.base import Policy

__all__ = [
    "INLINED",
    "METHODS",
    "OPTIONS",
    "adopt",
    "by_policy_class",
    "class_of",
    "compiled",
    "compiled_inline",
    "counts",
    "entry",
    "is_on_disk",
    "policy_type",
    "shared",
    "shared_inline",
]

Function = TypeVar("Function", bound=Callable[..., Any])


_compiled: dict[tuple[FunctionType, tuple[Any, ...]], Callable[..., Any]] = {}
_entries: dict[tuple[FunctionType, Any, Any], Callable[..., Any]] = {}
_methods: dict[str, str] = {}
_selected: dict[Callable[..., Any], Callable[..., Any]] = {}
counts: Counter[str] = Counter()
"""How many entry points were ``compiled`` in this process, and how many ``loaded`` from the disk."""


def compiled(function: Function) -> Function:
    """Compile a function of the engine.

    For Python the result is compiled code. A function that takes a policy is compiled for each class of
    policies; any other is compiled once for each signature, and kept on disk.
    """
    return _engine_function(function, OPTIONS)


def compiled_inline(function: Function) -> Function:
    """Compile a function that is called at every step, into the code of its callers."""
    return _engine_function(function, INLINED)


def _engine_function(function: Function, options: Any) -> Function:
    """Return a function that is compiled code for Python, and that compiled code can call."""
    dispatcher: Any = njit(**options)(function)
    if "policy" in signature(function).parameters:
        return cast(Function, dispatcher)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return dispatcher(*arguments)

    wrapper: Any = call
    wrapper.py_func = function
    _implement(call, cast(FunctionType, function), options)
    return cast(Function, wrapper)


def shared(function: Function, options: Any = OPTIONS) -> Function:
    """Let compiled code call a function that stays plain Python for those who do not compile."""
    shared_functions.add(cast(FunctionType, function))
    _implement(function, cast(FunctionType, function), options)
    return function


def shared_inline(function: Function) -> Function:
    """Do what ``shared`` does, and compile the function into the code of its callers."""
    return shared(function, INLINED)


def compiled_form(plain: Callable[..., Any]) -> Callable[[Function], Function]:
    """Let compiled code that calls ``plain`` call the decorated function instead, which returns the same."""

    def register(function: Function) -> Function:
        shared_functions.add(cast(FunctionType, plain))
        _implement(plain, cast(FunctionType, function), INLINED)
        return function

    return register


def by_policy_class(
    select: Callable[[type[Policy]], Callable[..., Any]], options: Any = INLINED
) -> Callable[..., Any]:
    """Make a function whose first argument is a policy, and whose body the class of that policy selects."""

    def function(policy: Any, *arguments: Any) -> Any:
        return select(type(policy))(policy, *arguments)

    def choose(policy: Any, *arguments: Any) -> Any:
        return select(class_of(policy))

    _selected[function] = select
    overload(function, strict=False, jit_options=options)(choose)
    return function


def _implement(name: Callable[..., Any], function: FunctionType, options: Any) -> None:
    """Let compiled code that calls ``name`` call a function of the engine, from the disk where that works."""

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
    overload(name, **lenient({**options, "cache": True}))(load)


def _on_disk(function: Any, options: Any, arguments: Any, named: Any) -> FunctionType | None:
    """Return a copy of a function of the engine that Numba keeps on disk, or None where it cannot be kept."""
    kinds = (*arguments, *named.values())
    if not isinstance(function, FunctionType) or not is_engine(function.__module__):
        return None
    if not all(map(_is_importable, kinds)) or any(map(_has_policy, kinds)):
        return None
    where = function.__module__, function.__qualname__, tuple(named)
    path = code_cache.file_for("engine", function.__name__, where, options, kinds)
    return code_cache.moved(function, path) if path else None


def adopt(kind: type) -> None:
    """Let compiled code call the plain methods of a ``NamedTuple`` class, and what those call.

    Numba knows one signature for each name of a method of named tuples; so two classes that have a method of
    one name must agree on its parameters.
    """
    with lock:
        for name in dir(kind):
            method = getattr_static(kind, name)
            if isinstance(method, FunctionType) and name not in GENERATED:
                _adopt_method(kind, name, method)
                share_all(Reach(method))


def _adopt_method(kind: type, name: str, method: FunctionType) -> None:
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
        found = getattr(self.instance_class, name, None)
        return found if isinstance(found, FunctionType) else None

    def build(self: Any, *arguments: Any, **named: Any) -> Any:
        found = find(self)
        return None if _on_disk(found, options, (self, *arguments), named) else found

    cast(Any, build).__signature__ = signature(method)
    overload_method(types.BaseNamedTuple, name, **lenient(options))(build)
    _implement_from_disk(build, find, signature(method), options)


def entry(function: Callable[..., Any], policy: Policy, *others: Any) -> Callable[..., Any]:
    """Compile an engine function for a policy and for other arguments of the types of the examples.

    The types are not looked at again when the result is called, so whoever calls it answers for them. Two
    threads may compile at once; the second waits for the first.
    """
    if cast(Any, config).DISABLE_JIT:
        raise InputError(
            f"{policy}: NUMBA_DISABLE_JIT is set, so nothing can be compiled: unset it, or use "
            "engine='reference' of simulate and trace"
        )
    assert isinstance(function, FunctionType)
    shape = function, policy_type(type(policy)), _shape(others)
    if shape not in _entries:
        with lock:
            kinds = tuple(typeof(each) for each in (policy, *others))
            key = function, kinds
            if key not in _compiled:
                _compiled[key] = _compile(function, policy, kinds)
            _entries[shape] = _compiled[key]
    return _entries[shape]


def is_on_disk(function: Callable[..., Any], policy: Policy, *others: Any) -> bool:
    """Return whether ``entry`` need not compile: the machine code is in this process or on the disk."""
    assert isinstance(function, FunctionType)
    if (function, policy_type(type(policy)), _shape(others)) in _entries:
        return True
    with lock:
        kinds = tuple(typeof(each) for each in (policy, *others))
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
    return (int, value.bit_length() > 63) if type(value) is int else type(value)


def _compile(function: FunctionType, policy: Policy, kinds: tuple[Any, ...]) -> Callable[..., Any]:
    plain = tuple(map(_without_class, kinds)) if _returns_int(function) else kinds
    path = _path(function, type(policy), plain)
    function = _specialised(function, type(policy), {})
    if path and plain != kinds:
        function, kinds = _from_tuples(function, kinds), plain
    attempts.clear()
    with announced(str(policy), bool(path) and code_cache.has_code(str(path))):
        try:
            if path:
                try:
                    return _finish(njit(cache=True, **OPTIONS)(code_cache.moved(function, path)), kinds)
                except ImportError:  # of a module that a function of the user's compiled by Numba was in
                    pass
                except (OSError, RuntimeError):  # a full disk costs the cache, not the simulation
                    code_cache.switch_off()
            return _finish(njit(**OPTIONS)(function), kinds)
        except Exception as error:  # of Numba's many kinds, some are not its own
            raise explain(error, policy, attempts, OPTIONS) from error


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
    """Make a function that takes plain tuples in place of such a ``NamedTuple``, and calls ``function``.

    Numba keeps the types of arguments on disk, with the classes in them.
    """
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


def _specialised(function: FunctionType, kind: type[Policy], found: dict[Any, Any]) -> FunctionType:
    """Copy a function with the bodies that ``by_policy_class`` selects in place of the functions it made.

    Numba copies such bodies into the code of their callers before it compiles that. Compiled one by one, all
    that they call would be optimised again with every caller.
    """
    names, bodies = function.__globals__, {}
    for name in function.__code__.co_names:
        value = names.get(name)
        if isinstance(value, FunctionType) and value in _selected:
            if value not in found:
                body = cast(FunctionType, _selected[value](kind))
                found[value] = njit(inline="always", **OPTIONS)(_specialised(body, kind, found))
            bodies[name] = found[value]
    return code_cache.copied(function, function.__code__, {**names, **bodies}) if bodies else function


def _path(function: FunctionType, kind: type[Policy], kinds: tuple[Any, ...]) -> str | None:
    """Return where the machine code of an entry point is kept, or None where its code has no identity."""
    if code_cache.is_off() or not all(map(_is_importable, kinds)):
        return None
    try:
        identity = Reach(kind, function).identity
    except NoIdentity:
        return None
    return code_cache.file_for(
        f"{kind.__name__}_{identity}", function.__name__, function.__module__, OPTIONS, kinds
    )


def _has_policy(kind: Any) -> bool:
    """Say whether a Numba type depends on a class of policies."""
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
