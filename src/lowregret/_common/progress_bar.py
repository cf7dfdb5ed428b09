"""A bar on a terminal for calls of the library; that of a command is in ``cli.progress``."""

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn


class Bar:
    """A bar on standard error, drawn whenever something is shown: no thread of its own, no stream changed."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[left]}"),
        )
        self.can_be_drawn = console.is_terminal and not console.is_dumb_terminal
        self._progress = Progress(
            *columns,
            console=console,
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("", total=1.0, left="")

    def show(self, text: str, share: float, left: str) -> None:
        """Draw the bar with what is done, its share and the time left."""
        self._progress.update(self._task, description=text, completed=share, left=left)
        self._progress.start()
        self._progress.refresh()

    def close(self) -> None:
        """Remove the bar from the terminal."""
        self._progress.stop()
