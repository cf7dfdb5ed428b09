"""Hash code, not text: what a class of policies, or the engine, computes.

Two things have the same identity if their bytecode, constants and all that they refer to are equal; modules
of this package, if their syntax trees are. Comments, docstrings, line numbers and file names do not count.
The machine code on disk and the stored results of experiments are both filed under such identities, so
neither can be stale.
"""

from __future__ import annotations

import ast
import hashlib
import pickle
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from dis import get_instructions, hasconst, opmap
from enum import Enum
from functools import cache, partial
from importlib.abc import InspectLoader
from importlib.metadata import PackageNotFoundError, version
from inspect import getattr_static
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lowregret._common.bytecode import nested, unseeded_draw
from lowregret.policies.annotations import parameters_of

PACKAGE = Path(__file__).parents[2]

TRUSTED = {"numpy", "numba", "llvmlite", "scipy"}
"""Packages that are identified by their version; so is the standard library, by that of Python."""
KERNELS = ("lowregret.engine.kernels", "lowregret.special", "lowregret.policies.views")
"""What results depend on besides the policy and the problem: identified as a whole, from the code on disk."""

_EXTENDED, _STORE, _LOAD = opmap["EXTENDED_ARG"], opmap["STORE_NAME"], opmap["LOAD_CONST"]
_UNUSED_NAMES = {"__doc__", "__firstlineno__", "__static_attributes__"}
GENERATED = {"__new__", "__repr__", "__getnewargs__", "_replace", "_asdict", "__replace__", "_make"}
_NO_PART = {
    "_repr_html_",
    "family",
    "identifies",
    "learns",
    "propensities",
    "require",
    "slow_propensities",
    "source",
    "validate",
    "validate_problem",
}
"""Attributes of a class of policies on which no choice depends."""
_ABSENT = object()
_HEAP_TYPE = 1 << 9
"""The flag of a class that was made while Python ran."""


_seeded: WeakKeyDictionary[Any, CodeGraph] = WeakKeyDictionary()  # classes and functions without such draws


class NoIdentity(Exception):  # noqa: N818  # it says what was found
    """Something that code refers to cannot be hashed."""


@cache
def code_identity(code: CodeType) -> str:
    """Hash a code object without file names, line numbers and docstrings."""
    used = _used_constants(code)
    constants = [_constant(item) if place in used else "" for place, item in enumerate(code.co_consts)]
    parts = (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_code.hex(),
        code.co_exceptiontable.hex(),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        constants,
    )
    return _digest(repr(parts))


def _used_constants(code: CodeType) -> set[int]:
    """Return the places of the constants that the code loads for more than a docstring."""
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    if _EXTENDED in operations and len(code.co_consts) > 255:
        return set(range(len(code.co_consts)))
    used = set()
    for place, operation in enumerate(operations):
        if operation in hasconst:
            following = operations[place + 1 : place + 2]
            stored = following == bytes([_STORE]) and operation == _LOAD
            if not stored or code.co_names[arguments[place + 1]] not in _UNUSED_NAMES:
                used.add(arguments[place])
    return used


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return code_identity(value)
    if isinstance(value, tuple | frozenset):
        parts = [_constant(item) for item in value]
        return f"{type(value).__name__}{parts if isinstance(value, tuple) else sorted(parts)}"
    return f"{type(value).__name__} {value!r}"


