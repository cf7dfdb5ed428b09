"""``lowregret compare``, ``lowregret report`` and ``lowregret watch``: the results of an experiment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated
from warnings import catch_warnings, simplefilter

import typer

from lowregret._common.text import count
from lowregret.cli.options import Baseline, Explain, FigureFiles, Figures, Json, ResultsFolder
from lowregret.cli.printing import print_json
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.results import Results


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
    """Compare the regret of policies in pairs, with verdicts."""
    from lowregret.experiments.store import open_results
    from lowregret.reporting.comparison_text import command_text

    if other is not None and baseline is not None:
        raise InputError(f"compare: use either a second folder or --baseline, got {baseline!r}")
    against = baseline if other is None else open_results(other)
    comparison = open_results(folder).compare(against, all=True)
    if json:
        print_json({"comparisons": comparison.to_dicts()})
    else:
        print(command_text(comparison, explain, verbose))


def report(
    folders: Annotated[list[Path], typer.Argument(help="The folders of experiments, on one page.")],
    baseline: Baseline = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for page and figures.", show_default="the first of the results"),
    ] = None,
    figures: FigureFiles = Figures.svg,
    band: Annotated[
        str, typer.Option(help="Bands: interval of the mean, spread of the runs, or none.", metavar="<band>")
    ] = "interval",
) -> None:
    """Write an HTML page of figures, tables and verdicts. It works offline."""
    from lowregret.cli.progress import progress_bar
    from lowregret.experiments.store import open_results
    from lowregret.results import join

    folder, *others = folders
    results = open_results(folder)
    if others:
        parts = [results, *map(open_results, others)]
        results = join(", ".join(part.name for part in parts), parts)
    with progress_bar("computing statistics") as progress:
        page, *files = results.report(
            out or folder, baseline, figures=figures.value, band=band, progress=progress
        )
    print(f"wrote {page}")
    if files:
        print(f"wrote {count(len(files), 'figure')} to {page.parent / 'figures'}")


def watch(
    folder: ResultsFolder,
    baseline: Baseline = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page.", show_default="the folder of the results")
    ] = None,
    every: Annotated[int, typer.Option(help="Seconds between two looks at the folder.")] = 10,
) -> None:
    """Write the page of `report` again until all runs are done.

    A browser that shows the page loads it again by itself. Figures are written by `report` alone.
    """
    from lowregret.reporting.experiment_report import write_report

    if every < 1:
        raise InputError(f"watch: every must be an integer of at least 1, got {every}")
    last = None
    while True:
        results = _open_results(folder)
        runs = None if results is None else len(results.finals)
        if results is None and last is None:
            print(f"no results in {folder} yet: waiting for `lowregret run`, Ctrl-C to stop", flush=True)
        if results is not None and (runs, results.planned_runs) != last:
            refresh = None if results.planned_runs is None else every
            page, *_ = write_report(results, out or folder, baseline, figures="none", refresh=refresh)
            print(f"{_progress_text(results)}: wrote {page}", flush=True)
            if refresh is None:
                return
        last = (runs, results.planned_runs) if results is not None else (None, None)
        sleep(every)


def _open_results(folder: Path) -> Results | None:
    """Open what is there; None where that is nothing yet."""
    from lowregret.experiments.store import open_results

    if folder.exists() and not folder.is_dir():
        raise InputError(f"watch: {str(folder)!r} is not a folder")
    with catch_warnings(), suppress(InputError):
        simplefilter("ignore")
        return open_results(folder)
    return None


def _progress_text(results: Results) -> str:
    runs = len(results.finals)
    if results.planned_runs is None:
        return f"all {runs:,} runs are done"
    return f"{runs:,} of {results.planned_runs:,} runs ({runs / results.planned_runs:.0%})"
