"""``lowregret agent``: look at the agents in a store, and maintain them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from lowregret._common.text import count
from lowregret.cli.options import policies_option
from lowregret.cli.printing import console, print_json

if TYPE_CHECKING:
    from lowregret.online.agent import Agent
    from lowregret.policies import Policy

T = TypeVar("T")
Overview: TypeAlias = dict[str, str | int | None]

agent = typer.Typer(no_args_is_help=True, help="List, show, verify, export and maintain live agents.")

Store = Annotated[
    str,
    typer.Argument(help="A file, or a URL such as sqlite:///choices.db or postgresql://user@host/database."),
]
Name = Annotated[
    str | None, typer.Argument(help="The agent; not needed if the store has only one.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Own = Annotated[
    str | None,
    typer.Option(
        "--policy",
        "-p",
        help="The policy, such as 'module:Class(parameter=1)', if its class is not part of lowregret.",
        metavar="<policy>",
        show_default=False,
    ),
]


@agent.command("list")
def list_agents(store: Store, json: Json = False) -> None:
    """List the agents in a store."""
    from lowregret.cli.terminal_tables import text_table
    from lowregret.online.agent_settings import OwnPolicyError
    from lowregret.online.stores.locations import agent_names

    rows: list[Overview] = []
    for name in agent_names(store):
        try:
            with _opened(store, name) as one:
                rows.append(_overview(name, one))
        except OwnPolicyError as error:
            unknown: Overview = dict.fromkeys(("arms", "pulls", "pending", "conflicts"))
            rows.append({"agent": name, "policy": error.policy, **unknown})
    if json:
        print_json({"agents": rows})
    elif rows:
        console().print(text_table([{key: _cell(value) for key, value in row.items()} for row in rows]))
    else:
        print("no agents")


@agent.command()
def show(store: Store, name: Name = None, policy: Own = None, json: Json = False) -> None:
    """Show the arms of an agent and its state."""
    from lowregret.cli.terminal_tables import text_table

    with _opened(store, name, policy) as one:
        overview, table = _overview(one.name, one), one.summary().to_dicts()
        notes = one.notes
    if json:
        print_json({**overview, "arms": table, "notes": list(notes)})
        return
    console().print(", ".join(f"{key} {value}" for key, value in overview.items()), soft_wrap=True)
    console().print(text_table([{key: _cell(value) for key, value in row.items()} for row in table]))
    for note in notes:
        console().print(note, soft_wrap=True)


@agent.command()
def verify(store: Store, name: Name = None, policy: Own = None) -> None:
    """Replay the whole log of an agent, or of all agents, and compare it with the stored state."""
    from lowregret.online.stores.locations import agent_names

    for each in agent_names(store) if name is None else [name]:
        with _opened(store, each, policy) as one:
            print(f"{each}: {count(one.verify(), 'event')} replayed, the state follows from them")


@agent.command()
def export(
    store: Store,
    name: Name = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; standard output by default.", show_default=False),
    ] = None,
    policy: Own = None,
) -> None:
    """Write the decisions whose rewards are known as CSV, which `lowregret replay` reads."""
    with _opened(store, name, policy) as one:
        table = one.rewards()
    if output is None:
        sys.stdout.write(table.write_csv())
    else:
        table.write_csv(output)
        print(f"{output}: {count(table.height, 'decision')}")


@agent.command("forget-expired")
def forget_expired(
    store: Store,
    name: Name = None,
    older_than: Annotated[
        float | None,
        typer.Option(
            help="Discard pending decisions that are older than so many days.",
            show_default="the agent's window",
        ),
    ] = None,
    policy: Own = None,
) -> None:
    """Discard the pending decisions whose windows have ended, or that are older than a number of days."""
    with _opened(store, name, policy, read_only=False) as one:
        if older_than is None:
            done = one.forget_expired()
        else:
            oldest = datetime.now(UTC).timestamp() - 86_400 * older_than
            old = [choice for choice in one.pending if (choice.timestamp or 0.0) < oldest]
            done = one.forget_many(old)
        print(f"{count(done, 'decision')} expired, {len(one.pending)} pending")


@agent.command()
def compact(
    store: Store,
    name: Name = None,
    older_than: Annotated[
        float,
        typer.Option(help="Drop events that are older than so many days; `export` no longer has them."),
    ] = 365.0,
    policy: Own = None,
) -> None:
    """Replace old events by a snapshot from which the rest of the log still follows."""
    with _opened(store, name, policy, read_only=False) as one:
        print(f"{count(one.compact(timedelta(days=older_than)), 'event')} dropped")


@agent.command("erase-request")
def erase_request(
    store: Store,
    name: Annotated[str, typer.Argument(help="The agent.")],
    request: Annotated[str, typer.Argument(help="The name of the request.")],
    policy: Own = None,
) -> None:
    """Remove the name of a request from the store; its decisions stay."""
    with _opened(store, name, policy, read_only=False) as one:
        print(f"erased from {count(one.erase_request(request), 'decision')}")


@agent.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A file, or a URL of a store.")],
    target: Annotated[
        str,
        typer.Argument(metavar="TO", help="A file, or a URL such as postgresql://user@host/database."),
    ],
    name: Annotated[
        str | None, typer.Argument(help="The agent; all of them by default.", show_default=False)
    ] = None,
    policy: Own = None,
) -> None:
    """Copy an agent, or all agents, to another store, and compare the copy; nothing is overwritten."""
    from lowregret.online.copying import check_free, copy_agent
    from lowregret.online.stores.locations import agent_names

    names = agent_names(source) if name is None else [name]
    check_free(names, target)
    for each in names:
        copied = _with_own(partial(copy_agent, source, target, each), policy)
        print(f"{each}: {count(copied, 'event')} copied and compared")


def _with_own(call: Callable[[Policy | None], T], policy: str | None) -> T:
    """Call a function of the policy, with None first, which is enough for the classes of lowregret."""
    from lowregret.online.agent_settings import OwnPolicyError

    try:
        return call(None)
    except OwnPolicyError:
        if policy is None:
            raise
        return call(_own_policy(policy))


def _own_policy(text: str) -> Policy:
    """Read a policy; its class is that of the module itself, by whose name stores know it."""
    policy = policies_option([text])[0]
    module, colon, name = text.partition("(")[0].strip().partition(":")
    if not colon:
        return policy
    sys.path.insert(0, os.getcwd())
    try:
        kind: type[Policy] = getattr(import_module(module), name)
    finally:
        sys.path.remove(os.getcwd())
    return kind(**asdict(policy))  # type: ignore[call-overload]


def _opened(store: str, name: str | None, policy: str | None = None, read_only: bool = True) -> Agent:
    from lowregret.online.open_agent import open_agent

    return _with_own(lambda own: open_agent(store, own, name=name, read_only=read_only), policy)


def _overview(name: str | None, one: Agent) -> Overview:
    return {
        "agent": name,
        "policy": str(one.policy),
        "arms": len(one.arms),
        "pulls": one.time,
        "pending": len(one.pending),
        "conflicts": one.conflicts,
    }


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
