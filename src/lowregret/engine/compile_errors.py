"""Errors of compilation in one sentence that names the policy, the method and the line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dis import get_instructions
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple, cast

from numba import njit, types

from lowregret.errors import InputError
from lowregret.policies.base import Policy, fields_of

NUMBERS = (
    "score",
    "sample",
    "lower_bound",
    "list_index",
    "list_index_slope",
    "transform_reward",
)
"""The methods of a policy that return a number."""


class Attempt(NamedTuple):
    """A function of a policy, and the types of the arguments for which Numba was asked to compile it."""

    function: FunctionType
    arguments: tuple[Any, ...]


class Fault(NamedTuple):
    """A function that cannot be compiled, and why."""

    function: FunctionType
    error: Exception


def explain(error: Exception, policy: Policy, attempts: Sequence[Attempt], options: Any) -> InputError:
    """Return the error to raise where a policy could not be compiled.

    Numba reports an error inside a method as one of its caller, at length. So the functions of the policy are
    compiled by themselves. At fault is one that fails and calls none that does. ``options`` are those of the
    engine, which allocates nothing.
    """
    faults, returned = _compile_each(list(attempts))
    for (function, arguments), kind in returned.items():
        if wanted := _wanted(function.__name__, arguments, kind):
            found = re.sub(r"Literal\[(\w+)\]\(.*\)|unicode_type", r"str", str(kind), flags=re.DOTALL)
            return InputError(f"{policy}: {_place(function)} must return {wanted}, and returns {found}")
    if fault := _innermost(faults):
        function, inner = fault
        line, reason = _line_of_import(function), "import at the top of the file, not inside"
        if line is None:
            line, reason = getattr(getattr(inner, "loc", None), "line", None), _reason(inner, policy)
        return InputError(f"{policy}: Numba cannot compile {_place(function, line)}: {reason}")
    if fault := _innermost(_compile_each(list(attempts), options)[0]):
        reason = "it makes an array, a list or a string, and only numbers and tuples of them can be made"
        return InputError(f"{policy}: Numba cannot compile {_place(fault[0])}: {reason}")
    return InputError(f"{policy}: Numba cannot compile it: {_reason(error, policy)}")


def _innermost(faults: Sequence[Fault]) -> Fault | None:
    """Return the first fault in a function that calls no other one at fault."""
    names = {fault.function.__name__ for fault in faults}
    for fault in faults:
        code = fault.function.__code__
        if not (set(code.co_names) - {code.co_name}) & names:
            return fault
    return None


def _wanted(name: str, arguments: tuple[Any, ...], kind: Any) -> str | None:
    """Return what a method must return, or None if it does or if that is not known."""
    if name in NUMBERS and (isinstance(kind, types.Complex) or not _is_number(kind)):
        return "a number"
    if name == "normal_posterior" and not (isinstance(kind, types.BaseTuple) and len(cast(Any, kind)) == 2):
        return "a mean and a standard deviation"
    if name == "beta_posterior" and not (isinstance(kind, types.BaseTuple) and len(cast(Any, kind)) == 2):
        return "the two parameters of a beta distribution"
    remembers = getattr(arguments[0], "instance_class", Policy).Memory is not None if arguments else False
    if name == "update_memory" and remembers and not isinstance(kind, types.BaseNamedTuple):
        return "a Memory"
    if name == "next_round" and len(arguments) == 4 and kind != arguments[3]:
        return f"a round as first_round does, {arguments[3]}"
    return None


def _is_number(kind: Any) -> bool:
    return isinstance(kind, types.Number | types.Boolean)


def _line_of_import(function: FunctionType) -> int | None:
    """Return the line of the first import inside a function, or None if it has none."""
    lines = [
        each.positions.lineno
        for each in get_instructions(function)
        if each.opname == "IMPORT_NAME" and each.positions
    ]
    return lines[0] if lines else None


def _compile_each(
    attempts: list[Attempt], options: Any = MappingProxyType({"nogil": True, "error_model": "numpy"})
) -> tuple[list[Fault], dict[Attempt, Any]]:
    """Compile functions one by one; return those that fail, and the types that the others return."""
    faults: list[Fault] = []
    returned: dict[Attempt, Any] = {}
    for attempt in dict.fromkeys(attempts):
        function, arguments = attempt
        try:
            dispatcher: Any = njit(**options)(function)
            dispatcher.compile(arguments)
        except Exception as error:  # of Numba's many kinds, some are not its own
            faults.append(Fault(function, error))
        else:
            returned[attempt] = dispatcher.nopython_signatures[0].return_type
    return faults, returned


def _place(function: FunctionType, line: int | None = None) -> str:
    """Name a function, its file and the line at fault, by default its first."""
    code = function.__code__
    return f"{function.__name__} ({Path(code.co_filename).name}, line {line or code.co_firstlineno})"


def message_lines(error: Exception) -> list[str]:
    """Return the lines of a message of Numba, which are coloured where the package colorama is installed."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    return [line.strip() for line in plain.splitlines() if line.strip()]


def _reason(error: Exception, policy: Policy) -> str:
    """Return what Numba says is wrong: of its many lines, the one that says most."""
    lines = message_lines(error)
    telling = [line.partition(": ")[2] for line in lines if line.startswith(("TypingError: ", "NameError: "))]
    skipped = "Failed in ", "- Resolution failure", "During: ", "File "
    plain = [line for line in lines if not line.startswith(skipped)]
    found = (telling or plain or [type(error).__name__])[-1 if telling else 0]
    found = found.partition(" Raised from ")[0].rstrip(".:")
    found = re.sub(r"( of type \w+)\(.*", r"\1", found)
    found = re.sub(rf"\b({type(policy).__name__})_[0-9a-f]{{32}}\b", r"\1", found)
    if "'super'" in found:
        return "super() cannot be compiled; move what is shared into a method of another name, or a function"
    for field in fields_of(policy):
        if f"attribute {field.name!r}" in found:
            return f"it reads {field.name}, and only parameters that are float, int or bool can be read there"
    return found
