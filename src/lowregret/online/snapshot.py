"""Agents as JSON, without loss.

``format`` increases when the meaning of the JSON changes; every format stays readable.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from math import isfinite
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lowregret._common.spec_errors import first_error
from lowregret._common.validation import MAX_HORIZON, short_repr
from lowregret.engine.state import new_rows
from lowregret.errors import InputError
from lowregret.online.agent_settings import Outside, policy_from, valid_settings
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import Decision, decision_id, decision_number
from lowregret.policies import Policy
from lowregret.policies.views import mean_of

FORMAT = 1
FIELDS = {
    "number": "number",
    "pulls": "pulls",
    "forgotten": "reset",
    "origin": "origin",
    "total": "total",
    "squares": "squares",
    "dropped": "eliminated",
    "active": "active",
    "marked": "listed",
}
"""The keys of a snapshot and the fields of a row that they store; the mean follows from them."""

Count = Annotated[int, Field(ge=0, le=MAX_HORIZON)]


class Part(BaseModel):
    """A part of a snapshot: no other keys, and no conversion between types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class PolicyPart(Part):
    """The class of the policy and its parameters."""

    kind: str = Field(alias="class")
    parameters: dict[str, bool | int | float | str | None]


class MadeWith(Part):
    """The arguments that the agent was created with."""

    policy: PolicyPart
    arms: list[str]
    horizon: int | None
    seed: int
    reward_range: list[float] | None
    outside: Outside
    minimum_share: float = 0.0  # this and the following are missing in the first files
    control: list[str | float] | None = None
    log_propensities: bool | None = None


class ArmPart(Part):
    """The statistics of an arm: sums of the differences between its scaled rewards and the first one."""

    name: str
    number: Count
    pulls: Count
    forgotten: Count
    origin: float
    total: float
    squares: float
    owed: Count = 0  # only written by the first versions
    dropped: Annotated[int, Field(ge=-1, le=MAX_HORIZON)]
    active: bool
    marked: bool
    memory: dict[str, bool | int | float] | None = None


class DecisionPart(Part):
    """A decision."""

    number: Annotated[int, Field(ge=1, le=MAX_HORIZON)]
    arm: str
    time: Annotated[int, Field(ge=1, le=MAX_HORIZON)]
    propensity: float | None


class Snapshot(Part):
    """An agent; the arms are in the order in which ties are broken."""

    format: Literal[1]
    lowregret: str
    agent: str
    made_with: MadeWith
    epoch: Count
    horizon: Annotated[int, Field(ge=1, le=2**62)]
    asked: Count
    told: Count
    drawn: Count
    given_up: Count = 0  # missing in the first files
    conflicts: Count
    round: dict[str, bool | int | float | str]
    arms: Annotated[list[ArmPart], Field(min_length=1)]
    retired: list[ArmPart]
    pending: list[DecisionPart]
    answers: dict[str, float | None]
    requests: dict[str, list[DecisionPart]]


def write(state: AgentState, pending: Mapping[str, Decision] | None = None) -> str:
    """Return an agent as JSON.

    Parameters
    ----------
    state : AgentState
        The state.
    pending : mapping of str to Decision, optional
        The pending decisions of a snapshot for a store, which leaves out answers and requests, because the
        store has them. It is on one line, which is several times faster to write while others wait.
    """
    model, policy = state.models[0], state.settings.policy
    answers, requests = (state.answers, state.requests) if pending is None else ({}, {})
    data = {
        "format": FORMAT,
        "lowregret": version("lowregret"),
        "agent": state.token,
        "made_with": state.settings.described(),
        "epoch": state.epoch,
        "horizon": int(model["horizon"]),
        "asked": state.asked,
        "told": int(model["told"]),
        "drawn": int(model["drawn"]),
        "given_up": int(model["discarded"]),
        "conflicts": state.conflicts,
        "round": {key: _written(part) for key, part in state.round._asdict().items()},
        "arms": [_arm(policy, arm, state.rows[place]) for place, arm in enumerate(state.names)],
        "retired": [_arm(policy, arm, rows[0]) for arm, rows in state.retired.items()],
        "pending": _decisions((state.pending if pending is None else pending).values()),
        "answers": {str(number): reward for number, reward in answers.items()},
        "requests": {key: _decisions(made.values()) for key, made in requests.items()},
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1 if pending is None else None)


