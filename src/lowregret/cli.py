"""The command line: parse, call, print.

What is slow to import is imported by the command that needs it, so that ``--help`` is quick.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from lowregret import __version__
from lowregret.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from rich.console import Console

    from lowregret.experiments.results import Results
    from lowregret.experiments.spec import Experiment
    from lowregret.policies import Policy
    from lowregret.simulation import Result

EVERY = ("EUCBV", "UCB1", "MOSS", "Uniform")
"""What is simulated when no policy is named."""


class Commands(TyperGroup):
    """The commands, with bad input, warnings and interrupts told in one line each."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            try:
                return super().invoke(ctx)
            except InputError as error:
                _tell(str(error))
                raise typer.Exit(2) from None
            except KeyboardInterrupt as interrupt:
                _tell(str(interrupt) or "interrupted")
                if getattr(interrupt, "at_once", False):  # else Python would wait for the threads
                    os._exit(130)
                raise typer.Exit(130) from None


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    app(prog_name="lowregret")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lowregret {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Stochastic multi-armed bandits: EUCBV and its rivals, simulated."""


@app.command()
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


@app.command()
def policies(
    name: Annotated[str | None, typer.Argument(help="A policy to show in full.", show_default=False)] = None,
) -> None:
    """List the policies, or show one in full."""
    from inspect import getdoc

    from lowregret.policies import POLICIES
    from lowregret.report.tables import text_table

    if name is None:
        rows = [
            {
                "policy": _signature(kind),
                "rule": (getdoc(kind) or "").partition("\n")[0],
                "needs": ", ".join(kind.needs) or "-",
                "source": kind.source,
            }
            for kind in POLICIES.values()
        ]
        _console().print(text_table(rows))
    elif name in POLICIES:
        kind = POLICIES[name]
        needs = ", ".join(kind.needs) or "nothing"
        print(f"{_signature(kind)}\n\n{getdoc(kind)}\n\nNeeds: {needs}\nSource: {kind.source}")
    else:
        raise InputError(f"unknown policy {name!r}: use one of {', '.join(POLICIES)}")


@app.command()
def reproduce(
    experiment: Annotated[int | None, typer.Option(help="1, 2, 3 or 4.", show_default="all")] = None,
    runs: Annotated[int, typer.Option(help="How many independent runs.")] = 100,
    seed: Annotated[int, typer.Option(help="What the rewards are drawn from.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the page, the figures and the numbers.")] = Path(
        "reproduction"
    ),
) -> None:
    """Play the EUCBV paper's experiments and write them up."""
    from lowregret.experiments.paper import chosen
    from lowregret.report.progress import progress_bar
    from lowregret.report.tables import regret_table
    from lowregret.reproduction import play, prepare, write

    experiments = chosen(experiment)
    prepare(out, runs)
    findings = []
    for each in experiments:
        with progress_bar(runs, f"experiment {each.number}: ") as progress:
            finding = play(each, runs, seed, progress)
        findings.append(finding)
        _console().print(regret_table(finding.table(), finding.title))
        _console().print(f"{finding.facts}\n", soft_wrap=True)
    print("Published: the last point of the paper's figure; report.html says why it may differ.\n")
    for path in write(out, findings):
        print(f"wrote {path}")


@app.command()
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


@app.command()
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
    from lowregret.experiments.run import FailedShards
    from lowregret.report.progress import shard_bar

    try:
        with _workers(cluster) as executor, shard_bar(spec.name) as progress:
            results = spec.run(folder, executor=executor, threads=threads, progress=progress)
    except FailedShards as error:
        _tell(str(error))
        raise typer.Exit(1) from None
    _print_results(results)
    print(f"results in {folder}")


@contextmanager
def _workers(cluster: str | None) -> Iterator[Executor | None]:
    """Give the executor of a cluster, or none."""
    if cluster is None:
        yield None
        return
    from lowregret.experiments.cluster import cluster as connect

    with connect(cluster) as executor:
        yield executor


def _print_forecast(spec: Experiment, folder: Path, cluster: str | None, threads: int | None) -> None:
    from datetime import timedelta

    from lowregret.experiments.forecast import forecast

    told = forecast(spec, folder)
    local = (cluster or "").removeprefix("local:")
    workers = threads or (int(local) if local.isdigit() else os.cpu_count() or 1)
    print(f"{spec.name}: {len(spec.cases)} environments, {len(spec.players)} policies, {spec.runs:,} runs")
    damaged = f" ({told.damaged} of them damaged)" if told.damaged else ""
    print(
        f"{told.shards:,} shards, of which {told.missing:,}{damaged} would be computed: {told.steps:,} steps"
    )
    time = timedelta(seconds=round(told.seconds / workers))
    print(f"about {time} on {workers} workers like this one, compiling not counted")


def _print_results(results: Results) -> None:
    from lowregret.analysis.summary import summary_table
    from lowregret.report.tables import regret_table

    known = results.experiment
    for environment in known.environments:
        finals = results.finals.filter(environment=environment)
        columns = {policy: finals.filter(policy=policy)["regret"].to_numpy() for policy in known.policies}
        _console().print(regret_table(summary_table(columns), environment))
        size = f"horizon {known.horizons[environment]:,}, {known.runs:,} runs, seed {known.seed}"
        _console().print(f"{size}\n", soft_wrap=True)


def _print_result(result: Result) -> None:
    from lowregret.report.tables import regret_table

    _console().print(regret_table(result.summary()))
    size = f"horizon {result.horizon:,}, {result.runs:,} runs, seed {result.seed}"
    _console().print(f"{result.bandit.name}, {size}", soft_wrap=True)
    for name, note in result.notes.items():
        if note:
            _console().print(f"{name}: {note}", soft_wrap=True, markup=False)


def _signature(kind: type[Policy]) -> str:
    """Write a policy with its parameters and their defaults."""
    from dataclasses import MISSING, fields

    parameters = [
        field.name if field.default is MISSING else f"{field.name}={_plain(field.default)}"
        for field in fields(kind)  # type: ignore[arg-type]  # every policy is a dataclass
    ]
    return kind.__name__ + (f"({', '.join(parameters)})" if parameters else "")


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _console() -> Console:
    """Give a console that prints text as it is, and does not fold what goes into a pipe."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 200
    return Console(width=width, markup=False, highlight=False, emoji=False)


def _warn(message: Warning | str, *details: Any, **more: Any) -> None:
    _tell(f"warning: {message}")


def _tell(message: str) -> None:
    """Print one line on standard error."""
    print(f"lowregret: {' '.join(message.split())}", file=sys.stderr)


@app.command()
def compare(
    folder: Annotated[Path, typer.Argument(help="The folder of an experiment's results.")],
    baseline: Annotated[
        str | None, typer.Option(help="Compare with this policy.", show_default="every pair")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say which policies have lower regret than another, as far as the runs can tell."""
    from lowregret.analysis.comparison import compare as compared
    from lowregret.experiments.results import open_results
    from lowregret.report.verdicts import verdict_lines

    comparison = compared(open_results(folder), baseline)
    if json:
        from json import dumps

        print(dumps({"comparisons": comparison.to_dicts()}, allow_nan=False))
    else:
        for line in verdict_lines(comparison):
            _console().print(line, soft_wrap=True)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder of an experiment's results.")],
    baseline: Annotated[
        str | None, typer.Option(help="Compare with this policy.", show_default="the first")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for page and figures.", show_default="that of the results")
    ] = None,
) -> None:
    """Write a page with figures, tables and verdicts that opens in any browser, offline."""
    from lowregret.experiments.results import open_results
    from lowregret.report.experiment import write_report

    page, *figures = write_report(open_results(folder), out or folder, baseline)
    print(f"wrote {page}\nwrote {len(figures)} figures to {page.parent / 'figures'}")
