"""Progress bars for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from lowregret.experiments.run import Progress as RunProgress


class TimeLeft(TimeRemainingColumn):
    """The time left, once there is something to judge it by."""

    max_refresh = 0.0  # else it would go on showing the time left of the policy before

    def render(self, task: Task) -> Text:
        """Write the time left."""
        return super().render(task).append(" left") if task.completed else Text()


@contextmanager
def progress_bar(runs: int, label: str = "") -> Iterator[Callable[[str, int], None] | None]:
    """Show how far each policy is while the block runs; give what ``simulate`` takes as progress.

    It is drawn on standard error, and only where that is a terminal: else it gives None.

    Parameters
    ----------
    runs : int
        How many runs each policy makes.
    label : str, optional
        What stands before the policy.

    Examples
    --------
    >>> from lowregret.report.progress import progress_bar
    >>> with progress_bar(10) as progress:
    ...     if progress:
    ...         progress("EUCBV", 10)
    """
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TimeLeft(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=runs, state="", visible=False)

        def advance(policy: str, done: int) -> None:
            if done == 0:
                bar.reset(task, description=f"{label}{policy}", state="compiling", visible=True)
            else:
                bar.advance(task, done)
                bar.update(task, state=f"{int(bar.tasks[0].completed)}/{runs} runs")

        yield advance


@contextmanager
def shard_bar(label: str) -> Iterator[Callable[[RunProgress], None] | None]:
    """Show how far an experiment is while the block runs; give what ``Experiment.run`` takes as progress.

    It is drawn on standard error, and only where that is a terminal: else it gives None.

    Parameters
    ----------
    label : str
        What stands before the bar.

    Examples
    --------
    >>> from lowregret.report.progress import shard_bar
    >>> with shard_bar("my experiment") as progress:
    ...     pass
    """
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TimeLeft(compact=True),
    )
    began = monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None, state="looking at what is there")

        def advance(now: RunProgress) -> None:
            speed = now.steps / max(monotonic() - began, 1e-9)
            state = (
                f"{now.done}/{now.shards} shards, {speed / 1e6:.3g} M steps/s" if now.done else "compiling"
            )
            bar.update(task, completed=now.steps, total=max(now.all_steps, 1), state=state)

        yield advance
