"""Agents as JSON, without loss.

``format`` increases when the meaning of the JSON changes; every format stays readable. Tables are stored by
columns, which is several times faster to write and to read for many arms.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from math import isfinite
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lowregret._common.spec_errors import first_error
from lowregret._common.validation import MAX_HORIZON, short_repr
from lowregret.engine.exceedances import SamplingRound, new_scores
from lowregret.engine.state import Rows, new_rows
from lowregret.errors import InputError
from lowregret.online.agent_settings import Outside, Settings, policy_from, valid_settings, window_from
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import Decision, Status, decision_number
from lowregret.online.former_formats import upgraded
from lowregret.policies import Policy
from lowregret.policies.arm_memory import PREFIX
from lowregret.policies.base import NoRound
from lowregret.policies.views import mean_of

FORMAT = 2
COLUMNS = "number", "pulls", "reset", "origin", "total", "squares", "eliminated", "active", "listed"
"""The fields of a row that are stored; the mean and the pending pulls follow from them."""

Count = Annotated[int, Field(ge=0, le=MAX_HORIZON)]
Time = Annotated[int, Field(ge=-1, le=MAX_HORIZON)]


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
    matures_after: dict[Literal["seconds", "decisions"], float] | None = None
    expires_after: dict[Literal["seconds", "decisions"], float] | None = None
    default_reward: float | None = None
    minimum_share: float = 0.0
    control: list[str | float] | None = None
    log_propensities: bool | None = None


class ArmsPart(Part):
    """The statistics of arms: sums of the differences between their scaled rewards and the first one."""

    name: list[str]
    number: list[Count]
    pulls: list[Count]
    reset: list[Count]
    origin: list[float]
    total: list[float]
    squares: list[float]
    eliminated: list[Time]
    active: list[bool]
    listed: list[bool]
    memory: dict[str, list[bool | int | float]] | None = None
    rewards: list[list[float]] | None = None
    times: list[list[float]] | None = None


class DecisionsPart(Part):
    """Decisions."""

    id: list[str]
    arm: list[str]
    time: list[Count]
    propensity: list[float | None]
    timestamp: list[float | None]


class Snapshot(Part):
    """An agent; the arms are in the order in which ties are broken."""

    format: Literal[2]
    lowregret: str
    agent: str
    made_with: MadeWith
    epoch: Count
    horizon: Annotated[int, Field(ge=1, le=2**62)]
    asked: Count
    told: Count
    drawn: Count
    discarded: Count
    conflicts: Count
    matured: Count
    round: dict[str, bool | int | float | str]
    arms: ArmsPart
    retired: ArmsPart
    pending: DecisionsPart
    early: dict[str, float]
    answers: dict[str, float | None]
    requests: dict[str, DecisionsPart]
    status: Status = "active"


def write(state: AgentState, for_store: bool = False) -> str:
    """Return an agent as JSON.

    Parameters
    ----------
    state : AgentState
        The state.
    for_store : bool, default False
        Whether to leave out answers and requests, because the store has them. The JSON is then on one line,
        which is several times faster to write while others wait.
    """
    model = state.models[0]
    answers, requests = ({}, {}) if for_store else (state.answers, state.requests)
    retired = [*state.retired.values()]
    data = {
        "format": FORMAT,
        "lowregret": _version(),
        "agent": state.token,
        "made_with": state.settings.described(),
        "epoch": state.epoch,
        "horizon": int(model["horizon"]),
        "asked": state.asked,
        "told": int(model["told"]),
        "drawn": int(model["drawn"]),
        "discarded": int(model["discarded"]),
        "conflicts": state.conflicts,
        "matured": state.matured,
        "round": {key: _written(part) for key, part in state.round._asdict().items()},
        "arms": _arms(state, state.names, state.rows),
        "retired": _arms(state, state.retired, np.concatenate(retired) if retired else state.rows[:0]),
        "pending": _decisions(state.pending.values()),
        "early": {str(number): reward for number, reward in state.early.items() if number in state.pending},
        "answers": answers,
        "requests": {key: _decisions(made.values()) for key, made in requests.items()},
    }
    if state.status != "active":  # so that an older lowregret reads those that are
        data["status"] = state.status
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=None if for_store else 1)


def read(text: str, policy: Policy | None = None) -> AgentState:
    """Return the state of an agent from the JSON of ``write``."""
    parts = _parsed(text)
    settings = settings_of(parts.made_with, policy)
    state = AgentState(settings, parts.agent)
    pending = Counter(parts.pending.arm)
    state.names, state.rows = parts.arms.name, _rows(settings.policy, parts.arms, pending)
    retired = _rows(settings.policy, parts.retired, pending)
    _check(parts)
    state.places = {arm: place for place, arm in enumerate(state.names)}
    state.scores = new_scores(settings.policy, len(state.rows))
    state.retired = {arm: retired[place : place + 1].copy() for place, arm in enumerate(parts.retired.name)}
    for part in (parts.arms, parts.retired):
        _set_rewards(state, part)
    model = state.models[0]
    model["told"], model["waiting"], model["drawn"] = parts.told, len(parts.pending.id), parts.drawn
    model["horizon"], model["discarded"] = parts.horizon, parts.discarded
    state.epoch, state.asked, state.conflicts = parts.epoch, parts.asked, parts.conflicts
    state.matured, state.status = parts.matured, parts.status
    state.round = _round(settings.policy, state.round, parts.round)
    state.pending = _by_number(parts.pending)
    state.early = {_early_number(number, state): reward for number, reward in parts.early.items()}
    state.answers.update(parts.answers)
    for request, made in parts.requests.items():
        state.requests[request] = _by_number(made)
        state.requested += len(made.id)
    return state


def settings_of(made: MadeWith, policy: Policy | None) -> Settings:
    """Return the settings of a stored agent, with the given policy if its class is not in lowregret."""
    return valid_settings(
        policy_from(made.policy.model_dump(by_alias=True), policy),
        made.arms,
        made.horizon,
        made.seed,
        made.reward_range,  # type: ignore[arg-type]
        made.outside,
        window_from(made.matures_after),
        window_from(made.expires_after),
        made.default_reward,
        made.minimum_share,
        made.control,
        made.log_propensities,
    )


def check_playable(state: AgentState) -> None:
    """Reject a state whose numbers the policy cannot compute with; it is as before afterwards."""
    saved = state.save()
    try:
        event = state.choose(state.asked + 1, None, 0.0)
        state.apply_reward(str(event.arm), 0.5)
    except (ValueError, ArithmeticError) as error:
        raise damaged(f"{state.settings.policy} cannot choose an arm from it: {error}") from None
    finally:
        state.restore(saved)


def damaged(problem: str) -> InputError:
    """Return the error of an agent that cannot be loaded."""
    return InputError(f"this agent cannot be loaded: {problem}")


@cache
def _version() -> str:
    return version("lowregret")


def _parsed(text: str) -> Snapshot:
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise InputError(f"not the JSON of an agent: {short_repr(text)}") from None
    if not isinstance(data, dict) or "format" not in data:
        raise InputError(f"not the JSON of an agent, which has a 'format': {short_repr(data)}")
    kind = data["format"]
    if kind not in (1, FORMAT) or isinstance(kind, bool):
        raise InputError(
            f"this lowregret reads agents of formats 1 to {FORMAT}, got {short_repr(kind)}: upgrade it"
        )
    try:
        return Snapshot.model_validate(upgraded(data) if kind == 1 else data)
    except ValidationError as error:
        raise damaged(str(first_error(error, Snapshot))) from None


def _check(parts: Snapshot) -> None:
    """Reject parts that are inconsistent."""
    arms, retired = parts.arms, parts.retired
    names, numbers = [*arms.name, *retired.name], [*arms.number, *retired.number]
    if not arms.name:
        raise damaged("arms must have at least one entry")
    if len(set(names)) < len(names) or sorted(numbers) != list(range(len(numbers))):
        raise damaged("two arms have the same name or number")
    if not any(arms.active):
        raise damaged("no arm is active")
    pulls = [*arms.pulls, *retired.pulls]
    if sum(pulls) != parts.told:
        raise damaged(f"the arms have {sum(pulls)} pulls in total, but {parts.told} rewards are known")
    for name, count, reset in zip(names, pulls, [*arms.reset, *retired.reset], strict=True):
        if reset > count:
            raise damaged(f"arm {name!r} has more forgotten pulls than pulls")
    asked = [decision_number(key) for key in parts.pending.id]
    if sorted(set(asked)) != asked or (asked and not parts.matured < asked[0] <= asked[-1] <= parts.asked):
        raise damaged("the number of a pending decision occurs twice, or was never used")
    known = set(names)
    for made in (parts.pending, *parts.requests.values()):
        for arm in made.arm:
            if arm not in known:
                raise damaged(f"a decision names the unknown arm {short_repr(arm)}")
    for key in parts.answers:
        if not 1 <= decision_number(key) <= parts.asked:
            raise damaged(f"an answer belongs to decision {short_repr(key)}, which was never made")


def _arms(state: AgentState, names: Iterable[str], rows: Rows) -> dict[str, Any]:
    policy = state.settings.policy
    table: dict[str, Any] = {"name": [*names], **{field: rows[field].tolist() for field in COLUMNS}}
    if policy.Memory:
        table["memory"] = {name: rows[PREFIX + name].tolist() for name in policy.Memory._fields}
    if state.rewards is not None:
        kept = [state.rewards[row["number"], : row["pulls"]] for row in rows]
        table["rewards"] = [(each[:, 0] if policy.uses_times else each).tolist() for each in kept]
        if policy.uses_times:
            table["times"] = [each[:, 1].tolist() for each in kept]
    return table


def _set_rewards(state: AgentState, arms: ArmsPart) -> None:
    """Set the rewards of the arms of an agent whose policy uses them, and the steps of these."""
    policy = state.settings.policy
    none: list[list[float]] = [[] for _ in arms.name]
    rewards, times = arms.rewards or none, arms.times or none
    for what, lists in (("rewards", rewards), ("times", times)):
        if len(lists) != len(arms.name):
            raise damaged(f"{what} of {len(arms.name)} arms has {len(lists)} entries")
    uses = {"rewards": policy.uses_rewards, "times": policy.uses_times}
    columns = zip(arms.name, arms.number, arms.pulls, rewards, times, strict=True)
    for name, number, pulls, known, when in columns:
        for what, given in (("rewards", known), ("times", when)):
            if len(given) != (pulls if uses[what] else 0):
                raise damaged(f"arm {name!r} has {len(given)} {what} for {pulls} pulls")
        state.make_room(number, pulls)
        if state.rewards is not None and policy.uses_times:
            state.rewards[number, :pulls, 0], state.rewards[number, :pulls, 1] = known, when
        elif state.rewards is not None:
            state.rewards[number, :pulls] = known


def _rows(policy: Policy, arms: ArmsPart, pending: Mapping[str, int]) -> Rows:
    """Return the rows of a table of arms."""
    size = len(arms.name)
    rows = new_rows(size, policy)
    columns = {field: getattr(arms, field) for field in COLUMNS}
    if policy.Memory:
        memory = arms.memory or {}
        if set(memory) != set(policy.Memory._fields):
            raise damaged(f"the memory of {policy} has other fields than {short_repr(arms.memory)}")
        columns |= {PREFIX + name: column for name, column in memory.items()}
    for field, column in columns.items():
        if len(column) != size:
            raise damaged(f"{field} of {size} arms has {len(column)} entries")
        rows[field] = column
    rows["mean"] = [*map(mean_of, (rows["pulls"] - rows["reset"]).tolist(), arms.origin, arms.total)]
    rows["pending"] = [pending.get(name, 0) for name in arms.name]
    return rows


def _round(policy: Policy, first: Any, parts: dict[str, Any]) -> Any:
    """Return the stored round, with the fields of the first round."""
    if isinstance(first, SamplingRound) and set(parts) == set(NoRound._fields):
        return first  # of a version that sampled every arm
    if set(first._fields) != set(parts):
        raise damaged(f"a round of {policy} has {', '.join(first._fields)}, got {', '.join(parts)}")
    values = dict(parts)
    try:
        for key, part in first._asdict().items():
            if isinstance(parts[key], str) or (isinstance(part, float) and not isinstance(parts[key], bool)):
                values[key] = float(parts[key])
    except (ValueError, OverflowError):
        raise damaged(f"a round must consist of numbers, got {short_repr(parts)}") from None
    return type(first)(**values)


def _written(part: float) -> Any:
    """Return a number of a round as JSON can represent it."""
    part = part.item() if isinstance(part, np.generic) else part
    return part if isfinite(part) else str(part)


def _decisions(decisions: Iterable[Decision]) -> dict[str, list[Any]]:
    columns = [list(column) for column in zip(*decisions, strict=True)] or [[] for _ in Decision._fields]
    return dict(zip(Decision._fields, columns, strict=True))


def _by_number(part: DecisionsPart) -> dict[int, Decision]:
    try:
        made = zip(part.id, part.arm, part.time, part.propensity, part.timestamp, strict=True)
        return {decision_number(one[0]): Decision(*one) for one in made}
    except ValueError:
        raise damaged("the columns of decisions differ in length") from None


def _early_number(text: str, state: AgentState) -> int:
    number = decision_number(text)
    if number not in state.pending:
        raise damaged(f"an early reward belongs to decision {short_repr(text)}, which is not pending")
    return number
