"""``lowregret simulate``: simulate policies, and print their regret."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from lowregret.cli import options
from lowregret.cli.printing import print_json


def simulate(
    environment: options.Environment,
    policy: options.Policies = None,
    horizon: options.Horizon = None,
    runs: options.Runs = 100,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    clip: options.Clip = False,
    record_rewards: Annotated[
        bool, typer.Option("--record-rewards", help="Also print the realised regret, from the rewards.")
    ] = False,
    delay: Annotated[
        str,
        typer.Option(
            metavar="<delay>",
            help="How many decisions later a reward is known: a number, geometric(mean=50), "
            "lognormal(median=50, sigma=1), empirical('delays.csv'), constant(500, lost=0.1) or "
            "by_reward(positive=20, other=1000).",
        ),
    ] = "0",
    batch: Annotated[int, options.integer_option("Number of decisions made at once.")] = 1,
    period: Annotated[
        int | None,
        options.integer_option("Decisions in a period, such as a day; means are adjusted for it."),
    ] = None,
    engine: options.Engine = "compiled",
    json: options.Json = False,
) -> None:
    """Simulate policies on an environment and print their regret."""
    from lowregret.cli.progress import progress_bar
    from lowregret.reporting.regret_text import results_text
    from lowregret.simulation import simulate as run

    with progress_bar(keeps_results=False) as progress:
        results = run(
            policy or options.DEFAULT_POLICIES,
            environment,
            horizon,
            runs,
            seed,
            clip=clip,
            threads=threads,
            progress=progress,
            record_rewards=record_rewards,
            delay=delay,
            batch=batch,
            period=period,
            engine=cast(Any, engine),
        )
    if json:
        print_json(results.to_dict())
    else:
        print(results_text(results, times=True))
