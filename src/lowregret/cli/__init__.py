"""The command line: parse, call, print; one file for each kind of command.

Slow imports are inside the commands, so that ``--help`` is fast.
"""

import errno
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lowregret import __version__
from lowregret.cli.agent_commands import agent
from lowregret.cli.bounds_command import bounds
from lowregret.cli.compile_command import compile_policies
from lowregret.cli.league_command import league
from lowregret.cli.plan_command import plan
from lowregret.cli.policies_command import policies
from lowregret.cli.printing import print_error
from lowregret.cli.replay_command import replay
from lowregret.cli.reproduce_command import reproduce
from lowregret.cli.results_commands import compare, report, watch
from lowregret.cli.run_command import new, run
from lowregret.cli.serve_command import serve, token
from lowregret.cli.simulate_command import simulate
from lowregret.errors import LowRegretError


class Commands(TyperGroup):
    """The commands; errors, warnings and interrupts are printed in one line each."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with warnings.catch_warnings(), _interrupted_by_sigterm() as received:
            warnings.showwarning = _warn
            try:
                return super().invoke(ctx)
            except LowRegretError as error:
                print_error(str(error))
                raise typer.Exit(2) from None
            except OSError as error:
                if error.errno == errno.EPIPE:  # whoever reads has seen enough
                    raise
                where = f"cannot use {str(error.filename)!r}" if error.filename else "cannot write"
                print_error(f"{where}: {error.strerror or error}")
                raise typer.Exit(2) from None
            except KeyboardInterrupt as interrupt:
                print_error(str(interrupt) or "interrupted")
                raise typer.Exit(128 + (received[0] if received else signal.SIGINT)) from None


@contextmanager
def _interrupted_by_sigterm() -> Iterator[list[int]]:
    """Treat SIGTERM, which Slurm and Kubernetes send, as an interrupt; yields the signals that came."""
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    if current_thread() is not main_thread():  # where no handler can be set
        yield received
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SIMULATION_COMMANDS = (simulate, plan, policies, bounds, reproduce)
EXPERIMENT_COMMANDS = (new, run, compare, report, watch)
for command in (*SIMULATION_COMMANDS, *EXPERIMENT_COMMANDS, replay, league, serve):
    app.command()(command)
app.command("compile")(compile_policies)
app.add_typer(agent, name="agent")
app.add_typer(token, name="token")


def main() -> None:
    """Run the command line."""
    try:
        app(prog_name="lowregret")
    except SystemExit as end:
        if end.code in (128 + signal.SIGINT, 128 + signal.SIGTERM):  # else Python would wait for the threads
            sys.stdout.flush()
            os._exit(end.code)
        raise


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"lowregret {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Stochastic multi-armed bandits: simulate, compare and evaluate policies."""


def _warn(message: Warning | str, *details: Any, **more: Any) -> None:
    print_error(f"warning: {message}")
