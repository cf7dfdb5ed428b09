"""What the service does for each route; ``app`` checks the call before, and writes the answer after it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from lowregret.errors import ConflictError, InputError, LowRegretError
from lowregret.online import calls
from lowregret.online.decisions import Decision, Event
from lowregret.online.event_tables import reward_table
from lowregret.service import readings
from lowregret.service.agents import Agents
from lowregret.service.checks import warnings_of
from lowregret.service.metrics import MEDIA_TYPE, Metrics, agent_lines
from lowregret.service.models import Ask, ChangeArms, ChangeStatus, Forget, NewAgent

if TYPE_CHECKING:
    from lowregret.service.agents import LiveAgent

MOST_EVENTS = 1_000
"""The most events of one answer."""


class Answer(NamedTuple):
    """An answer: its text, status, media type and further headers."""

    content: str
    status: int = 200
    media_type: str = "application/json"
    headers: dict[str, str] | None = None


class Call(NamedTuple):
    """A call that was checked: the name of the agent, the body, and the query."""

    agents: Agents
    metrics: Metrics
    name: str
    body: Any
    query: dict[str, int]
    needs_token: bool

    async def agent(self) -> LiveAgent:
        """Return the agent of the call."""
        return await self.agents.get(self.name)


async def create(call: Call) -> Answer:
    """Create an agent. The same call again changes nothing; other settings are a conflict."""
    new: NewAgent = call.body
    live, created = await call.agents.create(new)
    found = await live.commits.read(readings.overview, live.agent, live.name)
    return Answer(json.dumps(found), 201 if created else 200, headers={"Location": f"/v1/agents/{live.name}"})


async def list_agents(call: Call) -> dict[str, Any]:
    """List agents of the store: those after a position, by default the latest."""
    found, unavailable = [], []
    names, position, total = await _page(call)
    for name in names:
        try:
            live = await call.agents.get(name)
            found.append(await live.commits.read(readings.overview, live.agent, name))
        except ConflictError as error:
            unavailable.append({"name": name, "detail": str(error)})
    return {"agents": found, "unavailable": unavailable, "position": position, "total": total}


async def _page(call: Call) -> tuple[list[str], int, int]:
    """Return the names of the agents that a query means, the position after them, and how many there are."""
    names, limit = await call.agents.names(), call.query["limit"]
    start = call.query.get("after", max(len(names) - limit, 0))
    page = names[start : start + limit]
    return page, min(start, len(names)) + len(page), len(names)


async def ask(call: Call) -> dict[str, Any]:
    """Choose arms. With a request, the call is idempotent: repeated, it returns the same decisions."""
    wanted: Ask = call.body
    live = await call.agent()
    made = await live.commits.call(calls.ask, wanted.n, wanted.only, wanted.request)
    return {"decisions": [_decided(decision) for decision in made]}


async def tell(call: Call) -> dict[str, Any]:
    """Report rewards, all or none. The call is idempotent; another reward of a decision is a conflict."""
    rewards = [(each.id, each.reward) for each in call.body.rewards]
    live = await call.agent()
    return {"new": await live.commits.call(calls.tell, rewards)}


async def forget(call: Call) -> dict[str, Any]:
    """Discard decisions whose rewards will never be reported, all or none. The call is idempotent."""
    wanted: Forget = call.body
    live = await call.agent()
    return {"new": await live.commits.call(calls.forget, wanted.ids)}


async def show(call: Call) -> dict[str, Any]:
    """Show the state of an agent."""
    live = await call.agent()
    return dict(await live.commits.read(readings.overview, live.agent, live.name))


async def summary(call: Call) -> dict[str, Any]:
    """Show the arms of an agent: pulls, means with intervals, shares, and the estimated loss."""
    live = await call.agent()
    return dict(await live.commits.read(readings.summary, live.agent, live.name))


async def arms(call: Call) -> dict[str, Any]:
    """List the arms that are not retired."""
    live = await call.agent()
    return dict(await live.commits.read(readings.arm_names, live.agent))


async def change_arms(call: Call) -> dict[str, Any]:
    """Add or retire an arm. The call is idempotent: what is done already changes nothing."""
    wanted: ChangeArms = call.body
    if (wanted.add is None) == (wanted.retire is None):
        raise InputError("pass an arm to add or an arm to retire, one of the two")
    live = await call.agent()
    try:
        if wanted.add is not None:
            await live.commits.call(calls.add, wanted.add)
        else:
            await live.commits.call(calls.retire, wanted.retire)
    except InputError as error:
        await _check_done(live, wanted, error)
    return dict(await live.commits.read(readings.arm_names, live.agent))


async def change_status(call: Call) -> dict[str, Any]:
    """Pause, resume or retire an agent. The call is idempotent; to retire is final."""
    wanted: ChangeStatus = call.body
    live = await call.agent()
    await live.commits.call(calls.change_status, wanted.event())
    return dict(await live.commits.read(readings.overview, live.agent, live.name))


async def _check_done(live: LiveAgent, wanted: ChangeArms, error: InputError) -> None:
    """Accept a change that was made before; else say why it was refused."""
    found = {row["arm"]: row["state"] for row in (await live.commits.read(_table, live))}
    if wanted.add is not None and found.get(wanted.add, "retired") != "retired":
        return
    if wanted.retire is not None and found.get(wanted.retire) == "retired":
        return
    if (wanted.add or wanted.retire) in found:
        raise ConflictError(str(error)) from None
    raise error


def _table(live: LiveAgent) -> list[dict[str, Any]]:
    return list(live.agent.summary().to_dicts())


async def events(call: Call) -> dict[str, Any]:
    """List events of the log: those after a position, by default the latest."""
    live, limit = await call.agent(), call.query["limit"]
    last = await live.commits.read(readings.position, live.agent)
    found, position = await call.agents.read_log(live, _events, last, call.query.get("after"), limit)
    rows = [{"position": number, **event._asdict()} for number, event in enumerate(found, position + 1)]
    return {"events": rows, "position": position + len(rows)}


def _events(live: LiveAgent, last: int, after: int | None, limit: int) -> tuple[list[Event], int]:
    first = live.log.first()
    start = max(last - limit if after is None else min(after, last), first[0] if first else 0)
    return live.log.events(start, limit), start


async def history(call: Call) -> dict[str, Any]:
    """Show decisions and rewards over time, and warnings."""
    live = await call.agent()
    state = await live.commits.read(readings.summary, live.agent, live.name)
    return await call.agents.read_log(live, _history, state)


def _history(live: LiveAgent, state: dict[str, Any]) -> dict[str, Any]:
    complete, now = live.history.read(), live.agent._transactions.clock()
    found = live.history.described(complete)
    return {**found, "now": now, "warnings": warnings_of(state, live.history, now)}


async def export(call: Call) -> Answer:
    """Return the decisions whose rewards are known as CSV, which ``lowregret replay`` reads."""
    live = await call.agent()
    text = await call.agents.read_log(live, lambda one: reward_table(one.log).write_csv())
    name = f'attachment; filename="{live.name}.csv"'
    return Answer(text, media_type="text/csv; charset=utf-8", headers={"Content-Disposition": name})


async def health(call: Call) -> dict[str, Any]:
    """Say that the process answers, and whether it needs a token."""
    return {"status": "ok", "tokens": call.needs_token}


async def ready(call: Call) -> dict[str, Any]:
    """Say that the store can be used; 503 if not."""
    await call.agents.names()
    return {"status": "ok"}


async def metrics(call: Call) -> Answer:
    """Return metrics in the text format of Prometheus; agents are listed as in the list of agents."""
    found = {}
    for name in (await _page(call))[0]:
        try:
            live = await call.agents.get(name)
            found[name] = await live.commits.read(readings.measured, live.agent)
        except LowRegretError:  # one that is closed or broken must not hide the others
            continue
    lines = [*agent_lines(found), *call.metrics.lines()]
    return Answer("\n".join(lines) + "\n", media_type=MEDIA_TYPE)


def _decided(decision: Decision) -> dict[str, Any]:
    key, arm, time, propensity, timestamp = decision
    return {"id": key, "arm": arm, "time": time, "propensity": propensity, "timestamp": timestamp}
