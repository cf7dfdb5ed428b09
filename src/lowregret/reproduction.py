"""The paper's experiments, run and accounted for: what ``lowregret reproduce`` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lowregret.analysis.claims import claims, comparisons
from lowregret.analysis.readings import curve_points, matches, readings
from lowregret.analysis.tables import Tables, join
from lowregret.environments.checks import whole
from lowregret.experiments.files import write_whole, writing
from lowregret.experiments.paper import experiments
from lowregret.experiments.run import Progress

RESULTS = "results"
"""The folder, within that of the reproduction, which keeps the runs of every testbed."""

Bar = Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]]
"""Gives, for the name of a testbed, a context with what is told how far its runs are."""


@dataclass(frozen=True)
class Findings:
    """What the runs say of the paper, as tables.

    Attributes
    ----------
    readings : polars.DataFrame
        The final regrets as printed, with the released width and as plotted, beside the published ones.
    matches : polars.DataFrame
        Whether each published curve is accounted for.
    points : polars.DataFrame
        The same curves at the published times.
    claims : polars.DataFrame
        What becomes of the paper's claims.
    comparisons : polars.DataFrame
        The paired comparisons that the claims rest on.

    Examples
    --------
    >>> from lowregret.experiments.paper import experiments
    >>> from lowregret.reproduction import find
    >>> findings = find(experiments(4, runs=2)[1].run())
    >>> findings.matches.filter(policy="EUCBV").select("published", "mean", "verdict").row(0)
    (971.86, 971.86, 'matched')
    """

    readings: pl.DataFrame
    matches: pl.DataFrame
    points: pl.DataFrame
    claims: pl.DataFrame
    comparisons: pl.DataFrame


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


def find(tables: Tables) -> Findings:
    """Account for the published curves and the claims."""
    return Findings(
        readings(tables), matches(tables), curve_points(tables), claims(tables), comparisons(tables)
    )


def write(folder: Path, findings: Findings) -> list[Path]:
    """Write the tables as CSV files, and all of them as one JSON file; give the paths.

    They hold no times, so that a seed always gives the same files.
    """
    files = []
    tables = {name: getattr(findings, name) for name in Findings.__dataclass_fields__}
    with writing(folder):
        for name, table in tables.items():
            files.append(folder / f"{name}.csv")
            write_whole(files[-1], table.write_csv().encode())
        files.append(folder / "reproduction.json")
        text = json.dumps(
            {name: table.to_dicts() for name, table in tables.items()}, indent=1, allow_nan=False
        )
        write_whole(files[-1], (text + "\n").encode())
    return files
