"""Running the experiments of the paper, and writing the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from lowregret._common.durable_files import as_store_error, write_atomically
from lowregret.experiments.run import Progress
from lowregret.reporting.page import page, save_pictures
from lowregret.reproduction.evaluation import Evaluation
from lowregret.reproduction.readings import experiments_to_run
from lowregret.reproduction.report_sections import page_sections
from lowregret.reproduction.report_text import INTRODUCTION, TITLE
from lowregret.results import Results, join

ProgressBar = Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]]
"""Takes the name of a testbed; returns a context whose value is called with the progress of its runs."""


def run_experiments(
    folder: Path,
    number: int | None = None,
    runs: int = 100,
    seed: int = 1,
    progress_bar: ProgressBar | None = None,
) -> Results:
    """Simulate one experiment of the paper, or all, in the three readings.

    Results are stored in the subfolder ``results`` of the folder. Stored results are not simulated again. A
    ``progress_bar`` is such as `lowregret.cli.progress.shard_bar`.
    """
    parts = []
    for experiment in experiments_to_run(number, runs, seed):
        with (progress_bar or (lambda _: nullcontext()))(experiment.name) as progress:
            parts.append(experiment.run(folder / "results" / experiment.name, progress=progress))
    return join("The EUCBV paper", parts)


def write_files(folder: Path, evaluation: Evaluation) -> list[Path]:
    """Write the page, its figures, and the tables as CSV files and as one JSON file; return their paths.

    The files contain no times of day, so equal results give equal files.
    """
    tables, sections = evaluation.tables(), page_sections(evaluation)
    figures, report = folder / "figures", folder / "report.html"
    with as_store_error(folder):
        figures.mkdir(exist_ok=True)
        write_atomically(report, page(TITLE, INTRODUCTION, sections).encode())
        files = [report, *save_pictures(sections, figures, ("svg", "png"))]
        for name, table in tables.items():
            files.append(folder / f"{name}.csv")
            write_atomically(files[-1], table.write_csv().encode())
        files.append(folder / "reproduction.json")
        data = {name: table.to_dicts() for name, table in tables.items()}
        write_atomically(files[-1], (json.dumps(data, indent=1, allow_nan=False) + "\n").encode())
    return files
