"""Compile a policy's own source into the engine, and keep the machine code on disk.

Numba compiles what it can see. This file shows it the methods of our named tuples (``adopt``), and
keeps one disk cache per policy in a folder named by a hash of the package's sources, so that an edit
of any file, not only of the one that holds the compiled function, is noticed. A class from outside the
package is never cached on disk: nothing here could tell when its source changes.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from inspect import signature
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

from numba import njit, typeof, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.typing.templates import (
    AbstractTemplate,
    _OverloadMethodTemplate,
    infer_getattr,
    make_overload_attribute_template,
)
from numba.extending import overload
from platformdirs import user_cache_path

from lowregret.policies import Policy

METHODS: Any = {"nogil": True, "error_model": "numpy"}
"""How a policy's methods are compiled: threads run freely, and a division by 0 gives inf, not an error."""
OPTIONS: Any = {**METHODS, "_nrt": False}
"""How the engine is compiled: also without counting references to arrays, which would cost more than a step
itself. So it allocates nothing; all it needs is given to it."""
INLINED: Any = {**OPTIONS, "forceinline": True}
"""How what is called at every step is compiled: into the code of its callers."""

Function = TypeVar("Function", bound=Callable[..., Any])

_NAMED_TUPLES_OWN = {"__new__", "__repr__", "__getnewargs__", "_replace", "_asdict", "__replace__"}

_methods: set[str] = set()
_functions: set[FunctionType] = set()
_kernels: dict[tuple[FunctionType, type], Any] = {}


def compiled(function: Function) -> Function:
    """Compile a function of the engine."""
    return cast(Function, njit(**OPTIONS)(function))


def inlined(function: Function) -> Function:
    """Compile a function that is called at every step, into the code of its callers."""
    return cast(Function, njit(**INLINED)(function))


def shared(function: Function, options: Any = OPTIONS) -> Function:
    """Let compiled code call a function that stays plain Python for those who do not compile."""
    _functions.add(cast(FunctionType, function))

    def choose(*arguments: Any) -> Any:
        return function

    overload(function, strict=False, jit_options=options)(choose)
    return function


def inline(function: Function) -> Function:
    """Do what ``shared`` does, and compile the function into the code of its callers."""
    return shared(function, INLINED)


def class_of(policy: Any) -> type[Policy]:
    """Return the class of policies that a Numba type stands for."""
    return cast("type[Policy]", policy.instance_class.policy_class)


def by_policy_class(
    select: Callable[[type[Policy]], Callable[..., Any]], options: Any = INLINED
) -> Callable[..., Any]:
    """Make a function whose first argument is a policy, and whose body that policy's class selects."""

    def function(policy: Any, *arguments: Any) -> Any:
        return select(type(policy))(policy, *arguments)

    def choose(policy: Any, *arguments: Any) -> Any:
        return select(class_of(policy))

    overload(function, strict=False, jit_options=options)(choose)
    return function


def adopt(kind: type) -> None:
    """Let compiled code call the plain methods of a named tuple class, and what those call."""
    for base in kind.__mro__:
        for name, value in vars(base).items():
            if isinstance(value, FunctionType) and name not in _NAMED_TUPLES_OWN:
                _adopt_method(name)
                _adopt_called(value, value.__code__)


class _MethodTemplate(_OverloadMethodTemplate):
    """Numba's template for ``overload_method``, with one change: the signature is the method's own.

    Numba takes one signature per name for all types; ours differ from class to class.
    """

    def _resolve(self, typ: Any, attr: str) -> Any:
        parent: Any = self
        method: Any = getattr(typ.instance_class, attr, None)
        if attr != parent._attr or not isinstance(method, FunctionType):
            return None

        class Template(AbstractTemplate):
            key = (parent.key, attr)
            _overload_func = staticmethod(parent._overload_func)
            _inline = parent._inline
            _inline_overloads = parent._inline_overloads
            prefer_literal = False

            def generic(self, args: Any, kws: Any) -> Any:
                function = parent._get_function_type(parent.context, typ)
                found = parent._get_signature(parent.context, function, (typ, *args), kws)
                return found.replace(pysig=signature(method)).as_method()

        return types.BoundFunction(Template, typ)


