"""Whether this process lost the threads of polars in a fork: its tables would then wait for ever."""

import os
import sys
from contextlib import suppress

from lowregret.errors import InputError

_threads_at_fork = False
_lost = False


def _look_before_fork() -> None:
    """Note whether polars has threads, which a fork does not copy."""
    global _threads_at_fork
    _threads_at_fork = "polars" in sys.modules and _has_threads()


def _note_in_child() -> None:
    global _lost
    _lost = _lost or _threads_at_fork


def _has_threads() -> bool:
    """Return whether the threads of polars run; True where the system does not list threads by name."""
    try:
        tasks = os.listdir("/proc/self/task")
    except OSError:
        return True
    names = []
    for task in tasks:
        with suppress(OSError), open(f"/proc/self/task/{task}/comm") as file:
            names.append(file.read().strip())
    return "polars-0" in names


def lost_threads() -> bool:
    return _lost


def check_threads(owner: str) -> None:
    """Refuse what would wait for ever in this process, since polars lost its threads in a fork."""
    if lost_threads():
        raise InputError(
            f"{owner}: this process was forked from one that had used polars, whose threads a fork does not "
            "copy: start workers with multiprocessing.get_context('spawn'), or none at all, since simulate "
            "uses all cores itself"
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_look_before_fork, after_in_child=_note_in_child)
