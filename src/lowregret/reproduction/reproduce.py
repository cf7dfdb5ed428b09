"""The paper's experiments, run and accounted for: what ``lowregret reproduce`` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import polars as pl

from lowregret.reproduction.claim_verdicts import claims, comparisons
from lowregret.reproduction.curve_matches import curve_points, matches, readings
from lowregret.results.tables import Tables, join
from lowregret.environments import paper
from lowregret._common.validation import whole
from lowregret.reproduction.proof_estimates import SCHEMA as CHANCES
from lowregret.reproduction.proof_estimates import elimination, lemma_3_estimates
from lowregret._common.durable_files import write_whole, writing
from lowregret.reproduction.paper_experiments import AS_PRINTED, experiments
from lowregret.experiments.run import Progress
from lowregret.theory.guarantees import bounds
from lowregret.report.page import page, save_pictures
from lowregret.reproduction.page_sections import Account, paper_sections
from lowregret.reproduction.page_text import INTRODUCTION, TITLE

RESULTS = "results"
"""The folder, within that of the reproduction, which keeps the runs of every testbed."""

DRAWS = 100_000
"""How often the event of Lemma 3 is drawn."""

Bar = Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]]
"""Gives, for the name of a testbed, a context with what is told how far its runs are."""


def prepare(folder: Path, number: int | None = None, runs: int = 100, seed: int = 1) -> None:
    """Refuse bad input before any work; make the folder, and check that it takes files."""
    whole("reproduce", "runs", runs)
    experiments(number, runs, seed)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".lowregret"
        probe.touch()
        probe.unlink()


def play(
    folder: Path, number: int | None = None, runs: int = 100, seed: int = 1, bar: Bar | None = None
) -> Tables:
    """Run what is not there yet of one experiment of the paper, or of all, and give the tables.

    Parameters
    ----------
    folder : path
        Where the runs are kept; what is there already is not run again.
    number : int, optional
        The experiment of the paper, 1 to 4; all four if not given.
    runs, seed : int, defaults 100 and 1
        How many independent runs, and what the rewards are drawn from.
    bar : callable, optional
        Gives a context with a progress for every testbed, such as `lowregret.report.progress.shard_bar`.
    """
    parts = []
    for experiment in experiments(number, runs, seed):
        with (bar or (lambda _: nullcontext()))(experiment.name) as progress:
            parts.append(experiment.run(folder / RESULTS / experiment.name, progress=progress))
    return join("The EUCBV paper", parts)


def find(tables: Tables) -> Account:
    """Account for the published curves and the claims.

    Examples
    --------
    >>> from lowregret.reproduction.paper_experiments import experiments
    >>> from lowregret.reproduction.reproduce import find
    >>> account = find(experiments(4, runs=2)[1].run())
    >>> account.matches.filter(policy="EUCBV").select("published", "mean", "verdict").row(0)
    (971.86, 971.86, 'matched')
    """
    read = readings(tables)
    numbers = read["experiment"].unique(maintain_order=True).to_list()
    said = [bounds(paper(number)).with_columns(experiment=pl.lit(number)) for number in numbers]
    return Account(
        tables,
        read,
        matches(tables),
        curve_points(tables),
        claims(tables),
        comparisons(tables),
        pl.concat(said).select("experiment", pl.exclude("experiment")),
        _chances(read, numbers),
    )


def _chances(read: pl.DataFrame, numbers: list[int]) -> pl.DataFrame:
    """Set the losses of the optimal arm as printed, and draws of the event of Lemma 3, beside bounds."""
    parts = []
    for number in numbers:
        bandit = paper(number)
        assert bandit.horizon is not None
        rows = []
        for row in read.filter(experiment=number, reading=AS_PRINTED, policy="EUCBV").to_dicts():
            seen = int(row["optimal_arm_eliminated"] or 0)
            rows.append(elimination(bandit, bandit.horizon, seen, row["runs"]))
        rows += lemma_3_estimates(bandit, bandit.horizon, DRAWS, seed=1)
        table = pl.DataFrame(rows, schema=CHANCES, orient="row")
        parts.append(table.select(pl.lit(number).alias("experiment"), pl.all()))
    return pl.concat(parts)


def write(folder: Path, account: Account) -> list[Path]:
    """Write the page, its figures, and the numbers as CSV files and as one JSON file; give the paths.

    They hold no times, so that a seed always gives the same files.
    """
    numbers, sections = account.numbers(), paper_sections(account)
    figures, report = folder / "figures", folder / "report.html"
    with writing(folder):
        figures.mkdir(exist_ok=True)
        write_whole(report, page(TITLE, INTRODUCTION, sections).encode())
        files = [report, *save_pictures(sections, figures, ("svg", "png"))]
        for name, table in numbers.items():
            files.append(folder / f"{name}.csv")
            write_whole(files[-1], table.write_csv().encode())
        files.append(folder / "reproduction.json")
        text = {name: table.to_dicts() for name, table in numbers.items()}
        write_whole(files[-1], (json.dumps(text, indent=1, allow_nan=False) + "\n").encode())
    return files
