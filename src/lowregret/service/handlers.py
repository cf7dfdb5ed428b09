"""The handler of each route; ``app`` checks the call before, and sends the answer after it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import to_json

from lowregret.errors import ConflictError, InputError, LowRegretError
from lowregret.online import calls
from lowregret.online.agent import Agent
from lowregret.online.decisions import FALLBACK, Decision, Event, Observation
from lowregret.online.decisions import Request as RequestName
from lowregret.online.event_tables import reward_tables
from lowregret.online.stores import all_events, retry_if_changed
from lowregret.service import logs, views
from lowregret.service.agents import Agents
from lowregret.service.checks import warnings_of
from lowregret.service.models import Ask, ChangeArms, ChangeStatus, Forget, NewAgent
from lowregret.service.problems import RefusedError
from lowregret.service.prometheus import METRICS_MEDIA_TYPE, Metrics, agent_lines
from lowregret.service.requests import API_HEADERS, Headers
from lowregret.service.shadow import shadow_report

if TYPE_CHECKING:
    from lowregret.service.agents import LiveAgent
    from lowregret.service.tokens import Token

BY_REQUEST = "by-request"
"""The id that a visitor is answered instead of one whose request others can guess."""
RANDOM_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE
)
UUID_LENGTH = 36
MAX_LISTED_EVENTS = 1_000
LOGGED_FIELDS = "policy", "add", "retire", "status", "fallback"
"""What is logged of the body of a call that changes an agent."""
MAX_SHADOW_EVENTS = 50_000
"""The most events of a log that are replayed for an answer, some seconds."""


class Answer(NamedTuple):
    """An answer: its text, in parts or not, status, type, headers, and those of all answers of its kind."""

    content: str | AsyncIterator[str]
    status: int = 200
    media_type: str = "application/json"
    headers: dict[str, str] | None = None
    common: Headers = API_HEADERS


class Call(NamedTuple):
    """A call that was checked: the name of the agent, the body, and the query."""

    agents: Agents
    metrics: Metrics
    needs_token: bool
    token: Token | None
    name: str
    body: Any
    query: dict[str, Any]
    headers: dict[str, str]

    @property
    def visitor(self) -> bool:
        """Whether the call is one of a visitor, who may be anybody."""
        return self.token is not None and not self.token.allows("decide")

    def answered(self, decision: Decision, request: str | None) -> Decision:
        """Return a decision as it is answered: whoever has its id can report its reward.

        A visitor who can guess a request must not get the id. So it is answered only if the request ends with
        a random UUID (version 4).
        """
        if (
            not self.visitor
            or decision.id == FALLBACK
            or RANDOM_UUID.fullmatch((request or "")[-UUID_LENGTH:])
        ):
            return decision
        return decision._replace(id=BY_REQUEST)

    def require_single(self, single: bool) -> None:
        """Refuse a call of a visitor that is more than one decision or its reward."""
        if self.visitor and not single:
            detail = "a visitor asks with a request, without n and only, and tells one reward a call, by id"
            raise RefusedError(403, "forbidden", detail)

    def log_change(self, event: str) -> None:
        """Log who changed an agent, and what."""
        fields = {key: value for key, value in self.body if key in LOGGED_FIELDS and value is not None}
        token = "none" if self.token is None else self.token.name
        logs.write(event, agent=self.name or self.body.name, token=token, **fields)

    async def agent(self) -> LiveAgent:
        """Return the agent of the call."""
        return await self.agents.get(self.name)

    async def read(self, view: Callable[[Agent], dict[str, Any]]) -> dict[str, Any]:
        """Return a view of the agent of the call."""
        return await (await self.agent()).read(view)


async def create(call: Call) -> Answer:
    """Create an agent. The same call again changes nothing; other settings are a conflict."""
    new: NewAgent = call.body
    live, created = await call.agents.create(new.name, new.settings())
    if created:
        call.log_change("create")
    location = {"Location": f"/v1/agents/{new.name}"}
    return Answer(
        to_json(await live.read(views.overview)).decode(), 201 if created else 200, headers=location
    )


async def list_agents(call: Call) -> dict[str, Any]:
    """List agents of the store: those after a position, by default the latest."""
    agents, unavailable = [], []
    names, position, total = await _page(call)
    for name in names:
        try:
            agents.append(await (await call.agents.get(name)).read(views.overview))
        except ConflictError as error:
            unavailable.append({"name": name, "detail": str(error)})
    return {"agents": agents, "unavailable": unavailable, "position": position, "total": total}


async def _page(call: Call) -> tuple[list[str], int, int]:
    """Return the names of the agents that a query asks for, the position after them, and their number."""
    names, limit = await call.agents.names(), call.query["limit"]
    start = call.query.get("after", max(len(names) - limit, 0))
    page = names[start : start + limit]
    return page, min(start, len(names)) + len(page), len(names)


async def ask(call: Call) -> dict[str, Any]:
    """Choose arms. With a request, the call is idempotent: repeated, it returns the same decisions.

    A visitor gets the id "by-request", for which no reward can be reported, unless the request ends with a
    random UUID (version 4), which nobody else can guess.
    """
    body: Ask = call.body
    call.require_single(body.n == 1 and body.only is None and body.request is not None)
    live = await call.agent()
    decisions = await live.commits.call(calls.ask, body.n, body.only, body.request, call.visitor)
    return {"decisions": [call.answered(decision, body.request)._asdict() for decision in decisions]}


async def tell(call: Call) -> dict[str, Any]:
    """Report rewards. The call is idempotent; another reward of a decision is a conflict.

    A reward that is a conflict, or whose decision is unknown, is rejected alone: the others are recorded, and
    the answer is a problem whose ``rejected`` lists what was not.
    """
    rewards = [(reward.reference, reward.reward) for reward in call.body.rewards]
    call.require_single(len(rewards) == 1 and isinstance(rewards[0][0], str))
    if call.visitor and rewards[0][0] == BY_REQUEST:
        detail = "others can guess the request of this decision, so a visitor cannot report its reward"
        advice = "ask with a random UUID as the request, or let your server report the reward by request"
        raise RefusedError(403, "forbidden", f"{detail}: {advice}")
    live = await call.agent()
    return {"new": await live.commits.call(calls.tell, rewards)}


async def observe(call: Call) -> dict[str, Any]:
    """Learn from decisions that somebody else made, all or none. With requests, the call is idempotent."""
    rows = [Observation(**dict(row)) for row in call.body.decisions]
    live = await call.agent()
    return {"new": len(await live.commits.call(calls.observe, rows))}


async def preview(call: Call) -> dict[str, Any]:
    """Show what the next ask would choose, without a decision."""
    return await call.read(lambda agent: {"decisions": [agent.preview()._asdict()]})


async def shadow(call: Call) -> dict[str, Any]:
    """Compare what the agent would have chosen with what others did, and what both would have earned."""
    live = await call.agent()
    position = await live.read(views.position)
    if position > MAX_SHADOW_EVENTS:
        raise ConflictError(f"the log has {position:,} events: use the command 'lowregret agent shadow'")
    if live.shadow is None or live.shadow[0] != position:
        report = await call.agents.read_log(live, lambda live: shadow_report(live.agent, live.log, position))
        live.shadow = position, report
    return live.shadow[1]


async def forget(call: Call) -> dict[str, Any]:
    """Discard decisions whose rewards will never be reported, all or none. The call is idempotent."""
    body: Forget = call.body
    live = await call.agent()
    decisions = [*body.ids, *map(RequestName, body.requests)]
    return {"new": await live.commits.call(calls.forget, decisions)}


async def show(call: Call) -> dict[str, Any]:
    """Show the state of an agent."""
    return await call.read(views.overview)


async def summary(call: Call) -> dict[str, Any]:
    """Show the arms of an agent: pulls, means with intervals, shares, and the estimated loss."""
    return await (await call.agent()).summary()


async def verdict(call: Call) -> dict[str, Any]:
    """Say which arm is the best, if that is known, and how sure that is."""
    return await call.read(lambda agent: agent.verdict(**call.query).to_dict())


async def pending(call: Call) -> dict[str, Any]:
    """List the decisions whose rewards have not been reported, oldest first."""
    return await call.read(lambda agent: {"decisions": [one._asdict() for one in agent.pending]})


async def arms(call: Call) -> dict[str, Any]:
    """List the arms that are not retired."""
    return await call.read(_arm_names)


def _arm_names(agent: Agent) -> dict[str, Any]:
    return {"arms": list(agent.arms)}


async def change_arms(call: Call) -> dict[str, Any]:
    """Add or retire an arm. The call is idempotent: what is done already changes nothing."""
    body: ChangeArms = call.body
    if (body.add is None) == (body.retire is None):
        raise InputError("pass an arm to add or an arm to retire, one of the two")
    live = await call.agent()
    try:
        change = (calls.retire, body.retire) if body.add is None else (calls.add, body.add, body.value)
        if await live.commits.call(*change):
            call.log_change("change_arms")
    except InputError as error:
        if (body.add or body.retire) in {row["arm"] for row in (await live.read(views.summary))["table"]}:
            raise ConflictError(str(error)) from None
        raise
    return await live.read(_arm_names)


async def change_status(call: Call) -> dict[str, Any]:
    """Pause, resume or retire an agent. The call is idempotent; to retire is final."""
    body: ChangeStatus = call.body
    if body.fallback is not None and body.status != "paused":
        raise InputError("a fallback is what a paused agent shows: pass it with the status 'paused'")
    live = await call.agent()
    changed = await live.commits.call(calls.change_status, body.event(), body.fallback)
    if changed:
        call.log_change("change_status")
    return {**await live.read(views.overview), "changed": bool(changed)}


async def events(call: Call) -> dict[str, Any]:
    """List events of the log: those after a position, by default the latest."""
    live, limit = await call.agent(), call.query["limit"]
    last = await live.read(views.position)
    page, position = await call.agents.read_log(live, _events, last, call.query.get("after"), limit)
    rows = [{"position": number, **event._asdict()} for number, event in enumerate(page, position + 1)]
    return {"events": rows, "position": position + len(rows)}


def _events(live: LiveAgent, last: int, after: int | None, limit: int) -> tuple[list[Event], int]:
    def read() -> tuple[list[Event], int]:
        first = live.log.first_snapshot()
        start = max(last - limit if after is None else min(after, last), first[0] if first else 0)
        return live.log.events(start, limit), start

    return retry_if_changed(read)


async def history(call: Call) -> dict[str, Any]:
    """Show decisions and rewards over time, and warnings."""
    live = await call.agent()
    return await call.agents.read_log(live, _history, await live.summary())


def _history(live: LiveAgent, state: dict[str, Any]) -> dict[str, Any]:
    complete, now = live.history.read(), live.agent.transactions.clock()
    return {**live.history.to_dict(complete), "now": now, "warnings": warnings_of(state, live.history, now)}


async def export(call: Call) -> Answer:
    """Return the decisions whose rewards are known as CSV, which ``lowregret replay`` reads."""
    live = await call.agent()
    tables = await call.agents.read_log(live, lambda live: reward_tables(lambda: all_events(live.log)))

    async def parts() -> AsyncIterator[str]:
        first = True
        while (table := await call.agents.read_log(live, lambda _: next(tables, None))) is not None:
            yield table.write_csv(include_header=first)
            first = False

    name = f'attachment; filename="{call.name}.csv"'
    return Answer(parts(), media_type="text/csv; charset=utf-8", headers={"Content-Disposition": name})


async def health(call: Call) -> dict[str, Any]:
    """Say that the process answers, and whether it needs a token."""
    return {"status": "ok", "tokens": call.needs_token}


async def ready(call: Call) -> dict[str, Any]:
    """Say that the store can be used; 503 if not."""
    await call.agents.check_ready()
    return {"status": "ok"}


async def metrics(call: Call) -> Answer:
    """Return metrics in the text format of Prometheus; agents are listed as in the list of agents.

    One that is not open, and for which another one would have to be closed, is only counted.
    """
    values = {}
    names, _, total = await _page(call)
    for name in names:
        try:
            live = await call.agents.get_if_room(name)
            if live is not None:
                values[name] = await live.read(views.metrics)
        except LowRegretError:  # one that is closed or broken must not hide the others
            continue
    lines = [*agent_lines(values, total), *call.metrics.lines()]
    return Answer("\n".join(lines) + "\n", media_type=METRICS_MEDIA_TYPE)
