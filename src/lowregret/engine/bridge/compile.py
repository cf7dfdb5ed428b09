"""Decorators of kernels, which stay plain Python, as live agents use them, until ``overloads`` is loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from lowregret.policies.base import Policy

Function = TypeVar("Function", bound=Callable[..., Any])

PLACE = "a place beyond the arms"
waiting: list[tuple[str, tuple[Any, ...]]] = []
"""Functions of ``overloads`` that are yet to be called, with their arguments."""
listeners: list[Callable[[], None]] = []
"""What calls them, once ``overloads`` is loaded."""
compiled_forms: dict[Callable[..., Any], Callable[..., Any]] = {}
"""What compiled code calls in place of some plain functions."""


def _register(name: str, *arguments: Any) -> None:
    waiting.append((name, arguments))
    for listener in listeners:
        listener()


def compiled(function: Function, inline: bool = False) -> Function:
    """Compile a function of the engine: for each class if it takes a policy, else once, kept on disk."""
    if "policy" in signature(function).parameters:
        from numba import njit

        from lowregret.engine.bridge.overloads import options_of
        from lowregret.engine.bridge.policy_types import accepted

        return cast(Function, njit(**options_of(inline), **accepted("no_cpython_wrapper", True))(function))

    @cache
    def dispatcher() -> Any:
        from lowregret.engine.bridge.compiler import dispatch

        return dispatch(function, inline)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return dispatcher()(*arguments)

    wrapper: Any = call
    wrapper.py_func = function
    _register("implement", call, function, inline)
    return cast(Function, wrapper)


def compiled_inline(function: Function) -> Function:
    """Compile a function that is called at every step, into the code of its callers."""
    return compiled(function, inline=True)


def jittable(function: Function, inline: bool = False) -> Function:
    """Let compiled code call a function that stays plain Python for those who do not compile."""
    _register("implement", function, function, inline)
    return function


def jittable_inline(function: Function) -> Function:
    """Do what ``jittable`` does, and compile the function into the code of its callers."""
    return jittable(function, inline=True)


def external(function: Function) -> Function:
    """Let compiled code call a function of numbers by a symbol, as it is compiled once for all callers."""
    _register("implement_external", function)
    return function


def compiled_as(plain: Callable[..., Any]) -> Callable[[Function], Function]:
    """Let compiled code that calls ``plain`` call the decorated function instead, which returns the same."""

    def register(function: Function) -> Function:
        compiled_forms[plain] = function
        _register("implement", plain, function, True)
        return function

    return register


def compile_as_constant(function: Callable[[Any], Any], find: Callable[[type[Policy]], Any]) -> None:
    """Let compiled code take what ``find`` returns for a class for what the function returns for a policy."""
    _register("implement_as_constant", function, find)


def by_policy_class(
    select: Callable[[type[Policy]], Callable[..., Any]], inline: bool = True
) -> Callable[..., Any]:
    """Make a function whose first argument is a policy, and whose body the class of that policy selects."""

    def function(policy: Any, *arguments: Any) -> Any:
        return select(type(policy))(policy, *arguments)

    _register("implement_by_class", function, select, inline)
    return function


def register_tuple_methods(kind: type) -> None:
    """Let compiled code call the plain methods of a ``NamedTuple`` class, and what those call.

    Numba knows one signature for each name of a method of named tuples; so two classes that have a method of
    one name must agree on its parameters.
    """
    _register("implement_tuple_methods", kind)
