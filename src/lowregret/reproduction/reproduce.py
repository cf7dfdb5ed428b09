"""Running the experiments of the paper, and writing the report."""

import json
from pathlib import Path

from lowregret._common.progress import Progress, Report, ignore, reporting
from lowregret.experiments.run import run_all
from lowregret.reporting.experiment_report import FIGURES
from lowregret.reporting.page import write_page
from lowregret.reproduction.evaluation import Evaluation, evaluate
from lowregret.reproduction.interpretations import experiments_to_run
from lowregret.reproduction.report_sections import INTRODUCTION, TITLE, page_sections
from lowregret.results import Results, join

FIGURES_SHARE = 0.06
"""The share of evaluation and figures in the whole work, where all runs are to be made."""


def reproduce(
    folder: Path,
    number: int | None = None,
    runs: int = 100,
    seed: int = 0,
    figures: str = "svg",
    progress: bool | Report = False,
) -> tuple[Evaluation, list[Path]]:
    """Simulate, evaluate and report on one experiment of the paper, or on all."""
    with reporting(progress) as report:
        runs_share = 0.0  # if no run is missing, the figures are all the work

        def advance(now: Progress) -> None:
            nonlocal runs_share
            runs_share = 1.0 - FIGURES_SHARE if now.total else 0.0
            report(now._replace(what="paper", share=runs_share * now.share))

        evaluation = evaluate(run_experiments(folder, number, runs, seed, advance))
        phases: list[str] = []  # charts of the page, then files of figures

        def advance_page(now: Progress) -> None:
            phases.extend([now.what] * (now.what not in phases))
            page_share = (len(phases) - 1 + now.share) / (2 if FIGURES[figures] else 1)
            report(now._replace(share=runs_share + (1.0 - runs_share) * page_share))

        return evaluation, write_files(folder, evaluation, figures, advance_page)


def run_experiments(
    folder: Path,
    number: int | None = None,
    runs: int = 100,
    seed: int = 0,
    report: Report = ignore,
) -> Results:
    """Simulate one experiment of the paper, or all, in the three readings."""
    experiments = experiments_to_run(number, runs, seed)
    folders = {folder / "results" / experiment.name: experiment for experiment in experiments}
    return join("The EUCBV paper", run_all(folders, report))


def write_files(
    folder: Path,
    evaluation: Evaluation,
    figures: str = "svg",
    report: Report = ignore,
) -> list[Path]:
    """Write the page, its figures, and the tables as CSV files and as one JSON file; return their paths."""
    tables = evaluation.tables()
    data = {name: table.to_dicts() for name, table in tables.items()}
    files = {f"{name}.csv": table.write_csv() for name, table in tables.items()}
    files["reproduction.json"] = json.dumps(data, indent=1, allow_nan=False) + "\n"
    path, sections = folder / "report.html", page_sections(evaluation)
    formats = FIGURES[figures]
    return write_page(path, TITLE, INTRODUCTION, sections, formats=formats, files=files, report=report)
