"""Errors of compilation in one sentence that names the policy, the method and the line."""

from __future__ import annotations

from collections.abc import Sequence
from dis import get_instructions
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

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


def explain(error: Exception, policy: Policy, attempts: Sequence[Attempt]) -> InputError:
    """Return the error to raise where a policy could not be compiled.

    Numba reports an error inside a method as one of its caller, at length. So the functions of the policy are
    compiled by themselves. At fault is one that fails and calls none that does.
    """
    faults, returned = _compile_each(list(attempts))
    names = {fault.function.__name__ for fault in faults}
    for function, inner in faults:
        if not (set(function.__code__.co_names) - {function.__name__}) & names:
            imports = any(each.opname == "IMPORT_NAME" for each in get_instructions(function))
            reason = "import at the top of the file, not inside" if imports else _reason(inner, policy)
            return InputError(f"{policy}: Numba cannot compile {_place(function, inner)}: {reason}")
    for function, kind in returned.items():
        if function.__name__ in NUMBERS and not isinstance(kind, types.Number | types.Boolean):
            return InputError(f"{policy}: {_place(function)} must return a number, and returns {kind}")
    return InputError(f"{policy}: Numba cannot compile it: {_reason(error, policy)}")


def _compile_each(attempts: list[Attempt]) -> tuple[list[Fault], dict[FunctionType, Any]]:
    """Compile functions one by one; return those that fail, and the types that the others return."""
    faults: list[Fault] = []
    returned: dict[FunctionType, Any] = {}
    for function, arguments in dict.fromkeys(attempts):
        try:
            dispatcher: Any = njit(nogil=True, error_model="numpy")(function)
            dispatcher.compile(arguments)
        except Exception as error:  # of Numba's many kinds, some are not its own
            faults.append(Fault(function, error))
        else:
            returned[function] = dispatcher.nopython_signatures[0].return_type
    return faults, returned


def _place(function: FunctionType, error: Exception | None = None) -> str:
    """Name a function, its file and the line at fault."""
    code = function.__code__
    line = getattr(getattr(error, "loc", None), "line", None) or code.co_firstlineno
    return f"{function.__name__} ({Path(code.co_filename).name}, line {line})"


def _reason(error: Exception, policy: Policy) -> str:
    """Return what Numba says is wrong: of its many lines, the one that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line.partition(": ")[2] for line in lines if line.startswith(("TypingError: ", "NameError: "))]
    skipped = "Failed in ", "- Resolution failure", "During: ", "File "
    plain = [line for line in lines if not line.startswith(skipped)]
    found = (telling or plain or [type(error).__name__])[-1 if telling else 0]
    found = found.partition(" Raised from ")[0].rstrip(".:")
    for field in fields_of(policy):
        if f"attribute {field.name!r}" in found:
            return f"it reads {field.name}, and only parameters that are float, int or bool can be read there"
    return found
