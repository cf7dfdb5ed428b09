"""The progress of long calls: what every ``progress`` takes, the bar on a terminal, and lines elsewhere."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from lowregret._common.progress_bar import Bar

FIRST_SECONDS, LINE_SECONDS, BAR_SECONDS = 2.0, 10.0, 0.1
"""When a call first shows its progress, and the least time between two lines, or two drawings of a bar."""

LINES_SWITCH = "LOWREGRET_PROGRESS"
"""The environment variable that switches lines off where it is 0."""


class Progress(NamedTuple):
    """How much of a call is done.

    ``what`` is being done, such as a policy; ``done`` of ``total``, in a ``unit`` such as "runs"; ``share``
    estimates how much of the work this is. Of experiments also: the ``steps`` that were simulated, and the
    shards that were ``already_done`` before, which ``done`` and ``total`` leave out.
    """

    what: str
    done: int
    total: int
    unit: str
    share: float
    steps: int = 0
    already_done: int = 0

    def describe(self, seconds: float) -> str:
        """Say what is done, after so many seconds."""
        what = f"compiling {_compiling}" if _compiling else self.what
        millions = 0.0 if _compiling else self.steps / max(seconds, 1e-9) / 1e6
        speed = f", {millions:.3g} M steps/s" if millions else ""
        done, total = self.already_done + self.done, self.already_done + self.total
        return f"{what}: {done:,} of {total:,} {self.unit}{speed}"


Report: TypeAlias = Callable[[Progress], None]

logger = logging.getLogger("lowregret")
"""What the library says of long calls, where a program has configured its logging for INFO."""
clock = monotonic
_last_line = -inf
_compiling = ""
_reporter: Report | None = None
_log: Callable[[str], None] | None = None


def log_lines(log: Callable[[str], None]) -> None:
    """Pass lines to a log from now on, instead of standard error."""
    global _log
    _log = log


class Lines:
    """Shows a bar where standard error is a terminal, and else writes lines, also while a call waits."""

    def __init__(self) -> None:
        self.began, self.now = clock(), Progress("", 0, 0, "", 1.0)
        self._bar: Bar | None = None
        self._drawn = -inf

    def __call__(self, now: Progress) -> None:
        self.now = now
        tick()

    def show(self) -> None:
        """Show the progress if that is due."""
        seconds, share = clock() - self.began, self.now.share
        if seconds < FIRST_SECONDS or share >= 1.0:
            return
        left = f"about {timedelta(seconds=round(seconds * (1.0 - share) / share))} left" if share else ""
        self._bar = self._bar or _terminal_bar()
        if self._bar is not None:
            if seconds >= self._drawn + BAR_SECONDS:
                self._drawn = seconds
                self._bar.show(self.now.describe(seconds), share, left)
        else:
            _write_line(self.now.describe(seconds) + (left and f", {left}"))

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def ignore(now: Progress) -> None:
    """Report nothing."""


@contextmanager
def reporting(progress: bool | Report | None) -> Iterator[Report]:
    """Yield what a call reports to, by its argument ``progress``; only the outermost call writes lines."""
    global _reporter
    outermost = _reporter is None  # workers in other threads are not, and leave the reporter alone
    report = progress if callable(progress) else Lines() if progress and outermost else ignore
    if outermost:
        _reporter = report
    try:
        yield report
    finally:
        if isinstance(report, Lines):
            report.close()
        if outermost:
            _reporter = None


def counter(report: Report, total: int, unit: str) -> Callable[[str, int], None]:
    """Return a function that reports what is being done, and that so many more are done."""
    done = 0

    def advance(what: str, more: int) -> None:
        nonlocal done
        done += more
        report(Progress(what, done, total, unit, done / max(total, 1)))

    return advance


@contextmanager
def compiling(policy: str) -> Iterator[None]:
    """Say that a policy is compiled inside: at once, since it takes seconds."""
    global _compiling
    _compiling = policy
    if _reporter is None or isinstance(_reporter, Lines):
        _write_line(f"compiling {policy}, which takes some seconds the first time")
    try:
        yield
    finally:
        _compiling = ""


def tick() -> None:
    """Show the progress if that is due; whoever waits for long calls this from time to time."""
    if isinstance(_reporter, Lines):
        _reporter.show()


def _terminal_bar() -> Bar | None:
    """Return a bar where lines would go to a terminal, and rich can draw there."""
    quiet = os.environ.get(LINES_SWITCH) == "0" or _log is not None or _is_logged()
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from lowregret._common.progress_bar import Bar
    except ImportError:  # where only the engine is installed
        return None
    bar = Bar()
    return bar if bar.can_be_drawn else None


def _is_logged() -> bool:
    return logger.isEnabledFor(logging.INFO) and logger.hasHandlers()


def _write_line(text: str) -> None:
    """Write a line to the log that a program has set, to the logger "lowregret", or on standard error."""
    global _last_line
    if clock() - _last_line < LINE_SECONDS or os.environ.get(LINES_SWITCH) == "0":
        return
    _last_line = clock()
    if _log is not None:
        _log(text)
    elif _is_logged():
        logger.info(text)
    elif sys.stderr is not None:
        print(f"lowregret: {text}", file=sys.stderr, flush=True)
