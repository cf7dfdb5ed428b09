"""``lowregret simulate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.options import integer_option, policies_option
from lowregret.cli.printing import console, print_json, print_notes

if TYPE_CHECKING:
    from lowregret.results import Results

EVERY = ("EUCBV", "MOSSV", "MOSS", "UCB1", "RoundRobin")
"""The policies that are simulated by default."""


def simulate(
    environment: Annotated[
        str,
        typer.Option(
            "--environment",
            "-e",
            help="paper-1 to paper-4, a family such as bernoulli:0.1,0.2*3, or a TOML file.",
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            help="A policy, such as EUCBV, 'UCB1(alpha=1)' or module:Class. May be given several times.",
            metavar="<policy>",
            show_default=", ".join(EVERY),
        ),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            parser=integer_option,
            metavar="INTEGER",
            help="Number of pulls in a run, such as 10000 or 1e4.",
            show_default="that of the environment",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option(parser=integer_option, metavar="INTEGER", help="Number of independent runs.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Seed of rewards and policies.")] = 0,
    threads: Annotated[
        int | None,
        typer.Option(help="Number of threads.", show_default="one per core"),
    ] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="Clip rewards to [0, 1] for the policies that require it.")
    ] = False,
    record_rewards: Annotated[
        bool, typer.Option("--record-rewards", help="Also print the realised regret, from the rewards.")
    ] = False,
    delay: Annotated[
        str,
        typer.Option(
            metavar="<delay>",
            help="How many decisions later a reward is known: a number, geometric(mean=50), "
            "lognormal(median=50, sigma=1), empirical('delays.csv') or by_reward(positive=20, other=1000).",
        ),
    ] = "0",
    batch: Annotated[
        int, typer.Option(parser=integer_option, metavar="INTEGER", help="Number of decisions made at once.")
    ] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Simulate policies on an environment and print their regret."""
    from lowregret.cli.progress import progress_bar
    from lowregret.simulation import simulate as run

    with progress_bar(runs) as progress:
        results = run(
            policies_option(policy or EVERY),
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
        )
    if json:
        print_json(results.to_dict())
    else:
        _print_results(results)


def _print_results(results: Results) -> None:
    import polars as pl

    from lowregret.cli.terminal_tables import regret_table

    steps = results.runs * results.horizon
    times = [1e9 * (results[policy].seconds or 0.0) / steps for policy in results.policies]
    console().print(regret_table(results.summary().with_columns(ns_per_step=pl.Series(times))))
    size = f"horizon {results.horizon:,}, {count(results.runs, 'run')}, seed {results.seed}"
    console().print(", ".join([results.name, size, *results.lateness.values()]), soft_wrap=True)
    print_notes(results.notes)
