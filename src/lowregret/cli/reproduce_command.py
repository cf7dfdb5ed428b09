"""``lowregret reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowregret.cli.printing import console

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lowregret.reproduction.page_sections import Account


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
    from lowregret.reproduction.reproduce import find, play, prepare, write

    prepare(out, experiment, runs, seed)
    account = find(play(out, experiment, runs, seed, shard_bar))
    _show(account)
    page, *files = write(out, account)
    print(f"wrote the page {page}")
    for path in files:
        if path.parent == out:
            print(f"wrote {path}")
    print(f"wrote {sum(path.parent != out for path in files)} figures to {out / 'figures'}")


def _show(account: Account) -> None:
    """Print the readings, the accounting of the published curves, and the claims."""
    from lowregret.reproduction.curve_matches import MATCHED, side_by_side
    from lowregret.reproduction.paper_experiments import PAPER

    wide = side_by_side(account.readings)
    for experiment in PAPER:
        rows = wide.filter(experiment=experiment.number).to_dicts()
        if rows:
            console().print(f"Experiment {experiment.number}: {experiment.title}", style="bold")
            _readings(rows)
    _matches(account)
    matched = account.matches.filter(verdict=MATCHED).height
    console().print(f"{matched} of {account.matches.height} published curves are matched.\n")
    _claims(account)


def _readings(rows: Sequence[Mapping[str, Any]]) -> None:
    from lowregret.report.terminal_tables import shown, text_table

    def regret(row: Mapping[str, Any], name: str) -> str:
        return "-" if row[name] is None else f"{shown(row[name])} ({shown(row[f'{name}_se'])})"

    laid = [
        {
            "policy": row["policy"],
            "published": shown(row["published"]),
            "as plotted (se)": regret(row, "plotted"),
            "as printed (se)": regret(row, "printed"),
            "released width (se)": regret(row, "released"),
            "optimal arm eliminated, as printed": shown(row["optimal_arm_eliminated"]),
        }
        for row in rows
    ]
    console().print(text_table(laid))


def _matches(account: Account) -> None:
    from lowregret.report.terminal_tables import shown, text_table

    rows = [
        {
            "curve": f"{row['experiment']}, {row['policy']}",
            "plays": "-" if row["plays"] is None else f"{row['plays']} on {row['environment']}",
            "published": shown(row["published"]),
            "ours (se)": "-" if row["mean"] is None else f"{shown(row['mean'])} ({shown(row['se'])})",
            "errors": _signed(row["errors"]),
            "percent": _signed(row["percent"]),
            "verdict": row["verdict"],
        }
        for row in account.matches.to_dicts()
    ]
    console().print("The published curves at the horizon", style="bold")
    console().print(text_table(rows))


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{round(value, 1) + 0.0:+.1f}"  # no minus before a 0


def _claims(account: Account) -> None:
    from lowregret.report.terminal_tables import text_table
    from lowregret.reproduction.page_tables import difference_words

    comparisons = account.comparisons
    rows = [
        {
            "claim": f"{row['place']}: {row['quote']}",
            "less regret": row["better"],
            "than": row["worse"] or "-",
            "in": row["experiments"],
            "difference (95% interval)": difference_words(comparisons.filter(claim=row["claim"]).to_dicts()),
            "as printed": row["verdict"],
        }
        for row in account.claims.to_dicts()
    ]
    if rows:
        console().print("What becomes of the paper's claims, as printed", style="bold")
        console().print(text_table(rows))
