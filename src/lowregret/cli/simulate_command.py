"""``lowregret simulate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lowregret.cli.printing import console

if TYPE_CHECKING:
    from lowregret.simulation import Result

EVERY = ("EUCBV", "UCB1", "MOSS", "RoundRobin")
"""What is simulated when no policy is named."""


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
            help="A policy, such as EUCBV or 'UCB1(alpha=1)'. May be given several times.",
            metavar="<policy>",
            show_default=", ".join(EVERY),
        ),
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(help="How many pulls a run has.", show_default="the environment's own")
    ] = None,
    runs: Annotated[int, typer.Option(help="How many independent runs.")] = 100,
    seed: Annotated[int, typer.Option(help="What the rewards are drawn from.")] = 0,
    threads: Annotated[
        int | None,
        typer.Option(help="How many threads share the runs.", show_default="one per core"),
    ] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="Clip rewards to [0, 1] for the policies that need that.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Simulate policies on an environment and print their regret."""
    from lowregret.report.progress import progress_bar
    from lowregret.simulation import simulate as run

    with progress_bar(runs) as progress:
        result = run(
            policy or EVERY, environment, horizon, runs, seed, clip=clip, threads=threads, progress=progress
        )
    if json:
        from json import dumps

        print(dumps(result.to_dict(), allow_nan=False))
    else:
        _print_result(result)


def _print_result(result: Result) -> None:
    from lowregret.report.terminal_tables import regret_table

    console().print(regret_table(result.summary()))
    size = f"horizon {result.horizon:,}, {result.runs:,} runs, seed {result.seed}"
    console().print(f"{result.bandit.name}, {size}", soft_wrap=True)
    for name, note in result.notes.items():
        if note:
            console().print(f"{name}: {note}", soft_wrap=True, markup=False)
