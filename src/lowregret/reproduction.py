"""The paper's experiments, played and written up: what ``lowregret reproduce`` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lowregret.environments.checks import whole
from lowregret.errors import InputError
from lowregret.experiments.paper import INTRODUCTION, PaperExperiment
from lowregret.report.figures import regret_chart, save
from lowregret.report.page import page
from lowregret.report.parts import Part, Picture, Section, Table, Text
from lowregret.report.tables import shown
from lowregret.simulation import Result, simulate

TITLE = "The EUCBV paper, as printed"


@dataclass(frozen=True)
class Finding:
    """An experiment with what it gave.

    Examples
    --------
    >>> from lowregret.experiments.paper import PAPER
    >>> from lowregret.reproduction import play
    >>> finding = play(PAPER[0], runs=1)
    >>> finding.table().filter(policy="Uniform").select("mean", "published").row(0)
    (1710.0, None)
    """

    experiment: PaperExperiment
    result: Result

    @property
    def title(self) -> str:
        """The heading: number and title."""
        return f"Experiment {self.experiment.number}: {self.experiment.title}"

    @property
    def facts(self) -> str:
        """The size of the testbed and of the simulation, in one line."""
        bandit, result = self.result.bandit, self.result
        return f"{len(bandit)} arms, horizon {result.horizon:,}, {result.runs:,} runs, seed {result.seed}"

    def table(self) -> pl.DataFrame:
        """Give the summary of the final regrets, with the published ones beside them."""
        summary = self.result.summary()
        published = [self.experiment.published.get(policy) for policy in summary["policy"]]
        return summary.with_columns(published=pl.Series(published, dtype=pl.Float64))


def prepare(folder: Path, runs: int) -> None:
    """Refuse bad input before any work: make the folder, and check that it takes files."""
    whole("reproduce", "runs", runs)
    with _writing(folder):
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        for place in (folder, folder / "figures"):
            probe = place / ".lowregret"
            probe.touch()
            probe.unlink()


def play(
    experiment: PaperExperiment,
    runs: int = 100,
    seed: int = 1,
    progress: Callable[[str, int], None] | None = None,
) -> Finding:
    """Simulate one experiment."""
    return Finding(
        experiment,
        simulate(experiment.policies, experiment.environment, runs=runs, seed=seed, progress=progress),
    )


def write(folder: Path, findings: Sequence[Finding]) -> list[Path]:
    """Write the page, the figures and the numbers; give the paths of the files."""
    sections, files = [], [folder / "report.html", folder / "results.csv"]
    with _writing(folder):
        for finding in findings:
            curve, number = finding.result.curve(), finding.experiment.number
            for suffix in ("svg", "png"):
                files.append(folder / "figures" / f"experiment-{number}.{suffix}")
                save(regret_chart(curve, finding.title), files[-1])
            chart = regret_chart(curve, "")  # the page has the title above it
            picture = Picture({"": chart}, "Cumulative regret over time")
            parts: list[Part] = [
                Text(finding.facts, "facts"),
                picture,
                _numbers(finding),
                Text(finding.experiment.note),
            ]
            sections.append(Section(finding.title, parts))
        files[0].write_text(page(TITLE, INTRODUCTION, sections), encoding="utf-8")
        pl.concat([_rows(finding) for finding in findings]).write_csv(files[1])
    return files


def _numbers(finding: Finding) -> Table:
    """Lay out the numbers of one experiment for the page."""
    heads = ("policy", "mean regret (se)", "5% to 95%", "optimal arm eliminated (runs)", "published")
    rows = [
        (
            row["policy"],
            f"{shown(row['mean'])} ({shown(row['se'])})",
            f"{shown(row['p05'])} to {shown(row['p95'])}",
            shown(row["optimal_arm_eliminated"]),
            "-" if row["published"] is None else f"{row['published']:,.2f}",
        )
        for row in finding.table().to_dicts()
    ]
    return Table(heads, rows)


def _rows(finding: Finding) -> pl.DataFrame:
    """Lay out the numbers of one experiment; no times, so that a seed always gives the same file."""
    result = finding.result
    size = {
        "environment": result.bandit.name,
        "horizon": result.horizon,
        "runs": result.runs,
        "seed": result.seed,
    }
    columns = [
        pl.lit(value).alias(name) for name, value in {"experiment": finding.experiment.number, **size}.items()
    ]
    return finding.table().drop("ns_per_step").select(*columns, pl.all())


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"reproduce: cannot write to {str(folder)!r}: {error.strerror or error}") from None
