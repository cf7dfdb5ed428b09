"""``lowregret reproduce``: repeat the experiments of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret.cli.options import FigureFiles, Figures, integer_option
from lowregret.cli.printing import print_error, print_text

if TYPE_CHECKING:
    from lowregret.reporting.page_parts import Part, Table


def reproduce(
    paper: Annotated[
        str, typer.Argument(help="A paper of --list, or a folder with reproduction.toml.")
    ] = "eucbv",
    runs: Annotated[
        int | None,
        integer_option(
            "Runs of each policy; files with more or fewer are scaled.", show_default="as in the files"
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of rewards and policies.", show_default="as in the files")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the report and the results of the runs, which are reused.",
            show_default="reproduction/PAPER",
        ),
    ] = None,
    figures: FigureFiles = Figures.svg,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every table: published numbers, claims, policies.")
    ] = False,
    papers: Annotated[
        bool, typer.Option("--list", help="List the papers that come with the package.")
    ] = False,
) -> None:
    """Repeat the experiments of a paper, and judge its numbers.

    Exit code 1: with the runs of the files or more, a verdict is the opposite of the one in the paper's
    expected.csv.
    """
    from lowregret._common.validation import integer
    from lowregret.cli.progress import progress_bar
    from lowregret.reproductions import page as pages
    from lowregret.reproductions import reproduce as reproductions
    from lowregret.reproductions.sheet import read_sheet, sheet_names

    if papers:
        for name in sheet_names():
            sheet = read_sheet(name)
            print_text(f"{name}: {sheet.authors}, {sheet.title} ({sheet.venue})", indent="  ")
        return
    if runs is not None:
        integer("reproduce", "runs", runs)
    sheet = read_sheet(paper)
    folder = out or Path("reproduction") / sheet.folder.name
    with progress_bar() as progress:
        evaluation, (page, *files) = reproductions.reproduce(
            sheet, folder, runs, seed, figures.value, progress
        )
    for section in pages.page_sections(evaluation) if verbose else ():
        if section.title == pages.SUMMARY_TITLE:  # which is printed last
            continue
        print(section.title)
        _print_parts(section.parts)
        print()
    _print_parts(evaluation.more.summary)
    print_text(pages.outcome(evaluation))
    drawn = f"; figures: {folder / 'figures'}" if any(path.parent != folder for path in files) else ""
    print(f"\npage: {page}\ntables: {folder / '*.csv'} and reproduction.json{drawn}")
    contradictions = reproductions.contradictions(sheet, reproductions.verdict_rows(evaluation))
    for contradiction in contradictions:
        print_error(contradiction)
    print_text(pages.last_line(evaluation))
    if contradictions and evaluation.runs >= sheet.base_runs:  # a quick look decides nothing
        raise typer.Exit(1)


def _print_parts(parts: Sequence[Part]) -> None:
    """Print tables and paragraphs, also those that a reader of the page opens."""
    from lowregret.reporting.page_parts import Fold, Table, Text

    for part in parts:
        if isinstance(part, Fold):
            _print_parts(part.parts)
        elif isinstance(part, Table):
            _print_table(part)
        elif isinstance(part, Text):
            print_text(part.text)
            print()


def _print_table(table: Table) -> None:
    from lowregret.reporting.page_parts import cell_text
    from lowregret.reporting.text_tables import text_table

    rows = [dict(zip(table.heads, map(cell_text, row), strict=True)) for row in table.rows]
    wrap = [table.heads[i] for i in table.text_columns]
    right = [head for head in table.heads if head not in wrap] if table.text_columns == (0,) else ()
    print(
        text_table(rows, right=right, drop=table.heads[:1:-1], wrap=wrap)
    )  # what does not fit is on the page
    if table.caption:
        print_text(table.caption)
        print()
