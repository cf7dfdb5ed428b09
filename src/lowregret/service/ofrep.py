"""Agents as feature flags: the OpenFeature Remote Evaluation Protocol, OFREP, version 0.3.

A flag is an agent, its variants are the arms, and the ``targetingKey`` is the request, so that the same key
gets the same arm. An evaluation makes a decision, which is stored. So only agents whose decisions have a
window are flags: many keys never report a reward. And the bulk form, which a page calls for all flags at
once, evaluates those agents alone that its context or its token names.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from pydantic import BaseModel

from lowregret.errors import InputError, PausedError, StoreError
from lowregret.online import calls
from lowregret.online.agent_settings import valid_request
from lowregret.online.decisions import FALLBACK
from lowregret.service.handlers import Answer, Call
from lowregret.service.problems import RefusedError

FLAGS = "/ofrep/v1/evaluate/flags"
MAX_FLAGS = 100
CODES = "TARGETING_KEY_MISSING", "GENERAL"
"""The codes that we raise ourselves; others follow from the status."""


class Evaluation(BaseModel):
    """What is known of whom a flag is evaluated for."""

    context: dict[str, Any] = {}


async def evaluate_flag(call: Call) -> dict[str, Any]:
    """Make the decision of a key, or return it."""
    return await _evaluate(call, call.name, _key(call.body.context))


async def evaluate_flags(call: Call) -> Answer:
    """Make the decisions of a key by several agents, or return them; 304 if the client has them already."""
    key, flags = _key(call.body.context), []
    for name in _names(call):
        try:
            flags.append(await _evaluate(call, name, key))
        except (RefusedError, InputError) as error:
            flags.append({"key": name, "errorCode": "GENERAL", "errorDetails": str(error)})
    text = json.dumps({"flags": flags})
    tag = f'"{sha256(text.encode()).hexdigest()[:32]}"'
    tags = [part.strip().removeprefix("W/") for part in call.headers.get("if-none-match", "").split(",")]
    headers = {"ETag": tag}
    return Answer("", 304, headers=headers) if tag in tags or "*" in tags else Answer(text, headers=headers)


async def _evaluate(call: Call, name: str, key: str) -> dict[str, Any]:
    """Return the evaluation of one flag."""
    live = await call.agents.get(name)
    settings = live.agent.transactions.state.settings
    if settings.window is None:
        reason = (
            f"agent {name!r} has no window: create it with matures_after or expires_after, since many keys"
        )
        raise RefusedError(400, "GENERAL", f"{reason} that a flag is evaluated for never report a reward")
    try:
        (decision,) = await live.commits.call(calls.ask, 1, None, key, call.visitor)
    except PausedError:
        return {"key": name, "reason": "DISABLED", "variant": "paused"}  # no value: the caller has a default
    added, recorded = live.agent.transactions.state.values, decision.id != FALLBACK
    values = {**(settings.values or {}), **added}
    metadata = (
        {"decision": call.answered(decision, key).id, "propensity": decision.propensity} if recorded else {}
    )
    return {
        "key": name,
        "reason": "SPLIT" if recorded else "DISABLED",
        "variant": decision.arm,
        "value": values.get(decision.arm, decision.arm),
        "metadata": {name: value for name, value in metadata.items() if value is not None},
    }


def _key(context: dict[str, Any]) -> str:
    key = context.get("targetingKey")
    if not isinstance(key, str) or not key:
        raise RefusedError(400, CODES[0], "the context needs a targetingKey, a string that is not empty")
    return valid_request(key)


def _names(call: Call) -> list[str]:
    """Return the agents that a bulk evaluation is for."""
    bound = None if call.token is None else call.token.agents
    names = call.body.context.get("agents", bound)
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(
            "name the agents in the context, as agents: 'buttons, banner', or use a token that is bound to "
            "agents: each evaluation makes a decision"
        )
    if len(names) > MAX_FLAGS:
        raise InputError(f"at most {MAX_FLAGS} agents are evaluated at once, got {len(names):,}")
    for name in names:
        if bound is not None and name not in bound:
            raise RefusedError(403, "forbidden", f"the token is not for agent {name!r}")
    return list(dict.fromkeys(names))


def failure(problem: Answer, error: Exception, name: str) -> Answer:
    """Return the answer to a call that failed, as the protocol has it."""
    status, details = problem.status, json.loads(str(problem.content))["detail"]
    if status in (401, 403):
        return problem
    if isinstance(error, StoreError) or status >= 500:
        return Answer(json.dumps({"errorDetails": details}), 500, headers=problem.headers)
    code = getattr(error, "kind", "INVALID_CONTEXT")
    if status == 404:
        code = "FLAG_NOT_FOUND"
    elif code not in CODES:
        unread = status in (408, 413, 415) or "the body is not JSON" in details
        status, code = 400, "PARSE_ERROR" if unread else "INVALID_CONTEXT"
    flag = {"key": name} if name else {}
    return Answer(json.dumps({**flag, "errorCode": code, "errorDetails": details}), status)
