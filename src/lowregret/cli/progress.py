"""Progress bars for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from lowregret.cli.printing import tell
from lowregret.engine.compile_progress import silenced

if TYPE_CHECKING:
    from lowregret.experiments.run import Progress as RunProgress


LINE_INTERVAL = 10.0
"""Seconds between two lines of progress in a log."""

NOTHING_KEPT = "interrupted: nothing is kept; `lowregret run` keeps what is finished"
"""What is printed when a simulation without a folder is interrupted."""


class TimeLeft(TimeRemainingColumn):
    """The time left, once it can be estimated."""

    max_refresh = 0.0  # else it would go on showing the time left of the policy before

    def render(self, task: Task) -> Text:
        """Return the time left as text."""
        return super().render(task).append(" left") if task.completed else Text()


@contextmanager
def progress_bar(runs: int) -> Iterator[Callable[[str, int], None] | None]:
    """Show the progress of each policy while the block runs.

    Yields the ``progress`` argument of ``simulate``. The bar is drawn on standard error if that is a
    terminal; otherwise the argument is None.
    """
    try:
        with _run_bar(runs) as advance:
            yield advance
    except KeyboardInterrupt:
        raise KeyboardInterrupt(NOTHING_KEPT) from None


@contextmanager
def _run_bar(runs: int) -> Iterator[Callable[[str, int], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    with silenced(), _bar() as bar:
        task = bar.add_task("", total=runs, state="", visible=False)

        def advance(policy: str, done: int) -> None:
            if done == 0:
                bar.reset(task, description=policy, state="compiling", visible=True)
            else:
                bar.advance(task, done)
                bar.update(task, state=f"{int(bar.tasks[0].completed)}/{runs} runs")

        yield advance


@contextmanager
def shard_bar(label: str) -> Iterator[Callable[[RunProgress], None] | None]:
    """Show the progress of an experiment while the block runs.

    Yields the ``progress`` argument of ``Experiment.run``. The bar is drawn on standard error if that is a
    terminal; otherwise a line is written to it every ``LINE_INTERVAL`` seconds, for a log.
    """
    began = monotonic()
    if not sys.stderr.isatty():
        yield _lines(began)
        return
    with silenced(), _bar() as bar:
        task = bar.add_task(label, total=None, state="reading finished shards")

        def advance(now: RunProgress) -> None:
            speed = now.steps / max(monotonic() - began, 1e-9)
            state = (
                f"{now.done}/{now.shards} shards, {speed / 1e6:.3g} M steps/s" if now.done else "compiling"
            )
            bar.update(task, completed=now.steps, total=max(now.all_steps, 1), state=state)

        yield advance


@contextmanager
def step_bar() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show the progress of a task in several steps while the block runs.

    Yields the ``progress`` argument of ``Results.report``. The bar is drawn on standard error if that is a
    terminal; otherwise the argument is None.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with _bar() as bar:
        task = bar.add_task("computing statistics", total=None, state="")

        def advance(what: str, done: int, steps: int) -> None:
            bar.update(task, description=what, completed=done, total=steps, state=f"{done}/{steps}")

        yield advance


def _lines(began: float) -> Callable[[RunProgress], None]:
    """Return a callback that writes a line of progress from time to time."""
    last = began

    def advance(now: RunProgress) -> None:
        nonlocal last
        moment = monotonic()
        if not now.done or moment - last < LINE_INTERVAL or now.done == now.shards:
            return
        last, passed = moment, moment - began
        left = timedelta(seconds=round(passed * (now.all_steps - now.steps) / now.steps))
        speed = f"{now.steps / passed / 1e6:.3g} M steps/s"
        tell(f"{now.there + now.done} of {now.there + now.shards} shards, {speed}, about {left} left")

    return advance


def _bar() -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TimeLeft(compact=True),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
