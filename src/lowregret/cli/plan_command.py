"""``lowregret plan``: compare policies and a fixed split before an experiment begins."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from lowregret.cli.options import Explain, Json, Threads, integer_option, policies_option
from lowregret.cli.printing import print_json

Lift = Annotated[
    float, typer.Option(help="Smallest relative difference that matters: 0.1 for 5.5% against 5%.")
]
Visitors = Annotated[int, integer_option("Visitors a day, such as 20000.")]
Mean = Annotated[
    float | None, typer.Option(help="Expected reward of a visitor, instead of a rate; needs --sd.")
]
Spread = Annotated[
    float | None,
    typer.Option(
        help="Standard deviation of the options' rates, divided by their mean.", show_default="the lift"
    ),
]
Rhythm = Annotated[
    str | None,
    typer.Option(
        metavar="<days>",
        help="Days on which all options do better: weekend=1.3, trend=0.5,1.5, 5=3 for three times as much "
        "on day 5, file=factors.csv; several are separated by ;",
        show_default="all days alike",
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        help="A policy, such as EUCBV. May be given several times.",
        metavar="<policy>",
        show_default="those that suit the reward",
    ),
]
Runs = Annotated[int, integer_option("Number of runs.")]
Prior = Annotated[
    int | None, typer.Option(help="Say what a prior worth so many pulls of each option gains or costs.")
]
Folder = Annotated[Path | None, typer.Option(help="Folder for a page with charts.", show_default="no page")]


def plan(
    options: Annotated[int, typer.Option(help="Number of options, the present one included.")],
    lift: Lift,
    visitors: Visitors,
    days: Annotated[int, typer.Option(help="Number of days.")],
    rate: Annotated[float | None, typer.Option(help="Expected conversion rate; or use --mean.")] = None,
    mean: Mean = None,
    sd: Annotated[float | None, typer.Option(help="Standard deviation of the reward of a visitor.")] = None,
    sale: Annotated[
        float | None, typer.Option(help="Mean of a sale, for revenue; needs --rate and --sale-sd.")
    ] = None,
    sale_sd: Annotated[float | None, typer.Option(help="Standard deviation of a sale.")] = None,
    delay_days: Annotated[
        float, typer.Option(help="Days after which the reward of a visitor is known.")
    ] = 0.0,
    spread: Spread = None,
    rhythm: Rhythm = None,
    prior: Prior = None,
    policy: Policies = None,
    runs: Runs = 100,
    alpha: Annotated[float, typer.Option(help="Level of the two-sided test of the fixed split.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of options and rewards.")] = 0,
    threads: Threads = None,
    out: Folder = None,
    explain: Explain = False,
    json: Json = False,
) -> None:
    """Compare policies and a fixed split on the traffic you expect."""
    from lowregret.cli.progress import progress_bar
    from lowregret.planning.plan import plan as make
    from lowregret.planning.plan import plan_text

    if out is not None:
        import_module("lowregret.reporting.plots_extra")  # refuses before the runs
    with progress_bar(keeps_results=False) as progress:
        result = make(
            options=options,
            rate=rate,
            mean=mean,
            sd=sd,
            sale=sale,
            sale_sd=sale_sd,
            lift=lift,
            visitors=visitors,
            days=days,
            delay_days=delay_days,
            spread=spread,
            rhythm=rhythm,
            policies=policies_option(policy) if policy else None,
            runs=runs,
            alpha=alpha,
            seed=seed,
            threads=threads,
            progress=progress,
            prior=prior,
        )
    files = [] if out is None else result.report(out)
    if json:
        print_json(result.to_dict())
        return
    print(plan_text(result, explain))
    if files:
        print(f"wrote the page {files[0]}")
