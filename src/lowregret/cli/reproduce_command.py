"""``lowregret reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret.cli.options import FigureFiles, Figures, Runs, Seed
from lowregret.cli.printing import print_text

if TYPE_CHECKING:
    from lowregret.reporting.page_parts import Cell


def reproduce(
    experiment: Annotated[
        int | None, typer.Option(help="Experiment of the paper: 1, 2, 3 or 4.", show_default="all")
    ] = None,
    runs: Runs = 100,
    seed: Seed = 0,
    out: Annotated[
        Path, typer.Option(help="Folder for the report and the results of the runs, which are reused.")
    ] = Path("reproduction"),
    figures: FigureFiles = Figures.svg,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every table: policies, published curves, claims.")
    ] = False,
) -> None:
    """Repeat the EUCBV paper's experiments, and compare the results.

    Three readings. As printed: policies and testbeds of the text. Released width: EUCBV with that of the
    released code. As plotted: the policy and the testbed of the released script behind a published curve.
    """
    from lowregret.cli.progress import progress_bar
    from lowregret.cli.terminal_tables import text_table
    from lowregret.reporting.page_parts import Table, Text
    from lowregret.reproduction import report_tables as tables
    from lowregret.reproduction.reproduce import reproduce as reproduce_paper

    with progress_bar() as progress:
        evaluation, (page, *files) = reproduce_paper(out, experiment, runs, seed, figures.value, progress)
    for section in tables.terminal_sections(evaluation) if verbose else ():
        print(section.title)
        for part in section.parts:
            if isinstance(part, Table):
                rows = [dict(zip(part.heads, map(_words, row), strict=True)) for row in part.rows]
                drop = part.heads[:1:-1]  # what does not fit is on the page
                print(text_table(rows, drop=drop, wrap=[part.heads[i] for i in part.words]))
                print_text(part.caption)
            elif isinstance(part, Text):
                print_text(part.words)
            print()
    headline = tables.headline_table(evaluation.readings, decimals=False)
    heads = ["exp", *headline.heads[1:]]
    cells = [[_words(cell).removesuffix(".00") for cell in row] for row in headline.rows]
    print(text_table([dict(zip(heads, row, strict=True)) for row in cells], right=heads))
    for text in (headline.caption, *tables.summary(evaluation)):
        print_text(text)
        print()
    drawn = f"; figures: {out / 'figures'}" if any(path.parent != out for path in files) else ""
    print(f"page: {page}\ntables: {out / '*.csv'} and reproduction.json{drawn}")
    if not verbose:
        print("`lowregret reproduce --verbose` prints every table.")


def _words(cell: str | Cell) -> str:
    return cell if isinstance(cell, str) else cell.words
