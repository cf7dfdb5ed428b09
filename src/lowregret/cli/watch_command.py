"""``lowregret watch``: the results of an experiment while it runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated
from warnings import catch_warnings, simplefilter

import typer

from lowregret.cli.options import Baseline, ResultsFolder
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.results import Results


def watch(
    folder: ResultsFolder,
    baseline: Baseline = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page.", show_default="that of the results")
    ] = None,
    every: Annotated[int, typer.Option(help="Seconds between two looks at the folder.")] = 10,
) -> None:
    """Write the page of `report` again whenever more runs are done, until all are.

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
    from lowregret.experiments.stored_results import open_results

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
