"""What a function does, read from its bytecode: for messages that name the line to change."""

from collections.abc import Iterator
from contextlib import suppress
from dis import get_instructions
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any


def place_of(function: FunctionType, line: int | None = None) -> str:
    """Name a function, its file and a line in it, by default its first."""
    code = function.__code__
    return f"{function.__name__} ({Path(code.co_filename).name}, line {line or code.co_firstlineno})"


def operations(code: CodeType) -> Iterator[tuple[str, Any, int | None, bool]]:
    """Yield each operation of code, its argument, its line, and whether it is on an attribute of ``self``."""
    for part in nested(code):
        starts = set()  # where the first argument stands: ``self.x`` begins there
        for instruction in get_instructions(part):
            name, (line, _, start, _) = instruction.opname, instruction.positions or (None,) * 4
            if name.startswith("LOAD_FAST") and instruction.arg == 0:
                starts.add((line, start))
            on_self = name.endswith(("_ATTR", "_METHOD")) and (line, start) in starts
            yield name, instruction.argval, line, on_self


def nested(code: CodeType) -> Iterator[CodeType]:
    """Yield code, and that of the functions and classes inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def loaded(function: FunctionType, operation: str, name: Any) -> Any:
    """Return what an operation loads by a global name or from a closure, None if it does not."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    with suppress(KeyError, ValueError):  # of a function inside, or not bound yet
        if operation == "LOAD_DEREF":
            return cells[name].cell_contents
    return function.__globals__.get(name) if operation == "LOAD_GLOBAL" else None


def unseeded_draw(function: FunctionType) -> str | None:
    """Say where a function draws from ``random`` or ``numpy.random``; follow attributes of modules."""
    path, value = "", None
    for operation, name, line, _ in operations(function.__code__):
        attribute = isinstance(value, ModuleType) and operation in ("LOAD_ATTR", "LOAD_METHOD")
        path = f"{path}.{name}" if attribute else name
        value = getattr(value, name, None) if attribute else loaded(function, operation, name)
        owner = getattr(value, "__self__", None) or value  # of a method, its generator
        home = owner.__name__ if isinstance(owner, ModuleType) else getattr(owner, "__module__", None)
        module = str(path if operation == "IMPORT_NAME" else home or type(owner).__module__)
        if module.split(".")[:2] in (["random"], ["numpy", "random"]):
            return f"{place_of(function, line)} draws from {path}"
    return None
