"""``lowregret compare`` and ``lowregret report``: the results of an experiment."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.printing import console, print_json
from lowregret.errors import InputError


class Figures(StrEnum):
    """Which files of figures ``report`` writes."""

    none = "none"
    svg = "svg"
    all = "all"


def compare(
    folder: Annotated[Path, typer.Argument(help="The folder of an experiment's results.")],
    other: Annotated[
        Path | None,
        typer.Argument(help="Another folder: compare every policy with itself there.", show_default=False),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Compare with this policy.", show_default="every pair")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare the regret of policies in pairs, and print a verdict for each."""
    from lowregret.cli.terminal_verdicts import verdict_lines
    from lowregret.experiments.stored_results import open_results

    if other is not None and baseline is not None:
        raise InputError(f"compare: use either a second folder or --baseline, got {baseline!r}")
    comparison = open_results(folder).compare(baseline if other is None else open_results(other))
    if json:
        print_json({"comparisons": comparison.to_dicts()})
    else:
        for line in verdict_lines(comparison):
            console().print(line, soft_wrap=True)


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of an experiment's results.")],
    baseline: Annotated[
        str | None, typer.Option(help="Compare with this policy.", show_default="the first")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for page and figures.", show_default="that of the results")
    ] = None,
    figures: Annotated[
        Figures, typer.Option(help="Files of the figures to write: none, SVG, or SVG, PNG and PDF.")
    ] = Figures.svg,
) -> None:
    """Write an HTML page with figures, tables and verdicts that works offline."""
    from lowregret.cli.progress import step_bar
    from lowregret.experiments.stored_results import open_results

    results = open_results(folder)
    with step_bar() as progress:
        page, *files = results.report(out or folder, baseline, figures=figures.value, progress=progress)
    print(f"wrote {page}")
    if files:
        print(f"wrote {count(len(files), 'figure')} to {page.parent / 'figures'}")
