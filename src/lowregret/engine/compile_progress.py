"""Say on the terminal that a policy is being compiled, and how long it took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

Listener = Callable[[str, float | None], None]


def write_line(policy: str, seconds: float | None) -> None:
    """Write one line to standard error, if that is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        text = f"compiling {policy} ... " if seconds is None else f"{seconds:.1f} s\n"
        sys.stderr.write(text)
        sys.stderr.flush()


on_compile: Listener | None = write_line
"""Called with a policy and None when its compilation begins, and with the seconds it took when it ends.

Loading from the disk is not reported.
"""


@contextmanager
def silenced() -> Iterator[None]:
    """Report nothing inside, since something else draws on the terminal."""
    global on_compile
    before, on_compile = on_compile, None
    try:
        yield
    finally:
        on_compile = before


@contextmanager
def announced(policy: str, loaded: bool) -> Iterator[None]:
    """Report what is done inside, unless it is only loaded."""
    listener = None if loaded else on_compile
    began = perf_counter()
    if listener:
        listener(policy, None)
    try:
        yield
    finally:
        if listener:
            listener(policy, perf_counter() - began)
