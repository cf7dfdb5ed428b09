"""An agent as a text that people can read, and back, exactly.

The text is JSON. ``format`` is raised when its meaning changes; what was written once can be read for ever.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version
from math import isfinite
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lowregret._common.spec_errors import first_error
from lowregret._common.validation import LONGEST, show
from lowregret.engine.state import new_rows
from lowregret.errors import InputError
from lowregret.online.agent_settings import Outside, checked, recall
from lowregret.online.decisions import Decision, decision_id
from lowregret.online.state import Core
from lowregret.policies import Policy
from lowregret.policies.views import mean_of

FORMAT = 1
FIELDS = {
    "number": "number",
    "pulls": "pulls",
    "forgotten": "forgotten",
    "origin": "origin",
    "total": "total",
    "squares": "squares",
    "dropped": "eliminated",
    "active": "active",
    "marked": "listed",
}
"""What is kept of a row: the keys of a snapshot, and the fields of the row. The mean follows from them."""

Count = Annotated[int, Field(ge=0, le=LONGEST)]


class Part(BaseModel):
    """A part of a snapshot: no more keys than these, and no number in the place of a text."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class PlayedPolicy(Part):
    """The class of the policy and its parameters."""

    kind: str = Field(alias="class")
    parameters: dict[str, bool | int | float | str | None]


class MadeWith(Part):
    """What the agent was made with."""

    policy: PlayedPolicy
    arms: list[str]
    horizon: int | None
    seed: int
    reward_range: list[float] | None
    outside: Outside


class ArmPart(Part):
    """The statistics of an arm: sums of the distances of its scaled rewards from the first one."""

    name: str
    number: Count
    pulls: Count
    forgotten: Count
    origin: float
    total: float
    squares: float
    owed: Count = 0  # only written by the first versions
    dropped: Annotated[int, Field(ge=-1, le=LONGEST)]
    active: bool
    marked: bool
    memory: dict[str, bool | int | float] | None = None


class DecisionPart(Part):
    """A decision."""

    number: Annotated[int, Field(ge=1, le=LONGEST)]
    arm: str
    time: Annotated[int, Field(ge=1, le=LONGEST)]
    propensity: float | None


class Snapshot(Part):
    """All of an agent; the arms in the order in which ties are broken."""

    format: Literal[1]
    lowregret: str
    agent: str
    made_with: MadeWith
    epoch: Count
    horizon: Annotated[int, Field(ge=1, le=2**62)]
    asked: Count
    told: Count
    drawn: Count
    given_up: Count = 0  # which the first files do not have
    conflicts: Count
    round: dict[str, bool | int | float | str]
    arms: Annotated[list[ArmPart], Field(min_length=1)]
    retired: list[ArmPart]
    pending: list[DecisionPart]
    answers: dict[str, float | None]
    requests: dict[str, list[DecisionPart]]


def write(core: Core, whole: bool = True) -> str:
    """Write an agent; unless it is to be ``whole``, without the answers and requests, which a store knows.

    That of a store is on one line, which is several times quicker to write, and others wait for it.
    """
    now, policy = core.nows[0], core.settings.policy
    state = {
        "format": FORMAT,
        "lowregret": version("lowregret"),
        "agent": core.token,
        "made_with": core.settings.described(),
        "epoch": core.epoch,
        "horizon": int(now["horizon"]),
        "asked": core.asked,
        "told": int(now["told"]),
        "drawn": int(now["drawn"]),
        "given_up": int(now["given_up"]),
        "conflicts": core.conflicts,
        "round": {key: _written(part) for key, part in core.round._asdict().items()},
        "arms": [_arm(policy, arm, core.rows[place]) for place, arm in enumerate(core.names)],
        "retired": [_arm(policy, arm, rows[0]) for arm, rows in core.retired.items()],
        "pending": _decisions(core.pending.values()),
        "answers": {str(number): reward for number, reward in core.answers.items()} if whole else {},
        "requests": {text: _decisions(made) for text, made in core.requests.items()} if whole else {},
    }
    return json.dumps(state, ensure_ascii=False, allow_nan=False, indent=1 if whole else None)


