"""Errors of compilation in one sentence that names the policy, the method and the line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from numba import errors, njit, types

from lowregret.errors import InputError
from lowregret.policies.base import Policy


class Attempt(NamedTuple):
    """A function of a policy, and the types of the arguments for which Numba was asked to compile it."""

    function: FunctionType
    arguments: tuple[Any, ...]


def explain(error: Exception, policy: Policy, attempts: Sequence[Attempt]) -> InputError:
    """Return the error to raise where a policy could not be compiled.

    Numba reports an error inside a method as one of its caller, at length. So the functions are compiled by
    themselves, the innermost first: the first that fails is the one at fault.
    """
    returned = []
    for function, arguments in reversed(attempts):
        try:
            dispatcher = njit(nogil=True, error_model="numpy")(function)
            dispatcher.compile(arguments)
            returned.append((function, dispatcher.nopython_signatures[0].return_type))
        except Exception as inner:
            return InputError(f"{policy}: Numba cannot compile {_place(function, inner)}: {_reason(inner)}")
    for function, kind in returned:
        if not isinstance(kind, types.Number | types.Boolean | types.BaseTuple | types.NoneType):
            place = _place(function, None)
            return InputError(f"{policy}: {place} must return a number, and Numba finds {kind}")
    return InputError(f"{policy}: Numba cannot compile it: {_reason(error)}")


def _place(function: FunctionType, error: Exception | None) -> str:
    """Name a function, its file and the line at fault."""
    code = function.__code__
    line = getattr(getattr(error, "loc", None), "line", None) or code.co_firstlineno
    return f"{function.__name__} ({Path(code.co_filename).name}, line {line})"


def _reason(error: Exception) -> str:
    """Return what Numba says is wrong: of its many lines, the first that is not about where it was."""
    text = str(getattr(error, "msg", error) if isinstance(error, errors.NumbaError) else error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0].rstrip(".:") if lines else type(error).__name__
