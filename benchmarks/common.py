"""What the benchmarks share: times taken in turn, tables for the terminal and the page, claims, results."""

import json
import os
import platform
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import lowregret as lr

RESULTS = Path(__file__).parent / "results"
SEED = 1

_console = Console()
if not _console.is_terminal:  # a file or a pipe has no width; do not fold the tables for it
    _console = Console(width=120)


class Sheet(NamedTuple):
    """A table: its title, the names of its columns, and its cells as text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Claim(NamedTuple):
    """Something that must hold: what, how it was measured, and the least or the most that is allowed."""

    text: str
    measured: float | None  # None where it could not be measured
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool | None:
        """Say whether it holds, None if that is not known."""
        if self.measured is None:
            return None
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def allowed(self) -> str:
        """Write the limit."""
        return f"{'at least' if self.at_least else 'at most'} {self.limit:g}"


class Report(NamedTuple):
    """What one benchmark found: its tables, its claims, and its numbers as plain data."""

    sheets: Sequence[Sheet]
    claims: Sequence[Claim]
    numbers: Any


def arguments(about: str, *, names: str | None = None) -> Namespace:
    """Read the command line of a benchmark."""
    parser = ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="measure little, to see that it works")
    if names:
        parser.add_argument("names", nargs="*", metavar=names, help="only these")
    return parser.parse_args()


def in_turn(
    measures: Sequence[Callable[[], float]], repeats: int, budget: float = 20.0, least: int = 3
) -> list[list[float]]:
    """Take several measurements in turn, so that what disturbs one disturbs all; give the times of each.

    It stops after ``repeats`` rounds, or when ``budget`` seconds are spent and ``least`` rounds are made.
    """
    times: list[list[float]] = [[] for _ in measures]
    began = perf_counter()
    for done in range(repeats):
        if done >= least and perf_counter() - began > budget:
            break
        for measure, found in zip(measures, times, strict=True):
            found.append(measure())
    return times


def ours(policy: lr.Policy, bandit: lr.Bandit, horizon: int, runs: int, **options: Any) -> float:
    """Simulate on one thread; give the nanoseconds a step, compilation excluded."""
    result = lr.simulate(policy, bandit, horizon, runs, SEED, threads=1, **options)
    return 1e9 * result[policy].seconds / (runs * horizon)


def samples(policy: lr.Policy) -> bool:
    """Say whether a policy draws its scores."""
    return any(hasattr(policy, name) for name in ("sample", "normal_posterior", "beta_posterior"))


def shown(value: float | None) -> str:
    """Write a number with three digits or so, and what is missing as a dash."""
    if value is None:
        return "-"
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def yes(holds: bool | None) -> str:
    """Write whether something holds."""
    return "-" if holds is None else "yes" if holds else "NO"


def claim_sheet(claims: Sequence[Claim]) -> Sheet:
    """Lay out claims."""
    rows = [(claim.text, shown(claim.measured), claim.allowed, yes(claim.holds)) for claim in claims]
    return Sheet("What must hold", ("claim", "measured", "limit", "holds"), rows)


def show(sheets: Sequence[Sheet]) -> None:
    """Print tables."""
    for sheet in sheets:
        table = Table(title=sheet.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
        for number, column in enumerate(sheet.columns):
            table.add_column(column, justify="right" if _numeric(sheet, number) else "left")
        for row in sheet.rows:
            style = "bold red" if "NO" in row else None
            table.add_row(*map(escape, row), style=style)
        _console.print(table)


def markdown(sheet: Sheet) -> str:
    """Write a table as Markdown."""
    rules = ["---:" if _numeric(sheet, number) else "---" for number in range(len(sheet.columns))]
    lines = [" | ".join(row) for row in (sheet.columns, rules, *sheet.rows)]
    return f"**{sheet.title}**\n\n" + "\n".join(f"| {line} |" for line in lines) + "\n"


def machine() -> dict[str, str]:
    """Describe the machine and what runs on it."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text().splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        processor = names[0] if names else processor
    versions = {name: version(name) for name in ("lowregret", "numba", "numpy")}
    cores = str(os.cpu_count())
    return {"processor": processor, "cores": cores, "Python": platform.python_version(), **versions}


def say(text: str) -> None:
    """Say on standard error what is going on."""
    Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)


def write(name: str, numbers: Any) -> Path:
    """Write numbers as JSON into the folder of results."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
    return path


def _numeric(sheet: Sheet, column: int) -> bool:
    """Say whether a column holds numbers, which stand to the right."""
    cells = [row[column] for row in sheet.rows if row[column] != "-"]
    return bool(cells) and all(cell.lstrip("-")[:1].isdigit() for cell in cells)
