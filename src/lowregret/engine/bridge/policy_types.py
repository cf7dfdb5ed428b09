"""Numba types for classes of policies.

Each class gets a Numba type of its own. Its numeric parameters are the members of a struct, its methods are
overloads of that type, and the plain functions that they call become callable from compiled code.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import getattr_static, signature
from types import FunctionType
from typing import Any, cast

from numba import njit, typeof, types
from numba.extending import (
    NativeValue,
    lower_builtin,
    make_attribute_wrapper,
    models,
    overload,
    overload_attribute,
    overload_method,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)

from lowregret.engine.bridge.compile import jittable_functions
from lowregret.engine.bridge.compile_errors import Attempt
from lowregret.engine.bridge.function_copies import copy_function
from lowregret.engine.bridge.identity import CodeGraph, NoIdentity
from lowregret.engine.bridge.numba_options import INLINED, METHODS, lock, overload_options
from lowregret.policies.base import Policy, numeric_fields

_shared: dict[FunctionType, CodeGraph] = {}
"""The functions of policies that compiled code can call, with what each referred to when it became so."""
attempts: list[Attempt] = []
"""The methods and functions of policies that Numba was given since the compilation began."""
_types: dict[type, tuple[CodeGraph, Any]] = {}
_types_by_name: dict[str, Any] = {}


class PolicyType(types.Type):
    """The Numba type of a class of policies; each class has a subclass of its own."""

    instance_class: type[Policy]


def policy_type(kind: type[Policy]) -> Any:
    """Return the Numba type of a class of policies, which classes of the same code share."""
    graph, numba_type = _types.get(kind, (None, None))
    if graph and graph.is_current():
        return numba_type
    with lock:
        graph = CodeGraph(kind)
        try:
            name = f"{kind.__name__}_{graph.identity}"
        except NoIdentity:
            name = f"{kind.__name__}_{len(_types_by_name)}_{os.getpid()}"
        if name not in _types_by_name:
            _types_by_name[name] = _make_type(kind, name, _copier(graph))
        share_all(graph)
        _types[kind] = graph, _types_by_name[name]
        return _types_by_name[name]


@typeof_impl.register(Policy)
def _typeof_policy(policy: Policy, context: Any) -> Any:
    return policy_type(type(policy))


def _copier(graph: CodeGraph) -> Callable[[FunctionType], FunctionType]:
    """Return what makes the functions of a class that Numba compiles: they themselves where that is enough.

    Numba compiles a function once for given types, with the global values of that time. Where these are out
    of date, Numba gets copies of all functions instead, which call each other.
    """
    functions = set(graph.functions)
    if all(function not in _shared or _shared[function].is_current() for function in functions):
        return lambda function: function
    copies: dict[FunctionType, FunctionType] = {}
    compiled_by_user: dict[Any, Any] = {}

    def copy(function: FunctionType) -> FunctionType:
        if function not in copies:
            copy_function(function, replace, copies=copies)
            if function in functions:
                _share(copies[function])
        return copies[function]

    def replace(_: str, value: Any) -> Any:
        function = getattr(value, "py_func", value)
        if not isinstance(function, FunctionType) or function not in functions:
            return value
        if function is value:
            return copy(function)
        if value not in compiled_by_user:
            options = {key: option for key, option in value.targetoptions.items() if key != "nopython"}
            compiled_by_user[value] = njit(**options)(copy(function))
        return compiled_by_user[value]

    return copy


def _make_type(kind: type[Policy], name: str, copy: Callable[[FunctionType], FunctionType]) -> Any:
    """Make a Numba type for a class of policies, found by its name in this module as pickle needs it."""
    numbers = {bool: types.boolean, int: types.int64, float: types.float64}
    members = [(field, numbers[number]) for field, number in numeric_fields(kind).items()]

    class Type(PolicyType):
        instance_class = kind

        def __init__(self) -> None:
            super().__init__(name=name)

    class Model(models.StructModel):
        def __init__(self, manager: Any, front_end_type: Any) -> None:
            super().__init__(manager, front_end_type, members or [("unused", types.float64)])

    Type.__name__ = Type.__qualname__ = name
    globals()[name] = Type
    register_model(Type)(Model)
    for field, _ in members:
        make_attribute_wrapper(Type, field, field)

    def read(of: Any, policy: Any, c: Any) -> NativeValue:
        struct, failed = c.context.get_constant_undef(of), c.context.get_constant(types.boolean, False)
        for place, (field, number) in enumerate(members):
            value = c.pyapi.object_getattr_string(policy, field)
            native = c.unbox(number, value)
            c.pyapi.decref(value)
            struct = c.builder.insert_value(struct, native.value, place)
            failed = c.builder.or_(failed, native.is_error)
        return NativeValue(struct, is_error=failed)

    unbox(Type)(read)
    _register_class(Type, kind, {field for field, _ in members}, copy)
    return Type()


def _register_class(
    of: Any, kind: type[Policy], members: set[str], copy: Callable[[FunctionType], FunctionType]
) -> None:
    """Let compiled code call the methods of a class and read its numbers."""
    for name in type.__dir__(kind):
        value = getattr_static(kind, name)
        if name.startswith("__") or name in members:
            continue
        if isinstance(value, FunctionType):
            _register_method(of, name, copy(value))
        elif isinstance(value, bool | int | float):
            _register_number(of, name, value)


def _register_method(of: Any, name: str, method: FunctionType) -> None:
    copy = _importable(method)

    def choose(*arguments: Any, **named: Any) -> Any:
        attempts.append(Attempt(method, arguments))
        return copy

    cast(Any, choose).__signature__ = signature(method)
    overload_method(of, name, **overload_options({**_checking(method), "forceinline": True}))(choose)


def _register_number(of: Any, name: str, value: float) -> None:
    def choose(policy: Any) -> Any:
        return lambda policy: value

    overload_attribute(of, name, **overload_options(INLINED))(choose)


def class_of(policy: Any) -> type[Policy]:
    """Return the class of policies that a Numba type stands for; None stands for the base of all."""
    return Policy if isinstance(policy, types.NoneType) else cast("type[Policy]", policy.instance_class)


def implement_constant(function: Any, find: Callable[[type[Policy]], Any]) -> None:
    """Let compiled code take what ``find`` returns for a class for what a function returns for a policy."""

    def constant_of(context: Any, builder: Any, kind: Any, _: Any) -> Any:
        return context.get_constant_generic(builder, kind.return_type, find(class_of(kind.args[0])))

    type_callable(function)(lambda context: lambda policy: typeof(find(class_of(policy))))
    lower_builtin(function, types.Any)(constant_of)


def share_all(graph: CodeGraph) -> None:
    """Let compiled code call the plain functions that were reached."""
    for function in graph.functions:
        if function not in jittable_functions:
            jittable_functions.add(function)
            _shared[function] = CodeGraph(function)
            _share(function)


def _share(function: FunctionType) -> None:
    copy = _importable(function)

    def choose(*arguments: Any, **named: Any) -> Any:
        attempts.append(Attempt(function, arguments))
        return copy

    cast(Any, choose).__signature__ = signature(function)
    overload(function, strict=False, jit_options=_checking(function))(choose)


def _checking(function: FunctionType) -> Any:
    """Return how a function is compiled: one that is not ours checks its indices, as of ``arm.rewards``."""
    ours = (function.__module__ or "").startswith("lowregret.")
    return METHODS if ours else {**METHODS, "boundscheck": True}


def _importable(function: FunctionType) -> FunctionType:
    """Copy a function as one of this module: machine code imports the modules of its functions by name."""
    copy = copy_function(function)
    copy.__module__ = __name__
    return copy
