"""``lowregret league``: rank every policy on every testbed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from lowregret.cli.options import Cluster, Engine, Seed, Threads, check_workers, workers
from lowregret.cli.printing import print_json


def league(
    size: Annotated[str, typer.Option(help="quick, standard or full: how many runs.")] = "quick",
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Your own policy, as module:Class, or one of ours with parameters; may be repeated."
        ),
    ] = None,
    testbed: Annotated[
        list[str] | None, typer.Option(help="A testbed, such as short; may be repeated.", show_default="all")
    ] = None,
    out: Annotated[
        Path,
        typer.Option(help="Folder for the page, the tables and the results of the runs, which are reused."),
    ] = Path("league"),
    seed: Seed = 0,
    cluster: Cluster = None,
    threads: Threads = None,
    engine: Engine = "compiled",
    json: Annotated[bool, typer.Option("--json", help="Print all tables as JSON.")] = False,
) -> None:
    """Run every policy on every testbed, rank them, and write a page."""
    from lowregret.cli.progress import progress_bar
    from lowregret.suite.league import league
    from lowregret.suite.league_page import as_dict

    check_workers("league", threads, cluster)
    with workers(cluster) as executor, progress_bar() as progress:
        result = league(
            size,
            policy=policy or (),
            testbeds=testbed,
            out=out,
            seed=seed,
            executor=executor,
            threads=threads,
            engine=cast(Any, engine),
            progress=progress,
        )
    files = result.report(out)
    if json:
        print_json(as_dict(result))
        return
    print(result)
    print(f"wrote the page {files[0]}")
    print(f"wrote tables as CSV and JSON, and figures, to {out}")
