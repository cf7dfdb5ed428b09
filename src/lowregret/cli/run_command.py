"""``lowregret new`` and ``lowregret run``: an experiment in a file."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.options import Cluster, Threads, check_workers, workers
from lowregret.cli.printing import print_text
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.experiments.spec import Experiment


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
    write_starter(path)
    print(f"wrote {path}: edit it, then `lowregret run {path}`")


def write_starter(path: Path) -> None:
    """Write a commented experiment to start from; an existing file is never overwritten."""
    text = files("lowregret.experiments").joinpath("starter.toml").read_text(encoding="utf-8")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text.replace("{name}", str(path)))
    except FileExistsError:
        raise InputError(f"{str(path)!r} exists already: use another name") from None
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def run(
    experiment: Annotated[Path, typer.Argument(help="A TOML file; `lowregret new` writes one.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results.", show_default="the file's name without .toml")
    ] = None,
    cluster: Cluster = None,
    threads: Threads = None,
    engine: Annotated[
        str | None, typer.Option(metavar="<name>", help="Instead of the engine of the file.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the number of shards and an estimate of the time; run nothing."
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print a table for each environment, also of many.")
    ] = False,
) -> None:
    """Run an experiment, or continue one that was stopped."""
    from lowregret.engine.backends import validate_backend
    from lowregret.experiments.spec import Experiment

    spec, folder = Experiment.from_toml(experiment), out or experiment.with_suffix("")
    if engine is not None:
        validate_backend("run", engine)
        spec = spec.model_copy(update={"engine": engine})
    if threads is not None and threads < 1:
        raise InputError(f"run: threads must be an integer of at least 1, got {threads}")
    check_workers("run", threads, cluster)
    if dry_run:
        _print_forecast(spec, folder, cluster, threads)
        return
    from lowregret.cli.progress import progress_bar
    from lowregret.reporting.regret_text import MAX_TABLES, results_text

    with workers(cluster) as executor, progress_bar() as progress:
        results = spec.run(folder, executor=executor, threads=threads, progress=progress)
    print(results_text(results, every_environment=verbose))
    if not verbose and len(results.environments) > MAX_TABLES:
        print_text(f"`lowregret report {folder}` writes a page with each environment, --verbose prints them.")
    print(f"results in {folder}")


def _print_forecast(spec: Experiment, folder: Path, cluster: str | None, threads: int | None) -> None:
    from datetime import timedelta

    from lowregret.experiments.executors import cluster_workers
    from lowregret.experiments.forecast import forecast

    processes = threads or (cluster_workers(cluster) if cluster is not None else None) or os.cpu_count() or 1
    cost = forecast(spec, folder)
    environments = count(len(spec.resolved_environments), "environment")
    policies = count(len(spec.resolved_policies), "policy", "policies")
    print(f"{spec.name}: {environments}, {policies}, {count(spec.runs, 'run')}")
    damaged = f" ({cost.damaged} of them damaged)" if cost.damaged else ""
    missing = f"{cost.missing:,}{damaged}"
    print(f"{count(cost.shards, 'shard')}, of which {missing} would be computed: {cost.steps:,} steps")
    seconds = cost.seconds / processes
    time = f"about {timedelta(seconds=round(seconds))}" if seconds >= 1.0 else "less than a second"
    print(f"{time} on {count(processes, 'worker')} like this one, compiling not counted")