class CodeGraph:
    """All that some functions, classes or values refer to, directly or not: its identity, its functions.

    ``functions`` are the plain ones outside the engine and the packages in ``TRUSTED``, methods left out.
    """

    def __init__(self, *roots: Any) -> None:
        self.functions: list[FunctionType] = []
        self.problem: NoIdentity | None = None
        self._methods: set[FunctionType] = set()
        self._names: list[tuple[Mapping[str, Any], str, Any]] = []
        self._cells: list[tuple[CellType, Any]] = []
        self._arrays: list[tuple[np.ndarray[Any, Any], str]] = []
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []
        self._texts: list[str] = []
        for root in roots:
            self._texts.append(self._visit(root))

    @property
    def identity(self) -> str:
        """Return the hash; raise ``NoIdentity`` where something cannot be hashed."""
        if self.problem:
            raise self.problem
        return _digest("\n".join(self._texts))

    def is_current(self) -> bool:
        """Say whether every name that was looked up still stands for the same object, as in a notebook."""
        names = all(scope.get(name, _ABSENT) is value for scope, name, value in self._names)
        cells = names and all(cell.cell_contents is value for cell, value in self._cells)
        return cells and all(_digest(array.tobytes()) == digest for array, digest in self._arrays)

    def _visit(self, value: Any) -> str:
        """Describe a value in one line; what is large is described once and then named by its number."""
        simple = _simple(value)
        if simple is not None:
            return simple
        if id(value) in self._seen:
            return f"#{self._seen[id(value)]}"
        self._seen[id(value)] = number = len(self._seen)
        self._kept.append(value)  # so that no other object gets its id
        try:
            self._texts.append(f"#{number} = {self._describe(value)}")
        except NoIdentity as problem:
            self.problem = self.problem or problem
        return f"#{number}"

    def _describe(self, value: Any) -> str:
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, np.ndarray) and value.dtype != object:
            digest = _digest(value.tobytes())
            if value.flags.writeable:
                self._arrays.append((value, digest))
            return f"array {value.dtype.str} {value.shape} {digest}"
        if isinstance(value, tuple | list):
            return f"{type(value).__qualname__} {[self._visit(item) for item in value]}"
        if isinstance(value, dict):
            return f"dict {[(self._visit(key), self._visit(item)) for key, item in value.items()]}"
        if isinstance(value, set | frozenset):
            return f"set {sorted(self._visit(item) for item in value)}"
        if isinstance(value, staticmethod | classmethod | MethodType):
            return f"{type(value).__name__} {self._visit(value.__func__)}"
        if isinstance(value, property):
            return f"property {self._visit(value.fget)}"
        if isinstance(value, partial):
            return (
                f"partial {self._visit(value.func)} {self._visit(value.args)} {self._visit(value.keywords)}"
            )
        for name in ("py_func", "__wrapped__"):  # compiled by Numba, or decorated
            if isinstance(inner := getattr(value, name, None), FunctionType):
                options = getattr(value, "targetoptions", None)
                return f"{type(value).__qualname__} {self._visit(inner)} {self._visit(options)}"
        return self._pickled(value)

    def _pickled(self, value: Any) -> str:
        try:
            return f"{self._visit(type(value))} {_digest(pickle.dumps(value))}"
        except Exception as error:
            raise NoIdentity(f"{value!r}: {error}") from error

    def _function(self, function: FunctionType) -> str:
        if function not in self._methods:
            self.functions.append(function)
        parts = [f"function {code_identity(function.__code__)}"]
        parts += [self._visit(value) for value in (function.__defaults__, function.__kwdefaults__)]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._cells.append((cell, cell.cell_contents))
                parts.append(f"{name}: {self._visit(cell.cell_contents)}")
            except ValueError:  # not bound yet
                parts.append(f"{name}: unbound")
        names = sorted({name for code in nested(function.__code__) for name in code.co_names})
        for name in sorted(set(global_names(function.__code__))):
            if name in function.__globals__:
                parts += self._named(name, function.__globals__, name, names)
            else:
                self._names.append((function.__globals__, name, _ABSENT))
        return "; ".join(parts)

    def _named(self, path: str, scope: Mapping[str, Any], name: str, names: list[str]) -> Iterator[str]:
        """Describe what a name stands for; of a module, those attributes that the code may look up."""
        value = scope[name]
        self._names.append((scope, name, value))
        yield f"{path}: {self._visit(value)}"
        if isinstance(value, ModuleType) and not _is_trusted(value.__name__):
            for attribute in names:
                if attribute in vars(value):
                    yield from self._named(f"{path}.{attribute}", vars(value), attribute, names)

    def _class(self, kind: type) -> str:
        parts = [f"class {kind.__qualname__}"]
        if hasattr(kind, "_fields") and issubclass(kind, tuple):
            parts.append(repr((getattr(kind, "_fields", ()), getattr(kind, "_field_defaults", {}))))
        if is_dataclass(kind):
            parts.append(repr([(name, types) for name, (types, _) in parameters_of(kind).items()]))
        bases = [base for base in kind.__mro__ if not _is_known(base)]
        names = sorted({name for base in bases for name in vars(base)} - GENERATED - _NO_PART)
        for base in bases:
            for name in names:
                if not name.startswith("__") and name != "_abc_impl":
                    value = vars(base).get(name, _ABSENT)
                    if isinstance(value, FunctionType):
                        self._methods.add(value)
                    self._names.append((vars(base), name, value))
                    if value is not _ABSENT:
                        parts.append(f"{name}: {self._visit(value)}")
        return "; ".join(parts)


def _is_known(kind: type) -> bool:
    """Return whether a class is identified by its name: one of a trusted package or of the engine.

    A class that was made while Python ran may claim any module: one of ``types.new_class`` claims ``types``.
    """
    claims = _is_trusted(kind.__module__) or _is_opaque(kind.__module__)
    return claims and (not kind.__flags__ & _HEAP_TYPE or is_found_by_name(kind))


