"""The memory of a policy: numbers of its own for each arm, kept in the table of arms.

The number ``name`` of a memory is the field ``memory_name`` of an arm's row. The three methods that read and
write it are made for each class, with every field written out, so that Numba compiles them.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from lowregret.errors import InputError

PREFIX = "memory_"


def read_nothing(self: Any, row: Any) -> None:
    return None


def write_nothing(self: Any, row: Any, memory: Any) -> None:
    """Write the memory of a policy without one."""


def nothing(self: Any) -> None:
    return None


def memory_fields(memory: Any) -> list[tuple[str, type]]:
    """Return the names and the types of the fields that a memory adds to an arm's row."""
    if memory is None:
        return []
    return [(PREFIX + name, type(value)) for name, value in memory()._asdict().items()]


def memory_methods(memory: Any, owner: str) -> dict[str, Any]:
    """Return ``read_memory``, ``write_memory`` and ``initial_memory`` of a class of policies."""
    if memory is None:
        return {"read_memory": read_nothing, "write_memory": write_nothing, "initial_memory": nothing}
    names = _validated(memory, owner)
    flags = {name for name, value in memory()._asdict().items() if isinstance(value, bool)}
    # numpy adds booleans as a disjunction; Python and compiled code add them as integers
    reads = ", ".join(f'{"bool" if name in flags else ""}(row["{PREFIX}{name}"])' for name in names)
    writes = "\n".join(f'    row["{PREFIX}{name}"] = memory.{name}' for name in names)
    starts = ", ".join(repr(value) for value in memory())
    source = (
        f"def read_memory(self, row):\n    return Memory({reads})\n"
        f"def write_memory(self, row, memory):\n{writes}\n"
        f"def initial_memory(self):\n    return Memory({starts})\n"
    )
    scope: dict[str, Any] = {"Memory": memory}
    exec(compile(source, f"<memory of {owner}>", "exec"), scope)
    return {name: scope[name] for name in ("read_memory", "write_memory", "initial_memory")}


def _validated(memory: Any, owner: str) -> tuple[str, ...]:
    """Return the names of a memory's fields, which must all be numbers with defaults."""
    names: tuple[str, ...] = getattr(memory, "_fields", ())
    defaults = getattr(memory, "_field_defaults", {})
    if not names or set(names) != set(defaults):
        raise InputError(f"{owner}: Memory must be a NamedTuple in which every field has a default")
    for name, value in defaults.items():
        if type(value) not in (int, float, bool) or not isfinite(value):
            raise InputError(f"{owner}: {name} of Memory must be a finite number, got {value!r}")
    return names
