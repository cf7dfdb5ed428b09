"""``lowregret new`` and ``lowregret run``: an experiment in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.printing import console, print_notes, tell
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.experiments.run import Progress
    from lowregret.experiments.spec import Experiment
    from lowregret.results import Results


def new(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("experiment.toml"),
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of experiment files instead, for editors.")
    ] = False,
) -> None:
    """Write a commented example of an experiment file."""
    if schema:
        from json import dumps

        from lowregret.experiments.spec import Experiment

        print(dumps(Experiment.model_json_schema(), indent=2))
        return
    from lowregret.experiments.starter import write_starter

    write_starter(path)
    print(f"wrote {path}: edit it, then `lowregret run {path}`")


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
        int | None, typer.Option(help="Number of threads.", show_default="one per core")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the number of shards and an estimate of the time; run nothing."
        ),
    ] = False,
) -> None:
    """Run an experiment, or continue one that was stopped."""
    from lowregret.experiments.spec import Experiment

    spec, folder = Experiment.from_toml(experiment), out or experiment.with_suffix("")
    if threads is not None and threads < 1:
        raise InputError(f"run: threads must be an integer of at least 1, got {threads}")
    if threads is not None and cluster is not None:
        raise InputError(f"run: use either --threads or --cluster, got {threads} and {cluster!r}")
    if dry_run:
        _print_forecast(spec, folder, cluster, threads)
        return
    from lowregret.cli.progress import shard_bar
    from lowregret.experiments.executors import dask_cluster
    from lowregret.experiments.run import FailedShardsError

    try:
        workers = nullcontext() if cluster is None else dask_cluster(cluster)
        with workers as executor, shard_bar(spec.name) as bar:
            results = spec.run(folder, executor=executor, threads=threads, progress=_reporting(bar))
    except FailedShardsError as error:
        tell(str(error))
        raise typer.Exit(1) from None
    _print_results(results)
    print(f"results in {folder}")


def _reporting(bar: Callable[[Progress], None] | None) -> Callable[[Progress], None]:
    """Return a callback that reports damaged shards at the beginning and updates the bar, if there is one."""

    def advance(now: Progress) -> None:
        if now.damaged and not now.done:
            tell(f"{now.damaged} of the finished shards are damaged and are computed again")
        if bar:
            bar(now)

    return advance


def _print_forecast(spec: Experiment, folder: Path, cluster: str | None, threads: int | None) -> None:
    from datetime import timedelta

    from lowregret.experiments.executors import cluster_workers
    from lowregret.experiments.forecast import forecast

    workers = threads or (cluster_workers(cluster) if cluster is not None else None) or os.cpu_count() or 1
    found = forecast(spec, folder)
    environments = count(len(spec.cases), "environment")
    policies = count(len(spec.players), "policy", "policies")
    print(f"{spec.name}: {environments}, {policies}, {count(spec.runs, 'run')}")
    damaged = f" ({found.damaged} of them damaged)" if found.damaged else ""
    missing = f"{found.missing:,}{damaged}"
    print(f"{count(found.shards, 'shard')}, of which {missing} would be computed: {found.steps:,} steps")
    seconds = found.seconds / workers
    time = f"about {timedelta(seconds=round(seconds))}" if seconds >= 1.0 else "less than a second"
    print(f"{time} on {count(workers, 'worker')} like this one, compiling not counted")


def _print_results(results: Results) -> None:
    from lowregret.cli.terminal_tables import regret_table

    for (environment,), summary in results.summary().group_by("environment", maintain_order=True):
        console().print(regret_table(summary, str(environment)))
        horizon = results.horizons[str(environment)]
        size = f"horizon {horizon:,}, {count(results.runs, 'run')}, seed {results.seed}"
        late = results.lateness.get(str(environment), "")
        console().print(f"{size}{late and ', '}{late}\n", soft_wrap=True)
    print_notes(results.notes)
