"""Published numbers: the rows of ``published.csv``.

A row is a number or a curve: its cells ``t``, ``value`` and ``sd`` hold a number for each point, separated by
spaces. Place, environment, policy and value must be there, other columns may be missing and cells empty.
"""

import csv
from contextlib import suppress
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from lowregret.errors import InputError


class Point(NamedTuple):
    """A published number."""

    place: str
    environment: str
    policy: str  # its name in the paper
    value: float
    t: int | None = None  # by default the horizon
    quantity: str = "mean"  # see `quantities`
    ours: str = ""  # the policy that computes it, if it is not the one that the sheet names
    sd: float | None = None  # of a run, as published
    runs: int = 1  # by default those of the sheet
    reading_error: float = 0.0  # of a number read off a figure, or else half a unit of the last digit
    source: str = ""  # where the configuration is read
    inferred: str = ""  # what of the configuration is not read
    deviation: str = ""  # a known difference between what was published and what we compute
    chosen: bool = False  # whether the configuration was chosen for the number that it yields: ``yes``

    @property
    def curve(self) -> tuple[str, str, str, str]:
        return self.place, self.environment, self.policy, self.quantity


NUMBER_CELLS = {
    "value": (float, -inf),
    "sd": (float, 0.0),
    "reading_error": (float, 0.0),
    "t": (int, 1),
    "runs": (int, 1),
}
"""The type of a cell, and the least number that it may hold."""


def read_published(path: Path, runs: int) -> list[Point]:
    """Read the numbers of a paper, none where there is no file; ``runs`` are behind most of them."""
    points: list[Point] = []
    if not path.exists():
        return points
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        columns = set(rows.fieldnames or ())
        if wrong := {"place", "environment", "policy", "value"} - columns or columns - set(Point._fields):
            fault = f"column {min(wrong)!r} is missing or unknown: use {', '.join(Point._fields)}"
            raise InputError(f"{path.name}: {fault}")
        for row in rows:
            try:
                points += _points({name: cell for name, cell in row.items() if cell}, runs)
            except KeyError as error:
                raise InputError(f"{path.name}, line {rows.line_num}: {error} is missing") from None
            except ValueError as error:
                raise InputError(f"{path.name}, line {rows.line_num}: {error}") from None
    return points


def _points(row: dict[str, str], runs: int) -> list[Point]:
    """Return the points of a row; a cell with one number holds for all of them."""
    values = row["value"].split()
    read = {name: _read_cell(name, cell) for name, cell in row.items()}
    if len(values) != max(len(row.get("t", "").split()), 1) or not all(read["value"]):
        raise ValueError("give a number that is not 0 for each time")
    points = []
    for place, value in enumerate(values):
        cells: dict[str, Any] = {"runs": runs, "reading_error": 0.5 * 10.0 ** -len(value.partition(".")[2])}
        for name, parts in read.items():
            cells[name] = parts[place] if len(parts) > 1 else parts[0]
        points.append(Point(**cells))
    return points


def _read_cell(name: str, cell: str) -> list[Any]:
    """Return what a cell holds: a string, or a number for each point."""
    if name not in NUMBER_CELLS:
        return [cell == "yes" if name == "chosen" else cell]
    kind, least = NUMBER_CELLS[name]
    with suppress(ValueError):
        numbers = [kind(part) for part in cell.split()]
        if all(number >= least and isfinite(number) for number in numbers):
            return numbers
    article = "an integer" if kind is int else "a number"
    wanted = article if least == -inf else f"{article} of at least {least:g}"
    raise ValueError(f"{name} must be {wanted}, got {cell!r}")
