"""``lowregret replay``: estimate the reward of policies from a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lowregret.cli.options import DEFAULT_POLICIES, Clip, Json, Policies, integer_option
from lowregret.cli.printing import print_json


def replay(
    log: Annotated[
        Path,
        typer.Argument(help="A .csv or .parquet file with columns arm, reward and optionally propensity."),
    ],
    policy: Policies = None,
    horizon: Annotated[
        int | None,
        integer_option("Number of matched rows after which to stop.", show_default="the expected number"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    resamples: Annotated[int, typer.Option(help="Number of resamples of the log; 0 for no intervals.")] = 200,
    clip: Clip = False,
    json: Json = False,
) -> None:
    """Estimate the reward of policies from a log of another policy."""
    from lowregret.cli.progress import progress_bar
    from lowregret.offline.replay import replay as run

    with progress_bar(keeps_results=False) as progress:
        players = policy or DEFAULT_POLICIES
        result = run(log, players, horizon, seed, resamples=resamples, clip=clip, progress=progress)
    if json:
        print_json(result.to_dict())
    else:
        print(result)
