"""``lowregret league``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret.cli.printing import console, print_json, tell
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.suite.league import League


def league(
    size: Annotated[str, typer.Option(help="quick, standard or full: how many runs.")] = "quick",
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Your own policy, as module:Class, or one of ours with parameters; may be repeated."
        ),
    ] = None,
    testbed: Annotated[
        list[str] | None, typer.Option(help="A testbed; may be repeated.", show_default="all")
    ] = None,
    out: Annotated[
        Path,
        typer.Option(help="Folder for the page, the tables and the results of the runs, which are reused."),
    ] = Path("league"),
    seed: Annotated[int, typer.Option(help="Seed of rewards and policies.")] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Workers: local:N for N processes here, or tcp://host:port for a Dask scheduler.",
            show_default="threads of this process",
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Number of threads.", show_default="one per core")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all tables as JSON.")] = False,
) -> None:
    """Run every policy on every testbed of the suite, rank them, and write a page."""
    from lowregret.cli.progress import shard_bar
    from lowregret.experiments.executors import dask_cluster
    from lowregret.experiments.run import FailedShardsError
    from lowregret.suite.league import league
    from lowregret.suite.league_page import as_dict

    if threads is not None and cluster is not None:
        raise InputError(f"league: use either --threads or --cluster, got {threads} and {cluster!r}")
    try:
        with nullcontext() if cluster is None else dask_cluster(cluster) as executor:
            found = league(
                size,
                policy=policy or (),
                testbeds=testbed,
                out=out,
                seed=seed,
                executor=executor,
                threads=threads,
                progress_bar=shard_bar,
            )
    except FailedShardsError as error:
        tell(str(error))
        raise typer.Exit(1) from None
    files = found.report(out)
    if json:
        print_json(as_dict(found))
        return
    _print_tables(found)
    print(f"wrote the page {files[0]}")
    print(f"wrote tables as CSV and JSON, and figures, to {out}")


def _print_tables(found: League) -> None:
    from lowregret.cli.terminal_tables import text_table
    from lowregret.suite.league_page import SCOPES, VERDICTS, check_rows, failing_rows, interval
    from lowregret.suite.successor import SUCCESSOR

    terminal = console()
    columns = {"rank": "rank", "tail_rank": "tail rank", "to_best": "to lowest", "to_moss": "to MOSS"}
    for scope in SCOPES:
        rows = [
            {"policy": row["policy"]} | {head: interval(row, column) for column, head in columns.items()}
            for row in found.standings.filter(scope=scope).to_dicts()
        ]
        if rows:
            terminal.print(f"Standings: {scope}", style="bold")
            terminal.print(text_table(rows))
    rows_held, rows_failed = check_rows(found), failing_rows(found)
    if rows_held:
        heads = ("requirement", "rival", "half", *VERDICTS, "largest ratio")
        terminal.print(f"What {SUCCESSOR} must hold", style="bold")
        terminal.print(text_table([dict(zip(heads, row, strict=True)) for row in rows_held]))
    if rows_failed:
        heads = ("requirement", "rival", "half", "testbed", "ratio", "95% interval", "verdict")
        terminal.print(text_table([dict(zip(heads, row, strict=True)) for row in rows_failed]))
