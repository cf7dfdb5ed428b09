"""``lowregret new`` and ``lowregret run``: an experiment in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret.cli.printing import console, tell
from lowregret.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from lowregret.experiments.run import Progress
    from lowregret.experiments.spec import Experiment
    from lowregret.results.stored import Results


def new(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("experiment.toml"),
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of such files, for editors, instead.")
    ] = False,
) -> None:
    """Write a commented experiment to start from."""
    if schema:
        from json import dumps

        from lowregret.experiments.spec import Experiment

        print(dumps(Experiment.model_json_schema(), indent=2))
        return
    from lowregret.experiments.starter import write_starter

    write_starter(path)
    print(f"wrote {path}: change it as you like, then `lowregret run {path}`")


def run(
    experiment: Annotated[Path, typer.Argument(help="A TOML file; `lowregret new` writes one.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the results.", show_default="the file's name without .toml"),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Workers: local:N for N processes here, or tcp://host:port for a Dask scheduler.",
            show_default="threads of this process",
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="How many threads.", show_default="one per core")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done and how long it takes; do nothing.")
    ] = False,
) -> None:
    """Run an experiment, or go on with one that was stopped."""
    from lowregret.experiments.spec import Experiment

    spec, folder = Experiment.from_toml(experiment), out or experiment.with_suffix("")
    if threads is not None and (threads < 1 or cluster):
        raise InputError(f"run: threads must be at least 1 and not go with --cluster, got {threads}")
    if dry_run:
        _print_forecast(spec, folder, cluster, threads)
        return
    from lowregret.experiments.run import FailedShardsError
    from lowregret.report.progress import shard_bar

    try:
        with _workers(cluster) as executor, shard_bar(spec.name) as bar:
            results = spec.run(folder, executor=executor, threads=threads, progress=_telling(bar))
    except FailedShardsError as error:
        tell(str(error))
        raise typer.Exit(1) from None
    _print_results(results)
    print(f"results in {folder}")


@contextmanager
def _workers(cluster: str | None) -> Iterator[Executor | None]:
    """Give the executor of a cluster, or none."""
    if cluster is None:
        yield None
        return
    from lowregret.experiments.executors import dask_cluster

    with dask_cluster(cluster) as executor:
        yield executor


def _telling(bar: Callable[[Progress], None] | None) -> Callable[[Progress], None]:
    """Say at the beginning if shards were damaged, and move the bar if there is one."""

    def advance(now: Progress) -> None:
        if now.damaged and not now.done:
            tell(f"{now.damaged} of the shards that were there are damaged and computed again")
        if bar:
            bar(now)

    return advance


def _print_forecast(spec: Experiment, folder: Path, cluster: str | None, threads: int | None) -> None:
    from datetime import timedelta

    from lowregret.experiments.executors import local_workers
    from lowregret.experiments.forecast import forecast

    workers = threads or (local_workers(cluster) if cluster is not None else None) or os.cpu_count() or 1
    told = forecast(spec, folder)
    print(f"{spec.name}: {len(spec.cases)} environments, {len(spec.players)} policies, {spec.runs:,} runs")
    damaged = f" ({told.damaged} of them damaged)" if told.damaged else ""
    print(
        f"{told.shards:,} shards, of which {told.missing:,}{damaged} would be computed: {told.steps:,} steps"
    )
    time = timedelta(seconds=round(told.seconds / workers))
    print(f"about {time} on {workers} workers like this one, compiling not counted")


def _print_results(results: Results) -> None:
    from lowregret.analysis.summary import summary_table
    from lowregret.report.terminal_tables import regret_table

    known = results.experiment
    for environment in known.environments:
        finals = results.finals.filter(environment=environment)
        columns = {policy: finals.filter(policy=policy)["regret"].to_numpy() for policy in known.policies}
        console().print(regret_table(summary_table(columns), environment))
        size = f"horizon {known.horizons[environment]:,}, {known.runs:,} runs, seed {known.seed}"
        console().print(f"{size}\n", soft_wrap=True)
