"""Decorators of the functions that live agents call as plain Python, and that compiled code calls as well.

Live agents never load Numba. So a decorator returns its function as it is, and notes how Numba will learn of
it (``_declare``). The modules that compile call ``use_numba`` when they are imported: Numba learns of all.

As an example, ``jittable_inline`` notes ``_implement``, which registers two functions with Numba. When Numba
compiles a call of the decorated function, it asks these two which body to compile for the types of the
arguments: a copy whose machine code is kept on disk, or, where it cannot be kept, the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial, wraps
from inspect import Signature, signature
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from lowregret.policies.base import Policy

Function = TypeVar("Function", bound=Callable[..., Any])

PLACE = "a place beyond the arms"
"""The second argument of an ``IndexError`` that a place in the table of arms causes."""
compiled_forms: dict[Callable[..., Any], Callable[..., Any]] = {}
"""What compiled code calls instead of some plain functions."""
selected_bodies: dict[Callable[..., Any], Callable[..., Any]] = {}
"""By the functions that ``by_policy_class`` made, what selects their body for a class."""
jittable_functions: set[Callable[..., Any]] = set()
"""The plain functions that compiled code can call."""

_declarations: list[Callable[[], None]] = []
"""What Numba has yet to learn, in the order of the decorators."""
_numba_is_used = False


def _declare(declaration: Callable[..., None], *arguments: Any) -> None:
    """Call a function that registers something with Numba: now if Numba is used, else once it is."""
    _declarations.append(partial(declaration, *arguments))
    if _numba_is_used:
        use_numba()


def use_numba() -> None:
    """Register with Numba all that was declared so far; what is declared later is registered at once."""
    global _numba_is_used
    from lowregret.engine.bridge.numba_options import lock

    with lock:
        _numba_is_used = True
        while _declarations:
            _declarations.pop(0)()


def jittable_inline(function: Function) -> Function:
    """Do what ``jittable`` does, and compile the function into the code of its callers."""
    return jittable(function, inline=True)


def jittable(function: Function, inline: bool = False) -> Function:
    """Let compiled code call a function that stays plain Python for those who do not compile."""
    _declare(_implement, function, function, inline)
    return function


def _implement(name: Callable[..., Any], function: FunctionType, inline: bool) -> None:
    """Let compiled code that calls ``name`` call a function of the engine."""
    from numba.extending import overload

    from lowregret.engine.bridge.numba_options import options_of, overload_options

    jittable_functions.add(name)
    options = options_of(inline)
    plain, kept = bodies_of(lambda *_: function, signature(function), options)
    overload(name, **overload_options(options))(plain)
    overload(name, **overload_options({**options, "cache": True}))(kept)


def bodies_of(
    find: Callable[..., Any], parameters: Signature, options: Any
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return two functions that Numba asks for the body of a call: one returns it, the other None.

    The second returns a copy that Numba keeps on disk, the first what cannot be kept. There are two, since
    ``cache=True`` is an option of all that one of them returns. ``find`` returns the function that is called,
    or None, by the types of the arguments.
    """

    def plain(*arguments: Any, **named: Any) -> Any:
        body = find(*arguments)
        return None if path_on_disk(body, options, arguments, named) else body

    def kept(*arguments: Any, **named: Any) -> Any:
        from lowregret.engine.bridge.code_cache import with_filename

        body = find(*arguments)
        path = path_on_disk(body, options, arguments, named)
        return with_filename(body, path) if path else None

    cast(Any, plain).__signature__ = cast(Any, kept).__signature__ = parameters
    return plain, kept


def path_on_disk(function: Any, options: Any, arguments: Any, named: Any) -> str | None:
    """Return the file beside which the machine code of a function of the engine is kept, or None.

    Only code that does not depend on a policy is kept by itself.
    """
    from lowregret.engine.bridge import code_cache
    from lowregret.engine.bridge.identity import is_kernel

    kinds = (*arguments, *named.values())
    if not isinstance(function, FunctionType) or not is_kernel(function.__module__):
        return None
    if not all(map(is_importable, kinds)) or any(map(_has_policy, kinds)):
        return None
    where = function.__module__, function.__qualname__, tuple(named)
    return code_cache.file_for("engine", function.__name__, where, options, kinds, modules_of(kinds))


