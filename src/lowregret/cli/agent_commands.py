"""``lowregret agent``: look at the agents in a store, and maintain them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.printing import console, print_json

if TYPE_CHECKING:
    from lowregret.online.agent import Agent

agent = typer.Typer(no_args_is_help=True, help="List, show, verify, export and maintain live agents.")

Store = Annotated[
    str,
    typer.Argument(help="A file, or a URL such as sqlite:///choices.db or postgresql://user@host/database."),
]
Name = Annotated[
    str | None, typer.Argument(help="The agent; not needed if the store has only one.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@agent.command("list")
def list_agents(store: Store, json: Json = False) -> None:
    """List the agents in a store."""
    from lowregret.cli.terminal_tables import text_table
    from lowregret.online.stores.locations import agent_names

    rows = []
    for name in agent_names(store):
        with _opened(store, name) as one:
            rows.append(_overview(name, one))
    if json:
        print_json({"agents": rows})
    elif rows:
        console().print(text_table([{key: str(value) for key, value in row.items()} for row in rows]))
    else:
        print("no agents")


@agent.command()
def show(store: Store, name: Name = None, json: Json = False) -> None:
    """Show the arms of an agent and its state."""
    from lowregret.cli.terminal_tables import text_table

    with _opened(store, name) as one:
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
def verify(store: Store, name: Name = None) -> None:
    """Replay the whole log of an agent, or of all agents, and compare it with the stored state."""
    from lowregret.online.stores.locations import agent_names

    for each in agent_names(store) if name is None else [name]:
        with _opened(store, each) as one:
            print(f"{each}: {count(one.verify(), 'event')} replayed, the state follows from them")


@agent.command()
def export(
    store: Store,
    name: Name = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; standard output by default.", show_default=False),
    ] = None,
) -> None:
    """Write the decisions whose rewards are known as CSV, which `lowregret replay` reads."""
    import sys

    with _opened(store, name) as one:
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
) -> None:
    """Discard the pending decisions whose windows have ended, or that are older than a number of days."""
    with _opened(store, name, read_only=False) as one:
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
    older_than: Annotated[float, typer.Option(help="Drop events that are older than so many days.")] = 365.0,
) -> None:
    """Replace old events by a snapshot from which the rest of the log still follows."""
    with _opened(store, name, read_only=False) as one:
        print(f"{count(one.compact(timedelta(days=older_than)), 'event')} dropped")


@agent.command("erase-request")
def erase_request(
    store: Store, name: Annotated[str, typer.Argument(help="The agent.")], request: str
) -> None:
    """Remove the name of a request from the store; its decisions stay."""
    with _opened(store, name, read_only=False) as one:
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
) -> None:
    """Copy an agent, or all agents, to another store, and compare the copy; nothing is overwritten."""
    from lowregret.online.copying import check_free, copy_agent
    from lowregret.online.stores.locations import agent_names

    names = agent_names(source) if name is None else [name]
    check_free(names, target)
    for each in names:
        print(f"{each}: {count(copy_agent(source, target, each), 'event')} copied and compared")


def _opened(store: str, name: str | None, read_only: bool = True) -> Agent:
    from lowregret.online.open_agent import open_agent

    return open_agent(store, name=name, read_only=read_only)


def _overview(name: str | None, one: Agent) -> dict[str, str | int | None]:
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
