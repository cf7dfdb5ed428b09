"""``lowregret reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret.cli.printing import console

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lowregret.reproduction import Findings


def reproduce(
    experiment: Annotated[int | None, typer.Option(help="1, 2, 3 or 4.", show_default="all")] = None,
    runs: Annotated[int, typer.Option(help="How many independent runs.")] = 100,
    seed: Annotated[int, typer.Option(help="What the rewards are drawn from.")] = 1,
    out: Annotated[
        Path, typer.Option(help="Folder for the runs, which are used again, and the numbers.")
    ] = Path("reproduction"),
) -> None:
    """Play the EUCBV paper's experiments in three readings and account for its figures and claims."""
    from lowregret.report.progress import shard_bar
    from lowregret.reproduction import find, play, prepare, write

    prepare(out, experiment, runs, seed)
    findings = find(play(out, experiment, runs, seed, shard_bar))
    _show(findings)
    for path in write(out, findings):
        print(f"wrote {path}")


def _show(findings: Findings) -> None:
    """Print the readings, the accounting of the published curves, and the claims."""
    from lowregret.analysis.readings import MATCHED, side_by_side
    from lowregret.experiments.paper import PAPER

    wide = side_by_side(findings.readings)
    for experiment in PAPER:
        rows = wide.filter(experiment=experiment.number).to_dicts()
        if rows:
            console().print(f"Experiment {experiment.number}: {experiment.title}", style="bold")
            _table({**row, "name": row["policy"]} for row in rows)
    _matches(findings)
    matched = findings.matches.filter(verdict=MATCHED).height
    console().print(f"{matched} of {findings.matches.height} published curves are matched.\n")
    _claims(findings)


def _table(rows: Iterable[Mapping[str, object]]) -> None:
    from lowregret.report.tables import shown, text_table

    def regret(row: Mapping[str, object], name: str) -> str:
        mean, error = row[name], row[f"{name}_se"]
        return "-" if mean is None else f"{shown(mean)} ({shown(error)})"  # type: ignore[arg-type]

    laid = [
        {
            "policy": str(row["name"]),
            "published": shown(row["published"]),  # type: ignore[arg-type]
            "as plotted (se)": regret(row, "plotted"),
            "as printed (se)": regret(row, "printed"),
            "released width (se)": regret(row, "released"),
            "optimal arm eliminated, as printed": shown(row["optimal_arm_eliminated"]),  # type: ignore[arg-type]
        }
        for row in rows
    ]
    console().print(text_table(laid))


def _matches(findings: Findings) -> None:
    from lowregret.report.tables import shown, text_table

    rows = [
        {
            "curve": f"{row['experiment']}, {row['policy']}",
            "plays": "-" if row["plays"] is None else f"{row['plays']} on {row['environment']}",
            "published": shown(row["published"]),
            "ours (se)": "-" if row["mean"] is None else f"{shown(row['mean'])} ({shown(row['se'])})",
            "errors": "-" if row["errors"] is None else f"{row['errors']:+.1f}",
            "percent": "-" if row["percent"] is None else f"{row['percent']:+.1f}",
            "verdict": row["verdict"],
        }
        for row in findings.matches.to_dicts()
    ]
    console().print("The published curves at the horizon", style="bold")
    console().print(text_table(rows))


def _claims(findings: Findings) -> None:
    from lowregret.report.tables import text_table

    rows = [
        {
            "claim": f"{row['place']}: {row['quote']}",
            "less regret": row["better"],
            "than": row["worse"] or "-",
            "in": row["experiments"],
            "holds": f"{row['holding']} of {row['holding'] + row['failing'] + row['open']}",
            "as printed": row["verdict"],
        }
        for row in findings.claims.to_dicts()
    ]
    if rows:
        console().print("What becomes of the paper's claims, as printed", style="bold")
        console().print(text_table(rows))
