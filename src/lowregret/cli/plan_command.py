"""``lowregret plan``."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret.cli.options import integer_option, policies_option
from lowregret.cli.printing import console, print_json

if TYPE_CHECKING:
    from lowregret.planning.plan import Plan


def plan(
    options: Annotated[int, typer.Option(help="Number of options, the present one included.")],
    lift: Annotated[
        float, typer.Option(help="Smallest relative difference that matters: 0.1 for 5.5% against 5%.")
    ],
    visitors: Annotated[
        int, typer.Option(parser=integer_option, metavar="INTEGER", help="Visitors a day, such as 20000.")
    ],
    days: Annotated[int, typer.Option(help="Number of days.")],
    rate: Annotated[float | None, typer.Option(help="Expected conversion rate, between 0 and 1.")] = None,
    mean: Annotated[
        float | None, typer.Option(help="Expected reward of a visitor, in place of a rate; needs --sd.")
    ] = None,
    sd: Annotated[float | None, typer.Option(help="Standard deviation of the reward of a visitor.")] = None,
    delay_days: Annotated[
        float, typer.Option(help="Days after which the reward of a visitor is known.")
    ] = 0.0,
    spread: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the options' rates, divided by their mean.", show_default="the lift"
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            help="A policy, such as EUCBV. May be given several times.",
            metavar="<policy>",
            show_default="those that suit the reward",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option(parser=integer_option, metavar="INTEGER", help="Number of runs.")
    ] = 100,
    alpha: Annotated[float, typer.Option(help="Level of the two-sided test of the fixed split.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed.")] = 0,
    threads: Annotated[
        int | None, typer.Option(help="Number of threads.", show_default="one per core")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for a page with charts.", show_default="no page")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Plan an experiment: compare policies and a fixed split on the traffic it will have."""
    from lowregret.cli.progress import progress_bar
    from lowregret.planning.plan import plan as make

    with progress_bar(runs) as progress:
        found = make(
            options=options,
            rate=rate,
            mean=mean,
            sd=sd,
            lift=lift,
            visitors=visitors,
            days=days,
            delay_days=delay_days,
            spread=spread,
            policies=policies_option(policy) if policy else None,
            runs=runs,
            alpha=alpha,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    files = [] if out is None else found.report(out)
    if json:
        print_json(found.to_dict())
        return
    _print(found)
    if files:
        print(f"wrote the page {files[0]}")


def _print(found: Plan) -> None:
    from lowregret.cli.terminal_tables import text_table
    from lowregret.reporting.number_format import shown

    unit, terminal = found.given.unit, console()
    rows = [
        {
            "policy": row["policy"],
            f"{unit} lost": f"{shown(row['loss'])} ({shown(row['se'])})",
            "95%": shown(row["p95"]),
            "worst 5%": shown(row["worst05"]),
            "of all": f"{row['loss_share']:.2%}",
            "best leads": f"{row['best_leads']:.0%}",
            "good leads": f"{row['good_leads']:.0%}",
            "days to 80%": "-" if row["days_to_80"] is None else f"{row['days_to_80']:.0f}",
        }
        for row in found.table.to_dicts()
    ]
    terminal.print(text_table(rows))
    terminal.print(
        f"fixed split: power {found.power:.0%}, {found.days_needed:,.1f} days for 80%", soft_wrap=True
    )
    terminal.print(f"Use {found.recommended}: {found.reason}", soft_wrap=True)
    terminal.print(f"\n{indent(found.code, '    ')}\n", soft_wrap=True)
    terminal.print("Assumed:")
    for sentence in found.assumptions:
        terminal.print(f"- {sentence}", soft_wrap=True)