def read(text: str, policy: Policy | None = None) -> AgentState:
    """Return the state of an agent from the JSON of ``write``."""
    parts = _parsed(text)
    made = parts.made_with
    described = made.policy.model_dump(by_alias=True)
    ends = made.reward_range
    policy = policy_from(described, policy)
    shares = made.minimum_share, made.control, made.log_propensities
    settings = valid_settings(policy, made.arms, made.horizon, made.seed, ends, made.outside, *shares)  # type: ignore[arg-type]
    state = AgentState(settings, parts.agent)
    _check_names(parts)
    state.names = [arm.name for arm in parts.arms]
    state.places = {arm: place for place, arm in enumerate(state.names)}
    pending = Counter(one.arm for one in parts.pending)
    state.rows = np.concatenate([_row(policy, arm, pending[arm.name]) for arm in parts.arms])
    state.scores = np.zeros(len(state.rows))
    state.retired = {arm.name: _row(policy, arm, pending[arm.name]) for arm in parts.retired}
    if not state.rows["active"].any():
        raise _damaged("no arm is active")
    model = state.models[0]
    model["told"], model["waiting"], model["drawn"] = parts.told, len(parts.pending), parts.drawn
    model["horizon"], model["discarded"] = parts.horizon, parts.given_up
    state.epoch, state.asked, state.conflicts = parts.epoch, parts.asked, parts.conflicts
    state.round = _round(policy, state.round, parts.round)
    decisions = [_decision(state, one) for one in parts.pending]
    state.pending = {one.id: one for one in decisions}
    state.answers.update((_number(key, parts.asked), reward) for key, reward in parts.answers.items())
    for request, ones in parts.requests.items():
        state.requests[request] = {one.number: _decision(state, one) for one in ones}
    return state


def _parsed(text: str) -> Snapshot:
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise InputError(f"not the JSON of an agent: {short_repr(text)}") from None
    if not isinstance(data, dict) or "format" not in data:
        raise InputError(f"not the JSON of an agent, which has a 'format': {short_repr(data)}")
    if data["format"] != FORMAT or isinstance(data["format"], bool):
        raise InputError(
            f"this lowregret reads agents of format {FORMAT}, got {short_repr(data['format'])}: upgrade it"
        )
    try:
        return Snapshot.model_validate(data)
    except ValidationError as error:
        raise _damaged(str(first_error(error, Snapshot))) from None


def _damaged(problem: str) -> InputError:
    return InputError(f"this agent cannot be loaded: {problem}")


def _check_names(parts: Snapshot) -> None:
    """Reject arms and decisions that are inconsistent."""
    arms = [*parts.arms, *parts.retired]
    names = {arm.name for arm in arms}
    if len(names) < len(arms) or sorted(arm.number for arm in arms) != list(range(len(arms))):
        raise _damaged("two arms have the same name or number")
    numbers = [one.number for one in parts.pending]
    if len(set(numbers)) < len(numbers) or max(numbers, default=0) > parts.asked:
        raise _damaged("the number of a pending decision occurs twice, or was never used")
    for one in (*parts.pending, *(one for ones in parts.requests.values() for one in ones)):
        if one.arm not in names:
            raise _damaged(f"a decision names the unknown arm {one.arm!r}")
    for arm in arms:
        if arm.forgotten > arm.pulls:
            raise _damaged(f"arm {arm.name!r} has more forgotten pulls than pulls")


def _arm(policy: Policy, arm: str, row: np.void) -> dict[str, Any]:
    kept = {"name": arm, **{key: row[field].item() for key, field in FIELDS.items()}}
    if policy.Memory:
        memory = policy.read_memory(row)
        kept["memory"] = {name: value.item() for name, value in memory._asdict().items()}
    return kept


def _row(policy: Policy, arm: ArmPart, pending: int) -> Any:
    rows = new_rows(1, policy)
    for key, field in FIELDS.items():
        rows[0][field] = getattr(arm, key)
    rows["mean"] = mean_of(arm.pulls - arm.forgotten, arm.origin, arm.total)
    rows["pending"] = pending
    if policy.Memory:
        try:
            policy.write_memory(rows[0], policy.Memory(**(arm.memory or {})))
        except TypeError:
            raise _damaged(f"the memory of {policy} has other fields than {short_repr(arm.memory)}") from None
    return rows


def _round(policy: Policy, first: Any, parts: dict[str, Any]) -> Any:
    """Return the stored round, with the fields of the first round."""
    if set(first._fields) != set(parts):
        raise _damaged(f"a round of {policy} has {', '.join(first._fields)}, got {', '.join(parts)}")
    values = dict(parts)
    try:
        for key, part in first._asdict().items():
            if isinstance(parts[key], str) or (isinstance(part, float) and not isinstance(parts[key], bool)):
                values[key] = float(parts[key])
    except (ValueError, OverflowError):
        raise _damaged(f"a round must consist of numbers, got {short_repr(parts)}") from None
    return type(first)(**values)


def _written(part: float) -> Any:
    """Return a number of a round as JSON can represent it."""
    part = part.item() if isinstance(part, np.generic) else part
    return part if isfinite(part) else str(part)


def _decisions(decisions: Iterable[Decision]) -> list[dict[str, Any]]:
    return [
        {
            "number": decision_number(one.id),
            "arm": one.arm,
            "time": one.time,
            "propensity": one.propensity,
        }
        for one in decisions
    ]


def _decision(state: AgentState, one: DecisionPart) -> Decision:
    return Decision(decision_id(state.token, one.number), one.arm, one.time, one.propensity)


def _number(text: str, asked: int) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= asked:
        raise _damaged(f"an answer belongs to decision {text!r}, which was never made")
    return int(text)
