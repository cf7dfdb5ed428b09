"""Copies of functions that call copies of each other, so that Numba compiles all of them anew."""

from __future__ import annotations

from collections.abc import Iterable
from types import CellType, FunctionType, ModuleType
from typing import Any

from numba import njit


class Copies:
    """Copies of plain functions, ``made``, by which they are replaced wherever a copy refers to them."""

    def __init__(self, functions: Iterable[FunctionType]) -> None:
        self.functions = set(functions)
        self.made: dict[FunctionType, FunctionType] = {}
        self._replaced: dict[int, Any] = {}

    def copy(self, function: FunctionType) -> FunctionType:
        if function not in self.made:
            scope = dict(function.__globals__)
            cells = tuple(CellType() for _ in function.__closure__ or ())
            code, name = function.__code__, function.__name__
            copy = FunctionType(code, scope, name, function.__defaults__, cells or None)
            copy.__kwdefaults__ = function.__kwdefaults__
            copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
            self.made[function] = copy
            for global_name in code.co_names:
                if global_name in scope:
                    scope[global_name] = self._replace(scope[global_name], code.co_names)
            for new, old in zip(cells, function.__closure__ or (), strict=True):
                new.cell_contents = self._replace(old.cell_contents, code.co_names)
        return self.made[function]

    def _replace(self, value: Any, names: tuple[str, ...]) -> Any:
        if isinstance(value, FunctionType):
            return self.copy(value) if value in self.functions else value
        inner = getattr(value, "py_func", None)
        if isinstance(inner, FunctionType) and inner in self.functions:
            if id(value) not in self._replaced:
                options = {key: option for key, option in value.targetoptions.items() if key != "nopython"}
                self._replaced[id(value)] = njit(**options)(self.copy(inner))
            return self._replaced[id(value)]
        if isinstance(value, ModuleType):
            used = {name: vars(value)[name] for name in names if name in vars(value)}
            changed = {name: self._replace(attribute, names) for name, attribute in used.items()}
            if any(changed[name] is not attribute for name, attribute in used.items()):
                copy = ModuleType(value.__name__)
                vars(copy).update({**vars(value), **changed})
                return copy
        return value
