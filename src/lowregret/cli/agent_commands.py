"""``lowregret agent``: look at the agents in a store, and maintain them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from lowregret._common.text import count
from lowregret.cli.options import Json, policies_option
from lowregret.cli.printing import print_json, print_text
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.online.agent import Agent
    from lowregret.policies import Policy

T = TypeVar("T")

agent = typer.Typer(no_args_is_help=True, help="Create, list, show, verify, export and maintain live agents.")

Store = Annotated[
    str,
    typer.Argument(help="A file, or a URL such as sqlite:///choices.db or postgresql://user@host/database."),
]
Name = Annotated[
    str | None, typer.Argument(help="The agent; not needed if the store has only one.", show_default=False)
]
Names = Annotated[str | None, typer.Argument(help="The agent; all of them by default.", show_default=False)]
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


@agent.command()
def create(
    store: Store,
    settings: Annotated[str, typer.Argument(help="The JSON of POST /v1/agents; - reads standard input.")],
) -> None:
    """Create an agent; the same call again changes nothing."""
    from lowregret.online.open_agent import open_or_create
    from lowregret.online.stores import TIMEOUT
    from lowregret.service.models import NewAgent, parse_body

    text = sys.stdin.read() if settings == "-" else settings
    new = parse_body(NewAgent, text.encode())
    with open_or_create(store, new.settings(), new.name, TIMEOUT) as one:
        print(f"{one.name}: {one.policy}, {count(len(one.arms), 'arm')}")


@agent.command("list")
def list_agents(store: Store, json: Json = False) -> None:
    """List the agents in a store."""
    from lowregret.online.agent_text import OVERVIEW, cell, overview
    from lowregret.online.policy_description import OwnPolicyError
    from lowregret.online.stores.locations import agent_names
    from lowregret.reporting.text_tables import text_table

    rows: list[dict[str, str | int | None]] = []
    for name in agent_names(store):
        try:
            with _open_agent(store, name) as one:
                rows.append(overview(name, one))
        except OwnPolicyError as error:
            unknown: dict[str, None] = dict.fromkeys(OVERVIEW[2:])
            rows.append({"agent": name, "policy": error.policy, **unknown})
    if json:
        print_json({"agents": rows})
    elif rows:
        cells = [{key: cell(value) for key, value in row.items()} for row in rows]
        print(text_table(cells, right=OVERVIEW[2:], drop=["conflicts", "pending", "arms"]))
    else:
        print("no agents")


@agent.command()
def show(store: Store, name: Name = None, policy: Own = None, json: Json = False) -> None:
    """Show the arms of an agent and its state."""
    from lowregret.online.agent_text import agent_text, overview

    with _open_agent(store, name, policy) as one:
        if json:
            fields, notes = overview(one.name, one), list(one.notes)
            print_json({**fields, "arms": one.summary().to_dicts(), "notes": notes})
        else:
            print(agent_text(one))


@agent.command()
def verdict(
    store: Store,
    name: Name = None,
    error: Annotated[float, typer.Option(help="The probability of a false verdict.")] = 0.05,
    within: Annotated[float, typer.Option(help="A difference that does not matter.")] = 0.0,
    policy: Own = None,
    json: Json = False,
) -> None:
    """Say which arm is the best, and how sure that is."""
    from lowregret.online.agent_text import verdict_text

    with _open_agent(store, name, policy) as one:
        result, rows = one.verdict(error, within), one.summary().to_dicts()
    if json:
        print_json(result.to_dict())
    else:
        print(verdict_text(result, rows))


@agent.command()
def verify(store: Store, name: Names = None, policy: Own = None) -> None:
    """Replay the log, and compare it with the stored state."""
    from lowregret.online.stores.locations import agent_names

    for stored in agent_names(store) if name is None else [name]:
        with _open_agent(store, stored, policy) as one:
            print(f"{stored}: {count(one.verify(), 'event')} replayed, the state follows from them")


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
    """Write a CSV file for `lowregret replay`. It has the decisions whose rewards are known."""
    from lowregret.online.event_tables import reward_tables
    from lowregret.online.stores import all_events

    decisions, chosen = 0, _open_agent(store, name, policy)
    file = nullcontext(sys.stdout) if output is None else output.open("w", encoding="utf-8")
    with chosen as one, file as stream:
        for place, table in enumerate(reward_tables(lambda: all_events(one.transactions.store))):
            stream.write(table.write_csv(include_header=place == 0))
            decisions += table.height
    if output is not None:
        print(f"{output}: {count(decisions, 'decision')}")


@agent.command()
def tell(
    store: Store,
    reward: Annotated[float, typer.Argument(help="The reward.")],
    name: Name = None,
    request: Annotated[str | None, typer.Option(help="The request that made the decision.")] = None,
    decision: Annotated[str | None, typer.Option("--id", help="In its place, the decision's id.")] = None,
    policy: Own = None,
) -> None:
    """Report the reward of a decision. The same call again changes nothing."""
    with _open_agent(store, name, policy, read_only=False) as one:
        print("recorded" if one.tell(decision, reward, request=request) else "recorded before")


@agent.command("import")
def import_log(
    store: Store,
    log: Annotated[Path, typer.Argument(help="A .csv or .parquet file with columns arm and reward.")],
    name: Name = None,
    policy: Own = None,
) -> None:
    """Let an agent learn from a log of other decisions. The same file again changes nothing."""
    from lowregret.online.earlier_rewards import observe_log

    with _open_agent(store, name, policy, read_only=False) as one:
        new, rows = observe_log(one, log)
        print(f"{count(new, 'decision')} observed, {count(rows - new, 'row')} known before")


@agent.command()
def shadow(store: Store, name: Name = None, policy: Own = None, json: Json = False) -> None:
    """Compare an agent's choices with those it has observed. `import` lets it observe a log."""
    from lowregret.online.agent_text import cell
    from lowregret.service.shadow import shadow_report

    with _open_agent(store, name, policy) as one:
        report = shadow_report(one, one.transactions.store, one.transactions.position)
    if json:
        print_json(report)
        return
    earned, would = cell(report["earned"]), cell(report["would_have_earned"])
    between = f" (95%: {cell(report['low'])} to {cell(report['high'])})" if report["low"] is not None else ""
    print_text(f"{count(report['observed'], 'decision')} observed, agreed in {report['agreed']:,}")
    print_text(f"mean reward {earned}; of the agent's choices {would}{between}")
    if report["without_propensity"]:
        rows = count(report["without_propensity"], "decision")
        print_text(f"{rows} without a propensity: the estimate is right if their arms were equally likely")