def modules_of(kinds: Iterable[Any]) -> list[str]:
    """Return the modules of the user's named tuples in Numba types, to which machine code on disk refers.

    Numba prints the name of such a class alone, and code that refers to another file cannot be loaded.
    """
    modules = []
    for kind in kinds:
        named = getattr(kind, "instance_class", None)
        if named is not None and not named.__module__.startswith("lowregret."):
            modules.append(named.__module__)
        modules += modules_of(getattr(kind, "types", ()))
    return modules


def is_importable(kind: Any) -> bool:
    """Return whether the classes in a Numba type are found again by name in another process."""
    from numba import types

    from lowregret.engine.bridge.identity import is_found_by_name

    if isinstance(kind, types.BaseNamedTuple):
        named: Any = getattr(kind, "instance_class", None)
        if not is_found_by_name(named) or named.__module__ == "__main__":
            return False
    return all(map(is_importable, getattr(kind, "types", ())))


def _has_policy(kind: Any) -> bool:
    from lowregret.engine.bridge.policy_types import PolicyType

    return isinstance(kind, PolicyType) or any(map(_has_policy, getattr(kind, "types", ())))


def compiled_inline(function: Function) -> Function:
    """Compile a function that is called at every step, into the code of its callers."""
    return compiled(function, inline=True)


def compiled(function: Function, inline: bool = False) -> Function:
    """Compile a function of the engine, also where Python calls it.

    It is compiled for each class if it takes a policy, else once, and then kept on disk.
    """
    if "policy" in signature(function).parameters:
        from numba import njit

        from lowregret.engine.bridge.numba_options import accepted, options_of

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
    _declare(_implement, call, function, inline)
    return cast(Function, wrapper)


def compiled_as(plain: Callable[..., Any]) -> Callable[[Function], Function]:
    """Let compiled code that calls ``plain`` call the decorated function instead, which returns the same."""

    def register(function: Function) -> Function:
        compiled_forms[plain] = function
        _declare(_implement, plain, function, True)
        return function

    return register


def external(function: Function) -> Function:
    """Let compiled code call a function of numbers by its address: it is compiled once, for all callers."""

    def declaration() -> None:
        from lowregret.engine.bridge.external import implement_external

        implement_external(cast(Any, function))

    _declare(declaration)
    return function


def call_by_address(function: Function) -> Callable[..., Any]:
    """Make a function that calls another one, in compiled code by the address that is its first argument.

    So what calls it need not wait for its machine code; see ``compiler.address_of``.
    """

    def call(address: int, *arguments: Any) -> Any:
        return function(*arguments)

    def declaration() -> None:
        from lowregret.engine.bridge.external import implement_call_by_address

        implement_call_by_address(call, function)

    _declare(declaration)
    return call


def register_tuple_methods(kind: type) -> None:
    """Let compiled code call the plain methods of a ``NamedTuple`` class, and what those call.

    Numba knows one signature for each name of a method of named tuples; so two classes that have a method of
    one name must agree on its parameters.
    """

    def declaration() -> None:
        from lowregret.engine.bridge.tuple_methods import implement_tuple_methods

        implement_tuple_methods(kind)

    _declare(declaration)


def compile_as_constant(function: Callable[[Any], Any], find: Callable[[type[Policy]], Any]) -> None:
    """Let compiled code take what ``find`` returns for a class for what the function returns for a policy."""

    def declaration() -> None:
        from lowregret.engine.bridge.policy_types import implement_constant

        implement_constant(function, find)

    _declare(declaration)


def by_policy_class(
    select: Callable[[type[Policy]], Callable[..., Any]], inline: bool = True
) -> Callable[..., Any]:
    """Make a function whose first argument is a policy, and whose body the class of that policy selects."""

    def function(policy: Any, *arguments: Any) -> Any:
        return select(type(policy))(policy, *arguments)

    selected_bodies[function] = select
    _declare(_implement_by_class, function, select, inline)
    return function


def _implement_by_class(
    name: Callable[..., Any], select: Callable[[type[Policy]], Callable[..., Any]], inline: bool
) -> None:
    """Let compiled code that calls ``name`` with a policy call the body that its class selects."""
    from numba.extending import overload

    from lowregret.engine.bridge.numba_options import options_of, overload_options
    from lowregret.engine.bridge.policy_types import class_of

    def choose(policy: Any, *arguments: Any) -> Any:
        body = select(class_of(policy))
        return getattr(body, "py_func", body)

    overload(name, **overload_options(options_of(inline)))(choose)
