"""The progress bar of commands; apart from ``printing``, since rich takes long to load."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TimeRemainingColumn
from rich.text import Text

from lowregret._common.progress import Progress as Now
from lowregret._common.progress import Report

NOTHING_KEPT = "interrupted: nothing is kept; `lowregret run` keeps what is finished"


class State(ProgressColumn):
    """What is being done, as the lines of a log say it."""

    def render(self, task: Task) -> Text:
        """Return it as text."""
        now: Now | None = task.fields["now"]
        return Text(now.describe(task.elapsed or 0.0) if now else task.description, no_wrap=True)


class TimeLeft(TimeRemainingColumn):
    """The time left, once it can be estimated."""

    def render(self, task: Task) -> Text:
        """Return the time left as text."""
        return super().render(task).append(" left") if task.completed else Text()


@contextmanager
def progress_bar(start: str = "preparing", keeps_results: bool = True) -> Iterator[bool | Report]:
    """Show the progress of a call while the block runs, with some words until it reports.

    Yields the ``progress`` argument of the call. The bar is drawn on standard error if that is a terminal;
    otherwise the call itself writes lines. With ``keeps_results`` something remains after an interrupt.
    """
    try:
        if not sys.stderr.isatty():
            yield True
            return
        columns = SpinnerColumn(), State(), BarColumn(bar_width=16), TimeLeft(compact=True)
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(start, total=None, now=None)
            yield lambda now: bar.update(task, completed=now.share, total=1.0, now=now)
    except KeyboardInterrupt:
        if keeps_results:
            raise
        raise KeyboardInterrupt(NOTHING_KEPT) from None
