"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from lowregret._common.text import escaped
from lowregret.reporting.number_format import lost_runs, shown

if TYPE_CHECKING:
    import polars

COLUMNS = {
    "mean": "mean",
    "se": "se",
    "median": "median",
    "p95": "95%",
    "worst05": "worst 5%",
    "worst05_high": "at most",
    "realised_regret": "realised",
    "lost": "optimal arm\neliminated",
    "ns_per_step": "ns/step",
    "published": "published",
}
"""The columns of a summary that are printed, and their headings."""

PADDING = (0, 1, 0, 0)
"""The padding of cells: nine columns fit into 80 characters."""

REPLAYED = {"matched": "matched", "mean": "mean reward", "se": "se", "low": "95% from", "high": "to"}
"""The columns of a replay that are printed, and their headings."""


def regret_table(summary: polars.DataFrame, title: str | None = None) -> Table:
    """Return the final regrets of several policies, with those of the columns that the summary has."""
    rows = [row | {"lost": lost_runs(row)} for row in summary.to_dicts()]
    chosen = {column: heading for column, heading in COLUMNS.items() if column in rows[0]}
    return _number_table(rows, ("policy",), chosen, title)


def replay_table(summary: polars.DataFrame) -> Table:
    """Return the estimates of a replay."""
    return _number_table(summary.to_dicts(), ("policy", "method"), REPLAYED)


def text_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """Return rows of strings as a table with the names of their fields as headings."""
    table = _table()
    for name in rows[0]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(escaped, row.values()))
    return table


def _number_table(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    columns: Mapping[str, str],
    title: str | None = None,
) -> Table:
    """Return a table of names and of numbers, the latter under their headings."""
    table = _table(None if title is None else escaped(title))
    for name in names:
        table.add_column(name, overflow="fold")
    for heading in columns.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(escaped(row[name]) for name in names), *(_cell(row[column]) for column in columns))
    return table


def _cell(value: float | str | None) -> str:
    return value if isinstance(value, str) else shown(value)


def _table(title: str | None = None) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=PADDING)
