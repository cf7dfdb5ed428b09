"""Errors of compilation in one sentence that names the policy, the method and the line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from inspect import getattr_static
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple, cast

from numba import njit, types

from lowregret._common.bytecode import loaded, operations, place_of
from lowregret.errors import InputError
from lowregret.policies.base import Policy, numeric_fields

TRACEBACK = bool(os.environ.get("LOWREGRET_TRACEBACK"))
"""Whether the traceback of Numba is shown above the sentence."""

NUMBERS = (
    *("score", "sample", "lower_bound", "list_index", "list_index_slope", "transform_reward"),
    *("choose", "recommend", "stop", "accepts"),
)
PAIRS = {
    "normal_posterior": "a mean and a standard deviation",
    "beta_posterior": "the two parameters of a beta distribution",
}
"""The methods of a policy that return a number, and those that return two."""


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
    if hidden := _hidden_field(attempts):
        return InputError(
            f"{policy}: {hidden}: arms or random numbers have a method of this name, so rename the field"
        )
    faults, returned = _compile_each(list(attempts))
    for (function, arguments), kind in returned.items():
        if wanted := _wanted(function.__name__, arguments, kind):
            returns = re.sub(r"Literal\[(\w+)\]\(.*\)|unicode_type", r"str", str(kind), flags=re.DOTALL)
            return InputError(f"{policy}: {place_of(function)} must return {wanted}, and returns {returns}")
    if fault := _innermost(faults):
        function, inner = fault
        reported = getattr(getattr(inner, "loc", None), "line", None), _reason(inner, policy)
        line, reason = next(_mistakes(function, policy), reported)
        return InputError(f"{policy}: Numba cannot compile {place_of(function, line)}: {reason}")
    if fault := _innermost(_compile_each(list(attempts), options)[0]):
        reason = "it makes an array, a list or a string, and only numbers and tuples of them can be made"
        return InputError(f"{policy}: Numba cannot compile {place_of(fault[0])}: {reason}")
    return InputError(f"{policy}: Numba cannot compile it: {_reason(error, policy)}")


def _hidden_field(attempts: Sequence[Attempt]) -> str:
    """Return a field of a named tuple of the user's that compiled code takes for a method, "" if none is."""
    from lowregret.engine.bridge.tuple_methods import methods  # which imports this module

    kinds = [kind for attempt in attempts for kind in attempt.arguments]
    for kind in kinds:
        kinds += getattr(kind, "types", ())
        own = getattr(kind, "instance_class", Policy)
        for field in () if own.__module__.startswith("lowregret.") else getattr(own, "_fields", ()):
            if field in methods:
                return f"{own.__name__}.{field}"
    return ""


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
    is_number = isinstance(kind, types.Number | types.Boolean) and not isinstance(kind, types.Complex)
    if name in NUMBERS and not is_number:
        return "a number"
    if name in PAIRS and not (isinstance(kind, types.BaseTuple) and len(cast(Any, kind)) == 2):
        return PAIRS[name]
    owner = getattr(arguments[0], "instance_class", Policy) if arguments else None  # a policy, or its arms
    remembers = getattr(owner, "Memory", None) is not None
    if name == "update_memory" and remembers and not isinstance(kind, types.BaseNamedTuple):
        return "a Memory"
    if name == "next_round" and len(arguments) >= 4 and kind != arguments[3]:
        return f"a round as first_round does, {arguments[3]}"
    return None


def _mistakes(function: FunctionType, policy: Policy) -> Iterator[tuple[int | None, str]]:
    """Yield what in a function that Numba cannot compile it does not know, by line, with the remedy."""
    texts = vars(policy).keys() - numeric_fields(type(policy))
    for operation, name, line, on_self in operations(function.__code__):
        value = getattr_static(policy, name, 0.0) if on_self else loaded(function, operation, name)
        if operation == "IMPORT_NAME":
            yield line, "import at the top of the file, not inside"
        elif operation == "CHECK_EXC_MATCH":
            yield line, "try and except cannot be compiled; test for the case with if"
        elif value is function:
            yield line, "it calls itself, which cannot be compiled; write a loop"
        elif isinstance(value, property | staticmethod | classmethod):
            yield line, f"{name} is a {type(value).__name__}; write a plain method, or a function"
        elif isinstance(value, list | dict | set) and not on_self:
            yield line, f"it reads {name}, a {type(value).__name__}; use a tuple of numbers or a NumPy array"
        elif on_self and (name in texts or not isinstance(value, FunctionType | int | float)):
            numbers = "only parameters that are float, int or bool can be read there"
            yield line, f"it reads {name}, and {numbers}; keep a table in a tuple outside of the class"


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
    reason = (telling or plain or [type(error).__name__])[-1 if telling else 0]
    reason = reason.partition(" Raised from ")[0].rstrip(".:")
    reason = re.sub(r"( of type \w+)\(.*", r"\1", reason)
    reason = re.sub(rf"\b({type(policy).__name__})_[0-9a-f]{{32}}\b", r"\1", reason)
    if "'super'" in reason:
        return "super() cannot be compiled; move what is shared into a method of another name, or a function"
    return reason
