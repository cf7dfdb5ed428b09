"""``lowregret compare`` and ``lowregret report``: the results of an experiment."""

from pathlib import Path
from typing import Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.options import Baseline, Explain, FigureFiles, Figures, Json, ResultsFolder
from lowregret.cli.printing import print_json
from lowregret.errors import InputError


def compare(
    folder: ResultsFolder,
    other: Annotated[
        Path | None,
        typer.Argument(help="Another folder: compare every policy with itself there.", show_default=False),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Compare with this policy.", show_default="every pair")
    ] = None,
    explain: Explain = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every verdict, also in many environments.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare the regret of policies in pairs, and print a verdict for each."""
    from lowregret.cli.terminal_verdicts import print_verdicts
    from lowregret.experiments.stored_results import open_results

    if other is not None and baseline is not None:
        raise InputError(f"compare: use either a second folder or --baseline, got {baseline!r}")
    comparison = open_results(folder).compare(baseline if other is None else open_results(other))
    if json:
        print_json({"comparisons": comparison.to_dicts()})
    else:
        print_verdicts(comparison, explain, verbose)


def report(
    folder: ResultsFolder,
    baseline: Baseline = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for page and figures.", show_default="that of the results")
    ] = None,
    figures: FigureFiles = Figures.svg,
    band: Annotated[
        str, typer.Option(help="Bands: interval of the mean, spread of the runs, or none.", metavar="BAND")
    ] = "interval",
) -> None:
    """Write an HTML page with figures, tables and verdicts that works offline."""
    from lowregret.cli.progress import progress_bar
    from lowregret.experiments.stored_results import open_results

    results = open_results(folder)
    with progress_bar("computing statistics") as progress:
        page, *files = results.report(
            out or folder, baseline, figures=figures.value, band=band, progress=progress
        )
    print(f"wrote {page}")
    if files:
        print(f"wrote {count(len(files), 'figure')} to {page.parent / 'figures'}")