def is_found_by_name(value: Any) -> bool:
    """Return whether a class or function is what its module has by its name."""
    home: Any = sys.modules.get(value.__module__)
    for part in value.__qualname__.split("."):
        home = getattr(home, part, None)
    return home is value


def global_names(code: CodeType) -> Iterator[str]:
    """Yield the names that code looks up among global ones; an attribute may have the name of one."""
    for instruction in chain.from_iterable(map(get_instructions, nested(code))):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval


def _simple(value: Any) -> str | None:
    """Describe what is identified by its value or its name; return None for all else."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return f"{type(value).__qualname__} {value!r}"
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name} {value.value!r}"
    if isinstance(value, BuiltinFunctionType | np.ufunc):
        return f"{getattr(value, '__module__', '')}.{value.__name__}"
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if isinstance(value, type) and not _is_known(value):
        return None
    if isinstance(value, type | FunctionType | ModuleType) and isinstance(home, str):
        if isinstance(value, FunctionType) and not (_is_opaque(home) or is_found_by_name(value)):
            return None  # ``functools.wraps`` gives it the name of another
        if _is_trusted(home):
            return f"{home}.{getattr(value, '__qualname__', '')} {_release(home.partition('.')[0])}"
        if _is_opaque(home):
            return f"{home}.{getattr(value, '__qualname__', '')}"
    if type(value).__module__.partition(".")[0] == "numba" and not hasattr(value, "py_func"):
        return f"{type(value).__qualname__} {value}"
    return None


def _is_trusted(module: str) -> bool:
    top = module.partition(".")[0]
    return module != "__main__" and (top in TRUSTED or top in sys.stdlib_module_names)


def is_kernel(module: str | None) -> bool:
    """Return whether a module is part of what every compiled function may use."""
    return any(module == name or str(module).startswith(f"{name}.") for name in KERNELS)


def _is_opaque(module: str | None) -> bool:
    """Return whether a name in a module says all, since the engine is identified as a whole."""
    return module is not None and module.startswith("lowregret.engine.")


@cache
def _release(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def identity_of(*roots: Any) -> str:
    """Hash functions or classes with all that they refer to; raise ``NoIdentity`` where that fails."""
    return CodeGraph(*roots).identity


def unseeded(kind: Any) -> str | None:
    """Say where a function, or a method of a class, draws random numbers that no seed determines."""
    graph = _seeded.get(kind)
    if graph is None or not graph.is_current():
        names = set(type.__dir__(kind)) - _NO_PART if isinstance(kind, type) else ()
        methods = [getattr_static(kind, name) for name in names if not name.startswith("__")]
        graph = CodeGraph(*(method for method in methods or [kind] if not isinstance(method, classmethod)))
        for draw in filter(None, map(unseeded_draw, graph.functions)):
            return draw
        _seeded[kind] = graph
    return None


def module_identity(*names: str) -> str:
    """Hash the code of modules of this package, and of whole packages in it, as it is on disk now.

    Docstrings and comments do not count. It takes a fifth of a second, and ``source_identity`` milliseconds.
    """
    trees = {name: ast.parse(source) for name, source in _sources(names).items()}
    for tree in trees.values():
        _remove_strings(tree)
    return _digest("\n".join(sorted(f"{name} {ast.dump(tree)}" for name, tree in trees.items())))


def source_identity(*names: str) -> str:
    """Hash the source of modules of this package, and of whole packages in it, as it is on disk now."""
    return _digest(repr(sorted(_sources(names).items())))


def _sources(names: tuple[str, ...]) -> dict[str, str]:
    sources = dict(_modules([str(PACKAGE)], "lowregret.", names))
    if missing := [name for name in names if name not in sources]:
        raise ModuleNotFoundError(f"no source of {', '.join(missing)} in {PACKAGE}")
    return sources


def _modules(folders: Iterable[str], prefix: str, wanted: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the wanted modules and their sources, without importing them."""
    for finder, name, is_package in iter_modules(folders, prefix):
        inside = any(name == module or name.startswith(f"{module}.") for module in wanted)
        above = any(module.startswith(f"{name}.") for module in wanted)
        if not (inside or above):
            continue
        spec = finder.find_spec(name, None)
        assert spec and isinstance(spec.loader, InspectLoader)
        source = spec.loader.get_source(name)
        if inside and source is not None:
            yield name, source
        if is_package:
            yield from _modules(spec.submodule_search_locations or (), f"{name}.", wanted)


def _remove_strings(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> None:
    """Remove the docstrings of a module, its classes, functions and constants."""
    node.body = [
        part
        for part in node.body
        if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]
    for part in node.body:
        if isinstance(part, ast.ClassDef | ast.FunctionDef):
            _remove_strings(part)


def _digest(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:32]
