"""``lowregret compare`` and ``lowregret report``: what an experiment gave."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lowregret.cli.printing import console


def compare(
    folder: Annotated[Path, typer.Argument(help="The folder of an experiment's results.")],
    baseline: Annotated[
        str | None, typer.Option(help="Compare with this policy.", show_default="every pair")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say which policies have lower regret than another, as far as the runs can tell."""
    from lowregret.analysis.comparison import compare as compared
    from lowregret.report.terminal_verdicts import verdict_lines
    from lowregret.results.stored import open_results

    comparison = compared(open_results(folder), baseline)
    if json:
        from json import dumps

        print(dumps({"comparisons": comparison.to_dicts()}, allow_nan=False))
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
) -> None:
    """Write a page with figures, tables and verdicts that opens in any browser, offline."""
    from lowregret.report.experiment_report import write_report
    from lowregret.results.stored import open_results

    page, *figures = write_report(open_results(folder), out or folder, baseline)
    print(f"wrote {page}\nwrote {len(figures)} figures to {page.parent / 'figures'}")
