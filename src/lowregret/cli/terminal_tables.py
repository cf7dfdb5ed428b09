"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from lowregret.reporting.number_format import shown

if TYPE_CHECKING:
    import polars

COLUMNS = {
    "mean": "mean",
    "se": "se",
    "median": "median",
    "p05": "5%",
    "p95": "95%",
    "worst05": "worst 5%",
    "optimal_arm_eliminated": "optimal arm\neliminated",
    "ns_per_step": "ns/step",
    "published": "published",
}
"""The columns of a summary that are printed, and their headings."""

PADDING = (0, 1, 0, 0)
"""The padding of cells: nine columns fit into 80 characters."""

REPLAYED = {"matched": "matched", "mean": "mean reward", "se": "se", "low": "95% from", "high": "to"}
"""The columns of a replay that are printed, and their headings."""


def regret_table(summary: polars.DataFrame, title: str | None = None) -> Table:
    """Return the final regrets of several policies as a table for the terminal.

    Parameters
    ----------
    summary : polars.DataFrame
        A column policy, and some of mean, se, median, p05, p95, worst05, optimal_arm_eliminated,
        ns_per_step and published.
    title : str, optional
        The title of the table.

    Examples
    --------
    >>> import polars
    >>> from lowregret.cli.terminal_tables import regret_table
    >>> regret_table(polars.DataFrame({"policy": ["MOSS"], "mean": [715.6]})).row_count
    1
    """
    table = _table(title)
    table.add_column("policy", overflow="fold")
    chosen = [column for column in COLUMNS if column in summary.columns]
    for column in chosen:
        table.add_column(COLUMNS[column], justify="right", no_wrap=True)
    for row in summary.to_dicts():
        table.add_row(row["policy"], *(shown(row[column]) for column in chosen))
    return table


def replay_table(summary: polars.DataFrame) -> Table:
    """Return the estimates of a replay as a table for the terminal.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.cli.terminal_tables import replay_table
    >>> replay_table(lr.replay({"arm": ["a"], "reward": [1]}, "FixedArm(arm=0)").summary()).row_count
    3
    """
    table = _table(None)
    for name in ("policy", "method"):
        table.add_column(name, overflow="fold")
    for heading in REPLAYED.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for row in summary.to_dicts():
        table.add_row(row["policy"], row["method"], *(shown(row[column]) for column in REPLAYED))
    return table


def text_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """Return rows of strings as a table with the names of their fields as headings."""
    table = _table(None)
    for name in rows[0]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    return table


def _table(title: str | None) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=PADDING)
