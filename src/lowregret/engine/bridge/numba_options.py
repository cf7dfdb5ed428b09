"""How Numba compiles what belongs to the engine and to policies, and the lock that is held meanwhile."""

from __future__ import annotations

import os
from threading import RLock
from typing import Any, cast

from numba import njit

COUNT_REFERENCES = "LOWREGRET_COUNT_REFERENCES"
"""The environment variable with which references to arrays are counted, as in a Numba without ``_nrt``."""


def accepted(option: str, value: bool) -> Any:
    """Return an option that Numba does not document, if this version has it; all is correct without it."""
    try:
        njit(**cast(Any, {option: value}))(lambda: 0)
    except Exception:  # whatever a version without it raises
        return {}
    return {option: value}


METHODS: Any = {"nogil": True, "error_model": "numpy", **accepted("no_cfunc_wrapper", True)}
"""How a policy's methods are compiled: threads run freely, and a division by 0 gives inf, not an error. Numba
need not also make a function that C could call, which would be a second copy of all that is inlined."""
OPTIONS: Any = METHODS if os.environ.get(COUNT_REFERENCES) else {**METHODS, **accepted("_nrt", False)}
"""How the engine is compiled: also without counting references to arrays, which costs more than a step. It
allocates nothing: all it needs is passed to it."""
INLINED: Any = {**OPTIONS, "forceinline": True}
"""How what is called at every step is compiled: into the code of its callers."""


def options_of(inline: bool) -> Any:
    """Return how a function of the engine is compiled."""
    return INLINED if inline else OPTIONS


def overload_options(options: Any) -> Any:
    """Return options for Numba's decorators, which need not check that signatures are the same."""
    return {"strict": False, "jit_options": options}


lock = RLock()
"""Held while anything is compiled, loaded or made known to Numba."""
if hasattr(os, "register_at_fork"):  # else a process forked while a thread compiles could never compile
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