def _adopt_method(name: str) -> None:
    if name in _methods:
        return
    _methods.add(name)

    def choose(self: Any, *arguments: Any) -> Any:
        return getattr(self.instance_class, name)

    infer_getattr(
        make_overload_attribute_template(
            types.BaseNamedTuple, name, choose, base=_MethodTemplate, strict=False
        )
    )
    overload(choose, strict=False, jit_options=cast(Any, {**METHODS, "forceinline": True}))(choose)


def _adopt_called(function: FunctionType, code: CodeType) -> None:
    """Let compiled code call the plain functions that a method refers to by a global name."""
    for name in code.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, FunctionType) and called not in _functions:
            if called.__module__.startswith("lowregret.engine."):
                continue  # which says itself how it is compiled
            _functions.add(called)
            shared(called, METHODS)
            _adopt_called(called, called.__code__)


def kernel(function: Callable[..., Any], policy: Policy) -> Any:
    """Compile an engine function for one class of policies.

    Each class has a dispatcher and a cache folder of its own: Numba's cache index is not safe when two
    processes add different signatures to it at once.
    """
    assert isinstance(function, FunctionType)
    key = (function, policy.Record)
    if key not in _kernels:
        adopt(policy.Record)
        dispatcher: Any = njit(**OPTIONS)(function)
        ours = all(part.__module__.startswith("lowregret.") for part in (type(policy), function))
        folder = cache_folder() if ours else None
        if folder:
            dispatcher._cache = _cache_in(folder / type(policy).__name__, function)
        _kernels[key] = dispatcher
    return _kernels[key]


def entry(function: Callable[..., Any], policy: Policy, *examples: Any) -> Callable[..., Any]:
    """Compile an engine function for arguments of the same types as the examples, and of no others.

    The types are not looked at again when it is called, which for named tuples would cost microseconds; so
    who calls it answers for them.
    """
    kinds = tuple(typeof(each) for each in examples)
    return cast(Callable[..., Any], kernel(function, policy).compile(kinds))


def _cache_in(folder: Path, function: FunctionType) -> FunctionCache:
    """Give a Numba cache that lives in ``folder`` and goes by the package's sources."""

    class Locator(_CacheLocator):
        _py_file = function.__code__.co_filename

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return SOURCES

        def get_disambiguator(self) -> str:
            return str(function.__code__.co_firstlineno)

        @classmethod
        def from_function(cls, py_func: Any, py_file: Any) -> Locator:
            return cls()

    class Impl(CompileResultCacheImpl):
        _locator_classes = cast(Any, [Locator])

    class Cache(FunctionCache):
        _impl_class = Impl

        def save_overload(self, sig: Any, data: Any) -> None:
            if sources() == SOURCES:  # else what was compiled is not what is on disk by now
                with suppress(OSError):  # a full disk costs the cache, not the simulation
                    super().save_overload(sig, data)

    return Cache(function)


def sources() -> str:
    """Hash the package's sources."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


SOURCES = sources()
"""The sources as they were when this process loaded them."""


@cache
def cache_folder() -> Path | None:
    """Give the folder for the machine code of these sources, or None where none can be written."""
    try:
        root = user_cache_path("lowregret")
        folder = root / SOURCES
        if not folder.exists():
            _forget_old(root)
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # no home, or none that can be written to
        return None
    return folder


def _forget_old(root: Path, keep: int = 3) -> None:
    """Delete the machine code of all but the latest few versions of the sources."""
    folders = [path for path in root.glob("*") if path.is_dir()] if root.exists() else []
    for folder in sorted(folders, key=lambda path: path.stat().st_mtime)[: -keep or None]:
        shutil.rmtree(folder, ignore_errors=True)