def read(text: str, policy: Policy | None = None) -> Core:
    """Make an agent's state from what ``write`` wrote, or say in one sentence why it cannot be."""
    parts = _parsed(text)
    made = parts.made_with
    described = made.policy.model_dump(by_alias=True)
    ends = made.reward_range
    policy = recall(described, policy)
    settings = checked(policy, made.arms, made.horizon, made.seed, ends, made.outside)  # type: ignore[arg-type]
    core = Core(settings, parts.agent)
    _check_names(parts)
    core.names = [arm.name for arm in parts.arms]
    core.places = {arm: place for place, arm in enumerate(core.names)}
    waiting = Counter(one.arm for one in parts.pending)
    core.rows = np.concatenate([_row(policy, arm, waiting[arm.name]) for arm in parts.arms])
    core.retired = {arm.name: _row(policy, arm, waiting[arm.name]) for arm in parts.retired}
    if not core.rows["active"].any():
        raise _damaged("no arm is in play")
    now = core.nows[0]
    now["told"], now["waiting"], now["drawn"] = parts.told, len(parts.pending), parts.drawn
    now["horizon"], now["given_up"] = parts.horizon, parts.given_up
    core.epoch, core.asked, core.conflicts = parts.epoch, parts.asked, parts.conflicts
    core.round = _round(policy, core.round, parts.round)
    decisions = [_decision(core, one) for one in parts.pending]
    core.pending = {one.id: one for one in decisions}
    core.answers.update((_number(key, parts.asked), reward) for key, reward in parts.answers.items())
    for request, ones in parts.requests.items():
        core.requests[request] = [_decision(core, one) for one in ones]
    return core


def _parsed(text: str) -> Snapshot:
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise InputError(f"this is not the JSON of an agent: {show(text)}") from None
    if not isinstance(data, dict) or "format" not in data:
        raise InputError(f"this is not the JSON of an agent, which has a 'format': {show(data)}")
    if data["format"] != FORMAT or isinstance(data["format"], bool):
        raise InputError(
            f"this lowregret reads agents of format {FORMAT}, got {show(data['format'])}: use a newer one"
        )
    try:
        return Snapshot.model_validate(data)
    except ValidationError as error:
        raise _damaged(str(first_error(error, Snapshot))) from None


def _damaged(problem: str) -> InputError:
    return InputError(f"this agent cannot be loaded: {problem}")


def _check_names(parts: Snapshot) -> None:
    """Refuse arms and decisions that do not belong together."""
    arms = [*parts.arms, *parts.retired]
    names = {arm.name for arm in arms}
    if len(names) < len(arms) or sorted(arm.number for arm in arms) != list(range(len(arms))):
        raise _damaged("two arms have one name or one number")
    numbers = [one.number for one in parts.pending]
    if len(set(numbers)) < len(numbers) or max(numbers, default=0) > parts.asked:
        raise _damaged("two pending decisions have one number, or one was never asked")
    for one in (*parts.pending, *(one for ones in parts.requests.values() for one in ones)):
        if one.arm not in names:
            raise _damaged(f"a decision names the unknown arm {one.arm!r}")
    for arm in arms:
        if arm.forgotten > arm.pulls:
            raise _damaged(f"arm {arm.name!r} forgot more pulls than it has")


def _arm(policy: Policy, arm: str, row: np.void) -> dict[str, Any]:
    kept = {"name": arm, **{key: row[field].item() for key, field in FIELDS.items()}}
    if policy.Memory:
        memory = policy.read_memory(row)  # type: ignore[attr-defined]
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
            policy.write_memory(rows[0], policy.Memory(**(arm.memory or {})))  # type: ignore[attr-defined]
        except TypeError:
            raise _damaged(f"the memory of {policy} has other fields than {show(arm.memory)}") from None
    return rows


def _round(policy: Policy, first: Any, parts: dict[str, Any]) -> Any:
    """Make the round again, with the fields of the first; the numbers are those that were written."""
    if set(first._fields) != set(parts):
        raise _damaged(f"a round of {policy} has {', '.join(first._fields)}, got {', '.join(parts)}")
    values = dict(parts)
    try:
        for key, part in first._asdict().items():
            if isinstance(parts[key], str) or (isinstance(part, float) and not isinstance(parts[key], bool)):
                values[key] = float(parts[key])
    except (ValueError, OverflowError):
        raise _damaged(f"a round has numbers, got {show(parts)}") from None
    return type(first)(**values)


def _written(part: float) -> Any:
    """Give a number of a round as JSON can hold it."""
    part = part.item() if isinstance(part, np.generic) else part
    return part if isfinite(part) else str(part)


def _decisions(decisions: Iterable[Decision]) -> list[dict[str, Any]]:
    return [
        {
            "number": int(one.id.rpartition("-")[2]),
            "arm": one.arm,
            "time": one.time,
            "propensity": one.propensity,
        }
        for one in decisions
    ]


def _decision(core: Core, one: DecisionPart) -> Decision:
    return Decision(decision_id(core.token, one.number), one.arm, one.time, one.propensity)


def _number(text: str, asked: int) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= asked:
        raise _damaged(f"an answer belongs to the decision {text!r}, which was never asked")
    return int(text)
