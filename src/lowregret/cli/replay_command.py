"""``lowregret replay``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.printing import console, print_json, print_notes
from lowregret.cli.simulate_command import EVERY

if TYPE_CHECKING:
    from lowregret.offline.replay import Replay


def replay(
    log: Annotated[
        Path,
        typer.Argument(help="A .csv or .parquet file with columns arm, reward and optionally propensity."),
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
        int | None,
        typer.Option(help="Number of matched rows after which to stop.", show_default="the expected number"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    resamples: Annotated[int, typer.Option(help="Number of resamples of the log; 0 for no intervals.")] = 200,
    clip: Annotated[
        bool, typer.Option("--clip", help="Clip rewards to [0, 1] for the policies that require it.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Estimate the mean reward of policies from a log of another policy."""
    from lowregret.cli.progress import progress_bar
    from lowregret.offline.replay import replay as run

    with progress_bar(resamples + 1) as progress:
        result = run(log, policy or EVERY, horizon, seed, resamples=resamples, clip=clip, progress=progress)
    if json:
        print_json(result.to_dict())
    else:
        _print_result(result)


def _print_result(result: Replay) -> None:
    from lowregret.cli.terminal_tables import replay_table

    console().print(replay_table(result.summary()))
    log = result.log
    kind = "with propensities" if log.given else "assumed uniform"
    size = f"{len(log.arm):,} rows, {len(log.arms):,} arms, {kind}"
    setting = f"horizon {result.horizon:,}, seed {result.seed}"
    console().print(f"{log.name}: {size}, {setting}", soft_wrap=True)
    if not log.used.all():
        rows = count(int((~log.used).sum()), "row")
        console().print(f"{rows} of propensity 1 not used: no other arm could be chosen", soft_wrap=True)
    print_notes(result.notes)
