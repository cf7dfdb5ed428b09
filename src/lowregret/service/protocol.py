"""The calls of a remote agent: what each sends and what it returns, as coroutines on an ``Endpoint``."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from random import uniform
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import uuid4

from lowregret._common.validation import integer, short_repr
from lowregret.errors import (
    ConflictError,
    InputError,
    LowRegretError,
    PausedError,
    StoreError,
    UnknownDecisionError,
    rejection,
)
from lowregret.online.agent_settings import (
    SETTING_TYPES,
    Settings,
    Window,
    reference_of,
    valid_decisions,
    valid_observation,
    valid_only,
    valid_request,
    valid_reward,
    valid_rewards,
)
from lowregret.online.decisions import FALLBACK, Decision, Event, Reference, Request, Status, decision_id
from lowregret.online.policy_description import policy_from, policy_text
from lowregret.policies import Policy

if TYPE_CHECKING:
    import altair
    import httpx
    import polars

    from lowregret.online.verdict import Verdict

MAX_BATCH = 1_000
MIN_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.05, 2.0
"""How long to wait before a call is sent again: it doubles each time, and half of it is random."""
REPEATED_STATUSES = 429, 502, 503, 504
"""The answers, of the service or of a proxy, after which a call is sent again."""

ERROR_OF_TYPE: dict[str, type[LowRegretError]] = {
    "urn:lowregret:unknown-decision": UnknownDecisionError,
    "urn:lowregret:paused": PausedError,
    "urn:lowregret:conflict": ConflictError,
    "urn:lowregret:store": StoreError,
    "urn:lowregret:internal": StoreError,
}
"""The error that a problem of the service raises; ``InputError`` for all others."""


@dataclass(frozen=True)
class Endpoint:
    """An agent of a service, and how a client sends a request to it and waits."""

    url: str
    name: str
    timeout: float
    request: Callable[..., Awaitable[httpx.Response]]
    sleep: Callable[[float], Awaitable[None]]
    fallback: str | None
    deadline: float | None

    async def get(self, path: str = "") -> Any:
        return await self.send("GET", f"/v1/agents/{self.name}{path}")

    async def post(self, action: str, body: dict[str, Any], timeout: float | None = None) -> Any:
        return await self.send("POST", f"/v1/agents/{self.name}/{action}", body, timeout)

    async def send(self, method: str, path: str, body: Any = None, timeout: float | None = None) -> Any:
        """Send a request until it is answered, and return what the answer contains."""
        import httpx

        end, reason = monotonic() + (timeout or self.timeout), "it does not answer"
        wait = MIN_WAIT_SECONDS
        while (seconds := end - monotonic()) > 0.0:
            try:
                answer = await self.request(method, path, json=body, timeout=seconds)
                if answer.status_code not in REPEATED_STATUSES:
                    return _content(answer.status_code, answer.content)
                reason, after = f"it answers with {answer.status_code}", answer.headers.get("Retry-After", "")
            except httpx.TransportError as error:
                reason, after = str(error) or type(error).__name__, ""
            pause = max(uniform(0.5, 1.0) * wait, float(after) if after.isdecimal() else 0.0)
            if pause > end - monotonic():
                break
            await self.sleep(pause)
            wait = min(2.0 * wait, MAX_WAIT_SECONDS)
        raise StoreError(f"the service at {self.url} cannot be used: {reason}: try again")


def _content(status: int, content: bytes) -> Any:
    """Return what an answer contains, or raise the error of the library that it stands for."""
    try:
        answer = json.loads(content)
    except ValueError:
        answer = None
    if status < 300 and answer is not None:
        return answer
    if isinstance(answer, dict) and isinstance(answer.get("detail"), str):
        error = _error(answer)
        with suppress(TypeError, KeyError):
            error.rejected = {int(entry["index"]): _error(entry) for entry in answer.get("rejected", ())}
        raise error
    raise StoreError(f"the service has answered with status {status}, and not as lowregret does")


def _error(problem: dict[str, Any]) -> LowRegretError:
    return ERROR_OF_TYPE.get(str(problem.get("type")), InputError)(str(problem["detail"]))


def valid_address(url: object) -> str:
    """Return the address of a service without a slash at its end."""
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return url.rstrip("/")
    raise InputError(f"the address of a service begins with http:// or https://, got {short_repr(url)}")


def headers(token: str | None) -> dict[str, str]:
    if token is None:
        return {}
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise InputError("a token is a string as 'lowregret token add' prints it")
    return {"Authorization": f"Bearer {token}"}


async def create(agent: Endpoint, settings: Settings) -> None:
    body = settings.to_dict()
    if ":" in body["policy"]["class"]:
        raise InputError(f"{settings.policy} is not in lowregret: a service creates its own policies alone")
    for key, kind in SETTING_TYPES.items():
        if kind == Window | None and isinstance(getattr(settings, key), int):
            body[key] = getattr(settings, key)
    body |= {"policy": policy_text(body["policy"]), "name": agent.name}
    await agent.send("POST", "/v1/agents", body)


async def ask(
    agent: Endpoint, n: int | None = None, *, only: Iterable[str] | None = None, request: str | None = None
) -> Decision | list[Decision]:
    """Choose arms; the call has a request, so that it can be sent again."""
    count = 1 if n is None else integer("ask", "n", n)
    if count > MAX_BATCH:
        raise InputError(
            f"a service makes at most {MAX_BATCH:,} decisions a call, got n={count:,}: call ask again"
        )
    body = {"n": count, "request": str(uuid4()) if request is None else valid_request(request)}
    arms = [] if only is None else valid_only(only)
    if arms:
        body["only"] = arms
    try:
        decisions = _decisions(await agent.post("ask", body, agent.deadline), count)
    except (StoreError, PausedError):
        if agent.fallback is None:
            raise
        arm = arms[0] if arms and agent.fallback not in arms else agent.fallback
        decisions = [Decision(FALLBACK, arm, 0)] * count
    return decisions[0] if n is None else decisions


async def tell(
    agent: Endpoint,
    decision: Decision | str | None = None,
    reward: float | None = None,
    *,
    request: str | None = None,
) -> bool:
    if reward is None:
        raise InputError("tell: pass the reward as well, as in tell(decision, 1)")
    return await tell_many(agent, [(reference_of(decision, request), valid_reward(reward))]) == 1


async def tell_many(agent: Endpoint, rewards: Iterable[tuple[Reference, float]]) -> int:
    """Report rewards in batches that the service accepts; a reward that is rejected hinders no other one."""
    entries = {
        place: {**_named(reference), "reward": valid_reward(reward)}
        for place, (reference, reward) in enumerate(valid_rewards(rewards))
        if isinstance(reference, Request) or decision_id(reference) != FALLBACK
    }
    places, new, rejected = list(entries), 0, dict[int, LowRegretError]()
    for start in range(0, len(places), MAX_BATCH):
        batch = places[start : start + MAX_BATCH]
        try:
            new += (await agent.post("tell", {"rewards": [entries[place] for place in batch]}))["new"]
        except (ConflictError, UnknownDecisionError) as error:
            if len(places) == 1 or (len(batch) > 1 and not error.rejected):
                raise
            rejected |= {batch[index]: cause for index, cause in (error.rejected or {0: error}).items()}
    if rejected:
        raise rejection(rejected, len(places))
    return new


def _named(reference: Reference) -> dict[str, str]:
    if isinstance(reference, Request):
        return {"request": valid_request(reference.name)}
    return {"id": decision_id(reference)}


async def observe(
    agent: Endpoint, arm: str, reward: float, propensity: float | None = None, request: str | None = None
) -> bool:
    """Learn from a decision that somebody else made; the call has a request, so that it can be sent again."""
    row = valid_observation(arm, reward, propensity, token_hex(16) if request is None else request)
    return await _in_batches(agent, "observe", "decisions", [row._asdict()]) == 1


async def preview(agent: Endpoint) -> Decision:
    return _decisions(await agent.get("/preview"))[0]


async def forget(
    agent: Endpoint, decision: Decision | str | None = None, *, request: str | None = None
) -> bool:
    return await forget_many(agent, [reference_of(decision, request)]) == 1


async def forget_many(agent: Endpoint, decisions: Iterable[Reference]) -> int:
    """Discard decisions, all or none of each 1,000 that are named alike."""
    names = [_named(reference) for reference in valid_decisions(decisions)]
    requests = [name["request"] for name in names if "request" in name]
    ids = [name["id"] for name in names if name.get("id", FALLBACK) != FALLBACK]
    new = await _in_batches(agent, "forget", "ids", ids)
    return new + await _in_batches(agent, "forget", "requests", requests)


async def _in_batches(agent: Endpoint, action: str, key: str, entries: list[Any]) -> int:
    """Send a list in batches that the service accepts; return how many entries were new."""
    new = 0
    for start in range(0, len(entries), MAX_BATCH):
        new += (await agent.post(action, {key: entries[start : start + MAX_BATCH]}))["new"]
    return new


async def add_arm(agent: Endpoint, arm: str, value: Any = None) -> None:
    await agent.post("arms", {"add": arm, "value": value})


async def retire_arm(agent: Endpoint, arm: str) -> None:
    await agent.post("arms", {"retire": arm})


async def pause(agent: Endpoint, fallback: str | None = None) -> bool:
    return await _change_status(agent, "paused", fallback)


async def resume(agent: Endpoint) -> bool:
    return await _change_status(agent, "active")


async def retire(agent: Endpoint) -> bool:
    return await _change_status(agent, "retired")


async def _change_status(agent: Endpoint, status: Status, fallback: str | None = None) -> bool:
    return bool((await agent.post("status", {"status": status, "fallback": fallback}))["changed"])


async def arms(agent: Endpoint) -> tuple[str, ...]:
    return tuple((await agent.get("/arms"))["arms"])


async def time(agent: Endpoint) -> int:
    return int((await agent.get())["pulls"])


async def conflicts(agent: Endpoint) -> int:
    return int((await agent.get())["conflicts"])


async def status(agent: Endpoint) -> Status:
    answer: Status = (await agent.get())["status"]
    return answer


async def pending(agent: Endpoint) -> tuple[Decision, ...]:
    return tuple(_decisions(await agent.get("/pending")))


async def policy(agent: Endpoint) -> Policy:
    return policy_from((await agent.get("/summary"))["settings"]["policy"], None)


async def summary(agent: Endpoint) -> polars.DataFrame:
    return _table(await agent.get("/summary"))


async def verdict(agent: Endpoint, error: float = 0.05, within: float = 0.0) -> Verdict:
    from lowregret.online.verdict import ArmVerdict, Verdict

    answer = await agent.get(f"/verdict?{urlencode({'error': error, 'within': within})}")
    return Verdict(**{**answer, "arms": tuple(ArmVerdict(**arm) for arm in answer["arms"])})


async def plot(agent: Endpoint) -> altair.LayerChart:
    from lowregret.reporting.agent_chart import arms_chart

    answer = await agent.get("/summary")
    return arms_chart(_table(answer), answer["policy"])


async def events(agent: Endpoint) -> polars.DataFrame:
    from lowregret.online.event_tables import event_table

    return event_table(await _log(agent))


async def rewards(agent: Endpoint) -> polars.DataFrame:
    from lowregret.online.event_tables import reward_table

    log = await _log(agent)
    return reward_table(lambda: log)


async def _log(agent: Endpoint) -> list[Event]:
    """Return all events, which are read in pages."""
    log: list[Event] = []
    position = 0
    while True:
        page = await agent.get(f"/events?after={position}&limit={MAX_BATCH}")
        log += [Event(**{field: row[field] for field in Event._fields}) for row in page["events"]]
        if len(page["events"]) < MAX_BATCH:
            return log
        position = page["position"]


def _decisions(answer: Any, count: int | None = None) -> list[Decision]:
    with suppress(TypeError, KeyError):
        decisions = [Decision(**decision) for decision in answer["decisions"]]
        if count in (None, len(decisions)):
            return decisions
    raise StoreError("the service has answered, and not as lowregret does")


def _table(answer: dict[str, Any]) -> polars.DataFrame:
    import polars as pl

    from lowregret.online.arm_summary import ARM_COLUMNS, OPTIONAL_ARM_COLUMNS

    rows: list[dict[str, Any]] = answer["table"]
    later = {name: kind for name, kind in OPTIONAL_ARM_COLUMNS.items() if name in rows[0]}
    return pl.DataFrame(rows, schema={**ARM_COLUMNS, **later})
