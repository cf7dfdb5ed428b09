"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.policies import Policy

DEFAULT_POLICIES = ("EUCBV", "MOSSV", "MOSS", "UCB1", "RoundRobin")


def read_integer(text: str | int) -> int:
    """Read an integer, also one such as 1e4 or 10_000."""
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        value = float(text)
        if value.is_integer() and abs(value) <= 2**53:
            return int(value)
    raise typer.BadParameter(f"{text!r} is not an integer such as 10000 or 1e4.")


def integer_option(help: str, **options: Any) -> Any:
    """Return an option whose value is an integer, also one such as 1e4."""
    return typer.Option(parser=read_integer, metavar="<int>", help=help, **options)


class Figures(StrEnum):
    """Which files of figures are written beside a page."""

    none = "none"
    svg = "svg"
    all = "all"


FigureFiles = Annotated[
    Figures, typer.Option(help="Files of the figures to write: none, SVG, or SVG, PNG and PDF.")
]
Environment = Annotated[
    str,
    typer.Option(
        "--environment",
        "-e",
        help="paper-1 to paper-4, a family such as bernoulli:0.1,0.2*3, or a TOML file.",
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        help="A policy, such as EUCBV, 'UCB1(alpha=1)' or module:Class. May be given several times.",
        metavar="<policy>",
        show_default=", ".join(DEFAULT_POLICIES),
    ),
]
Horizon = Annotated[
    int | None,
    integer_option("Number of pulls in a run, such as 10000 or 1e4.", show_default="the environment's own"),
]
Runs = Annotated[int, integer_option("Number of independent runs.")]
Seed = Annotated[int, typer.Option(help="Seed of rewards and policies.")]
Threads = Annotated[int | None, typer.Option(help="Number of threads.", show_default="one per core")]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Workers: local:N for N processes here, or tcp://host:port for a Dask scheduler.",
        show_default="threads of this process",
    ),
]
Engine = Annotated[
    str, typer.Option(metavar="<name>", help="compiled; cuda: an NVIDIA GPU; reference: slow.")
]
Clip = Annotated[
    bool, typer.Option("--clip", help="Clip rewards to [0, 1] for the policies that require it.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Also print what the columns and numbers mean.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ResultsFolder = Annotated[Path, typer.Argument(help="The folder of an experiment's results.")]
Baseline = Annotated[str | None, typer.Option(help="Compare with this policy.", show_default="the first")]


def check_workers(owner: str, threads: int | None, cluster: str | None) -> None:
    """Refuse threads and a cluster at once."""
    if threads is not None and cluster is not None:
        raise InputError(f"{owner}: use either --threads or --cluster, got {threads} and {cluster!r}")


@contextmanager
def workers(cluster: str | None) -> Iterator[Any]:
    """Yield the executor of a cluster, or None for threads; exit with 1 where shards fail in the block."""
    from lowregret.cli.printing import print_error
    from lowregret.experiments.executors import dask_cluster
    from lowregret.experiments.run import FailedShardsError

    try:
        with nullcontext() if cluster is None else dask_cluster(cluster) as executor:
            yield executor
    except FailedShardsError as error:
        print_error(str(error))
        raise typer.Exit(1) from None


def policies_option(texts: Iterable[str]) -> list[Policy]:
    """Read policies: names, or ``module:Class`` with a module of this folder or of the path."""
    from lowregret.policies.inputs import policy_of

    return [policy_of(text) for text in texts]
