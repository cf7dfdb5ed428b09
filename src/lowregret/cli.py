"""The command line: parse, call, print.

What is slow to import is imported by the command that needs it, so that ``--help`` is quick.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from lowregret import __version__
from lowregret.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

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
            except KeyboardInterrupt:
                _tell("interrupted")
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
    from lowregret.analysis.tables import read
    from lowregret.report.verdicts import verdict_lines

    comparison = compared(read(folder), baseline)
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
    from lowregret.analysis.tables import read
    from lowregret.report.experiment import write_report

    page, *figures = write_report(read(folder), out or folder, baseline)
    print(f"wrote {page}\nwrote {len(figures)} figures to {page.parent / 'figures'}")
