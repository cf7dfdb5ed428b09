"""``lowregret replay``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.options import DEFAULT_POLICIES, Clip, Json, Policies, integer_option
from lowregret.cli.printing import print_json, print_notes, print_text

if TYPE_CHECKING:
    from lowregret.offline.replay import Replay


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

    with progress_bar(kept=False) as progress:
        players = policy or DEFAULT_POLICIES
        result = run(log, players, horizon, seed, resamples=resamples, clip=clip, progress=progress)
    if json:
        print_json(result.to_dict())
    else:
        _print_result(result)


def _print_result(result: Replay) -> None:
    from lowregret.cli.terminal_tables import replay_table

    print(replay_table(result.summary()))
    log = result.log
    kind = "with propensities" if log.given else "assumed uniform"
    size = f"{len(log.arm):,} rows, {len(log.arms):,} arms, {kind}"
    setting = f"horizon {result.horizon:,}, seed {result.seed}"
    print_text(f"{log.name}: {size}, {setting}")
    if not log.used.all():
        rows = count(int((~log.used).sum()), "row")
        print_text(f"{rows} of propensity 1 not used: no other arm could be chosen")
    print_notes(result.notes)
