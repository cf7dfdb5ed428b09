"""What clients send and how they read the answers, whichever way they send it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from random import uniform
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from lowregret._common.validation import integer, short_repr
from lowregret.errors import ConflictError, InputError, StoreError, UnknownDecisionError
from lowregret.online.agent_settings import (
    Settings,
    policy_text,
    valid_name,
    valid_only,
    valid_request,
    valid_reward,
    valid_settings,
)
from lowregret.online.decisions import Decision, Status
from lowregret.policies import Policy

if TYPE_CHECKING:
    import polars

MAX_BATCH = 1_000
"""The most decisions or rewards of one call."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
"""Seconds before a call is sent again; they double, and half of them is random."""
DEFAULTS: tuple[Any, ...] = (None, 0, (0, 1), "refuse", None, None, None, 0.0, None, None)

ERRORS: dict[str, type[Exception]] = {
    "urn:lowregret:unknown-decision": UnknownDecisionError,
    "urn:lowregret:conflict": ConflictError,
    "urn:lowregret:store": StoreError,
    "urn:lowregret:internal": StoreError,
}
"""The error that a problem of the service raises; ``InputError`` for all others."""


class Sent(NamedTuple):
    """A call: its method, path and body."""

    method: str
    path: str
    body: Any = None


def valid_address(url: object) -> str:
    """Return the address of a service without a slash at its end."""
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return url.rstrip("/")
    raise InputError(f"the address of a service begins with http:// or https://, got {short_repr(url)}")


def headers(token: str | None) -> dict[str, str]:
    """Return the headers of every call."""
    if token is None:
        return {}
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise InputError("a token is a string as 'lowregret token add' prints it")
    return {"Authorization": f"Bearer {token}"}


def given_settings(
    policy: Policy | str | None, arms: Iterable[str] | None, *rest: Any
) -> dict[str, Any] | None:
    """Return the settings of an agent to create as JSON, None if it must exist."""
    if policy is None or arms is None:
        if policy is not None or arms is not None or rest != DEFAULTS:
            raise InputError("connect: pass the policy and the arms, or nothing but the name")
        return None
    settings: Settings = valid_settings(policy, arms, *rest)
    found = settings.described()
    if ":" in found["policy"]["class"]:
        raise InputError(f"{settings.policy} is not in lowregret: a service creates its own policies alone")
    for key in ("matures_after", "expires_after"):
        if found[key] and "decisions" in found[key]:
            found[key] = found[key]["decisions"]
    return {**found, "policy": policy_text(found["policy"])}


def creating(name: str, settings: dict[str, Any]) -> Sent:
    """Return the call that creates an agent."""
    return Sent("POST", "/v1/agents", {"name": valid_name(name), **settings})


def reading(name: str, what: str = "") -> Sent:
    """Return a call that reads."""
    return Sent("GET", f"/v1/agents/{valid_name(name)}{what}")


def asking(name: str, n: int | None, only: Iterable[str] | None, request: str | None) -> Sent:
    """Return the call that asks; it has a request, so that it can be repeated."""
    count = 1 if n is None else integer("ask", "n", n)
    if count > MAX_BATCH:
        raise InputError(
            f"a service makes at most {MAX_BATCH:,} decisions a call, got n={count:,}: call ask again"
        )
    request = token_hex(16) if request is None else valid_request(request)
    rest = {} if only is None else {"only": valid_only(only)}
    return Sent("POST", f"/v1/agents/{name}/ask", {"n": count, "request": request, **rest})


def telling(name: str, rewards: Iterable[tuple[Decision | str, float]]) -> list[Sent]:
    """Return the calls that tell."""
    try:
        pairs = [(decision, reward) for decision, reward in rewards]
    except (TypeError, ValueError):
        raise InputError("tell_many takes pairs of a decision and its reward") from None
    found = [{"id": _key(decision), "reward": valid_reward(reward)} for decision, reward in pairs]
    return [Sent("POST", f"/v1/agents/{name}/tell", {"rewards": part}) for part in _parts(found)]


def forgetting(name: str, decisions: Iterable[Decision | str]) -> list[Sent]:
    """Return the calls that forget."""
    if isinstance(decisions, str | Decision) or not isinstance(decisions, Iterable):
        raise InputError(f"forget_many takes a list of decisions, got {short_repr(decisions)}")
    found = [_key(decision) for decision in decisions]
    return [Sent("POST", f"/v1/agents/{name}/forget", {"ids": part}) for part in _parts(found)]


def _parts(entries: list[Any]) -> list[list[Any]]:
    """Divide a list into parts that the service accepts; an empty one is a part."""
    return [entries[start : start + MAX_BATCH] for start in range(0, max(len(entries), 1), MAX_BATCH)]


def changing_arms(name: str, key: str, arm: str) -> Sent:
    """Return the call that adds or retires an arm."""
    return Sent("POST", f"/v1/agents/{name}/arms", {key: arm})


def changing_status(name: str, status: Status) -> Sent:
    """Return the call that pauses, resumes or retires an agent."""
    return Sent("POST", f"/v1/agents/{name}/status", {"status": status})


def asked(answer: dict[str, Any]) -> list[Decision]:
    """Return the decisions of the answer to an ask."""
    return [
        Decision(made["id"], made["arm"], made["time"], made["propensity"], made["timestamp"])
        for made in answer["decisions"]
    ]


def counted(answers: Iterable[dict[str, Any]]) -> int:
    """Return how many rewards or decisions of the answers were new."""
    return sum(int(answer["new"]) for answer in answers)


def summarised(answer: dict[str, Any]) -> polars.DataFrame:
    """Return the table of the arms of an answer."""
    import polars as pl

    from lowregret.online.arm_summary import COLUMNS

    return pl.DataFrame(answer["table"], schema=COLUMNS)


def result_of(status: int, content: bytes) -> Any:
    """Return what an answer contains, or raise the error of the library that it stands for."""
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if status < 300 and found is not None:
        return found
    if isinstance(found, dict) and isinstance(found.get("detail"), str):
        raise ERRORS.get(str(found.get("type")), InputError)(found["detail"])
    raise StoreError(f"the service has answered with status {status}, and not as lowregret does")


class Retries:
    """How long a call may still take, and how long to wait before it is sent again.

    Parameters
    ----------
    url : str
        The address of the service.
    timeout : float
        How many seconds the call may take, including its repetitions.
    """

    def __init__(self, url: str, timeout: float) -> None:
        self._url, self._end, self._pause = url, monotonic() + timeout, FIRST_PAUSE
        self._reason = "it does not answer"

    def left(self) -> float:
        """Return how many seconds are left; raise ``StoreError`` if there are none."""
        left = self._end - monotonic()
        if left <= 0.0:
            raise StoreError(f"the service at {self._url} cannot be used: {self._reason}: try again")
        return left

    def pause(self, reason: str) -> float:
        """Note why a call failed, and return how many seconds to wait."""
        pause, self._reason = uniform(0.5, 1.0) * self._pause, reason
        self._pause = min(2.0 * self._pause, LONGEST_PAUSE)
        return min(pause, max(self._end - monotonic(), 0.0))


def _key(decision: Decision | str) -> str:
    if isinstance(decision, Decision):
        return decision.id
    if isinstance(decision, str):
        return decision
    raise InputError(f"a decision must be a Decision or its id, got {short_repr(decision)}")