@agent.command()
def forget(
    store: Store,
    name: Name = None,
    since: Annotated[datetime | None, typer.Option(help="When the first was made (UTC).")] = None,
    request_prefix: Annotated[str | None, typer.Option(help="What their requests begin with.")] = None,
    policy: Own = None,
) -> None:
    """Take decisions out of the statistics, with their rewards. The log records which."""
    moment = None if since is None else since.replace(tzinfo=UTC)
    with _open_agent(store, name, policy, read_only=False) as one:
        print(f"{count(one.forget_where(moment, request_prefix), 'decision')} taken out")


def _days(number: float) -> timedelta:
    """Return a time of some days, of at most a thousand years."""
    if not 0.0 <= number <= 365_250.0:
        raise InputError(f"--older-than must be a number of days of at least 0, got {number:g}")
    return timedelta(days=number)


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
    """Discard pending decisions whose windows have ended."""
    with _open_agent(store, name, policy, read_only=False) as one:
        if older_than is None:
            done = one.forget_expired()
        else:
            oldest = (datetime.now(UTC) - _days(older_than)).timestamp()
            old = [choice for choice in one.pending if (choice.timestamp or 0.0) < oldest]
            done = one.forget_many(old)
        print(f"{count(done, 'decision')} expired, {len(one.pending)} pending")


@agent.command()
def compact(
    store: Store,
    name: Name = None,
    older_than: Annotated[
        float, typer.Option(help="Drop events that are older than so many days; `export` no longer has them.")
    ] = 365.0,
    policy: Own = None,
) -> None:
    """Replace old events by a snapshot. The rest of the log still follows from it."""
    with _open_agent(store, name, policy, read_only=False) as one:
        print(f"{count(one.compact(_days(older_than)), 'event')} dropped")


@agent.command("erase-request")
def erase_request(
    store: Store,
    name: Annotated[str, typer.Argument(help="The agent.")],
    request: Annotated[str, typer.Argument(help="The name of the request.")],
    policy: Own = None,
) -> None:
    """Remove the name of a request; its decisions stay."""
    with _open_agent(store, name, policy, read_only=False) as one:
        print(f"erased from {count(one.erase_request(request), 'decision')}")


@agent.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A file, or a URL of a store.")],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="A file, or a URL such as postgresql://user@host/database.")
    ],
    name: Names = None,
    policy: Own = None,
) -> None:
    """Copy agents to another store, and compare the copies. Nothing is overwritten."""
    from lowregret.online.copying import check_free, copy_agent
    from lowregret.online.stores.locations import agent_names

    names = agent_names(source) if name is None else [name]
    check_free(names, target)
    for stored in names:
        copied = _with_own(partial(copy_agent, source, target, stored), policy)
        print(f"{stored}: {count(copied, 'event')} copied and compared")


Backup = Annotated[str, typer.Argument(help="The copy, an SQLite file.")]


@agent.command()
def backup(store: Store, file: Backup) -> None:
    """Copy an SQLite store to a new file while it is used. On PostgreSQL use pg_dump."""
    from lowregret.online.backup import backup as copy_store

    print(f"{file}: {count(len(copy_store(store, file)), 'agent')}")


@agent.command()
def restore(file: Backup, store: Store) -> None:
    """Replace an SQLite store by a backup. Refused while a process uses the store."""
    from lowregret.online.backup import restore as replace_store

    print(f"{store}: {count(len(replace_store(file, store)), 'agent')}")


def _with_own(call: Callable[[Policy | None], T], policy: str | None) -> T:
    """Call a function of the policy, with None first, which is enough for the classes of lowregret."""
    from lowregret.online.policy_description import OwnPolicyError

    try:
        return call(None)
    except OwnPolicyError:
        if policy is None:
            raise
        return call(policies_option([policy])[0])


def _open_agent(store: str, name: str | None, policy: str | None = None, read_only: bool = True) -> Agent:
    from lowregret.online.open_agent import open_agent

    return _with_own(lambda own: open_agent(store, own, name=name, read_only=read_only), policy)
