"""The command line: parse, call, print; one file for each kind of command.

Slow imports are inside the commands, so that ``--help`` is fast.
"""

from __future__ import annotations

import os
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lowregret import __version__
from lowregret.cli.agent_commands import agent
from lowregret.cli.bounds_command import bounds
from lowregret.cli.policies_command import policies
from lowregret.cli.printing import tell
from lowregret.cli.replay_command import replay
from lowregret.cli.reproduce_command import reproduce
from lowregret.cli.results_commands import compare, report
from lowregret.cli.run_command import new, run
from lowregret.cli.simulate_command import simulate
from lowregret.errors import LowRegretError


class Commands(TyperGroup):
    """The commands; errors, warnings and interrupts are printed in one line each."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            try:
                return super().invoke(ctx)
            except LowRegretError as error:
                tell(str(error))
                raise typer.Exit(2) from None
            except KeyboardInterrupt as interrupt:
                tell(str(interrupt) or "interrupted")
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

for command in (simulate, policies, bounds, reproduce, new, run, compare, report, replay):
    app.command()(command)
app.add_typer(agent, name="agent")


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
    """Stochastic multi-armed bandits: simulate, compare and evaluate policies."""


def _warn(message: Warning | str, *details: Any, **more: Any) -> None:
    tell(f"warning: {message}")
