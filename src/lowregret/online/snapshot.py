"""Agents as JSON, without loss, and that JSON as stores hold it.

``format`` increases when the meaning of the JSON changes. Tables are stored by columns, which is several
times faster to write and to read for many arms.

Stores hold a line with a checksum of the position and the JSON before it. A store returns text; whether that
is the text that was written, for this agent and position, is decided here. Where it is, but cannot be read,
another version wrote it, and nothing is damaged.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from math import isfinite
from types import NoneType
from typing import Any, get_args

import numpy as np

from lowregret._common.spec_errors import Key, SpecError, unknown_key
from lowregret._common.validation import short_repr
from lowregret.engine.kernels.exceedances import SamplingRound, new_scores
from lowregret.engine.kernels.state import ROW, Rows, fill_rewards, new_rows
from lowregret.errors import InputError, StoreError
from lowregret.online import live_periods
from lowregret.online.agent_settings import Settings, stored_settings
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import Decision, Status, decision_number, decision_of
from lowregret.online.stores import NewerError
from lowregret.policies import Policy
from lowregret.policies.arm_memory import PREFIX
from lowregret.policies.base import NoRound
from lowregret.policies.mossv import Round as PeerRound
from lowregret.policies.views import count_of, mean_of

SNAPSHOT_FORMAT = 2
ROW_COLUMNS = "number", "pulls", "origin", "total", "squares", "eliminated", "active", "listed"
"""The fields of a row that are stored; the mean and the pending pulls follow from them. "reset" is the number
of forgotten rewards less those of a prior."""
_NUMBER = float | None
_ARMS = {
    "name": [str], "reset": [int], **{key: [type(ROW[key].type().item())] for key in ROW_COLUMNS},
    "memory": {str: [bool | float]}, "rewards": [[float]], "times": [[float]],
}  # fmt: skip
_DECISIONS = {"id": [str], "arm": [str], "time": [int], "propensity": [_NUMBER], "timestamp": [_NUMBER]}
_COUNTS = "format", "epoch", "horizon", "asked", "told", "drawn", "discarded", "conflicts", "matured"
SNAPSHOT = {
    "lowregret": str, "agent": str, "made_with": {str: object}, "round": {str: float | str},
    **dict.fromkeys(_COUNTS, int), "arms": _ARMS, "retired": _ARMS, "pending": _DECISIONS,
    "early": {str: float}, "answers": {str: _NUMBER}, "requests": {str: _DECISIONS},
    "status": str, "fallback": str | None, "defaulted": int, "values": {str: object},
    "periods": live_periods.JSON_TYPES, "days": {str: {str: [float]}}, "products": {str: [float]},
    "negative": bool,
}  # fmt: skip
"""The types of the JSON; ``str`` stands for any key of a table."""
OPTIONAL = (
    "memory", "rewards", "times", "status", "fallback", "defaulted", "values", "periods", "matched", "sums",
    "days", "products", "negative",
)  # fmt: skip
"""The keys that only some agents have, or that 0.1.0 did not write."""
_KINDS: dict[Any, tuple[str, tuple[type, ...]]] = {
    bool: ("true or false", (bool,)),
    int: ("an integer", (int,)),
    float: ("a number", (float, int)),
    bool | float: ("a number", (float, int, bool)),
    float | str: ("a number or a string", (float, int, bool, str)),
    _NUMBER: ("a number or null", (float, int, NoneType)),
    str: ("a string", (str,)),
    str | None: ("a string or null", (str, NoneType)),
    list: ("a list", (list,)),
    dict: ("a table", (dict,)),
}


def write(
    state: AgentState, for_store: bool = False, requests: dict[str, dict[int, Decision]] | None = None
) -> str:
    """Return an agent as JSON; for a store on one line, which is several times faster to write.

    ``requests`` are those that a log has; by default the ones that the state remembers.
    """
    model = state.models[0]
    answers, requests = ({}, {}) if for_store else (state.answers, requests or state.requests)
    hidden = np.concatenate([state.rows[:0], *state.hidden.values()])
    data = {
        "format": SNAPSHOT_FORMAT,
        "lowregret": _version(),
        "agent": state.token,
        "made_with": state.settings.to_dict(),
        "epoch": state.epoch,
        "horizon": int(model["horizon"]),
        "asked": state.asked,
        "told": int(model["told"]),
        "drawn": int(model["drawn"]),
        "discarded": int(model["discarded"]),
        **({"defaulted": int(model["defaulted"])} if model["defaulted"] else {}),
        "conflicts": state.conflicts,
        "matured": state.matured,
        "round": {key: _json_number(part) for key, part in state.round._asdict().items()},
        "arms": _arms(state, state.names, state.rows),
        "retired": _arms(state, state.hidden, hidden),
        "pending": _decisions(state.pending.values()),
        "early": {str(number): reward for number, reward in state.early.items() if number in state.pending},
        "answers": answers,
        "requests": {key: _decisions(decisions.values()) for key, decisions in requests.items()},
    }
    if state.status != "active":  # so that an older lowregret reads those that are
        data |= {"status": state.status, **({"fallback": state.fallback} if state.fallback else {})}
    if state.values:
        data["values"] = state.values
    data |= state.by_period.to_json(state.is_compiled)
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=None if for_store else 1)


def read(text: str, policy: Policy | None = None) -> AgentState:
    parts = _parse(text)
    settings = stored_settings(parts["made_with"], policy)
    state = AgentState(settings, parts["agent"])
    pending = Counter(parts["pending"]["arm"])
    state.names, state.rows = parts["arms"]["name"], _rows(settings, parts["arms"], pending)
    retired = _rows(settings, parts["retired"], pending)
    _check(parts)
    state.places = {arm: place for place, arm in enumerate(state.names)}
    state.scores = new_scores(settings.policy, len(state.rows))
    hidden = parts["retired"]["name"]
    state.hidden = {arm: retired[place : place + 1].copy() for place, arm in enumerate(hidden)}
    for part in (parts["arms"], parts["retired"]):
        _set_rewards(state, part)
    model = state.models[0]
    model["waiting"] = len(parts["pending"]["id"])
    for field in ("told", "drawn", "horizon", "discarded"):
        model[field] = parts[field]
    model["defaulted"] = parts.get("defaulted", 0)
    state.epoch, state.asked, state.conflicts = parts["epoch"], parts["asked"], parts["conflicts"]
    state.matured, state.status = parts["matured"], parts["status"]
    state.fallback, state.values = parts.get("fallback"), parts.get("values", {})
    state.round = _round(settings.policy, state.round, parts["round"])
    state.pending = _by_number(parts["pending"])
    state.early = {_early_number(number, state): reward for number, reward in parts["early"].items()}
    state.answers.update(parts["answers"])
    if (settings.period is None) == ("periods" in parts):
        raise damaged("it has periods, and no period in its settings, or the other way round")
    try:
        state.by_period.read_json(parts)
    except ValueError as error:
        raise damaged(str(error)) from None
    for request, decisions in parts["requests"].items():
        state.requests[request] = _by_number(decisions)
        state.requested += len(decisions["id"])
    return state


def check_playable(state: AgentState) -> None:
    """Reject a state whose numbers the policy cannot compute with; it is as before afterwards."""
    saved = state.save()
    try:
        event = state.choose(state.asked + 1, None, 0.0)
        state.apply_reward(decision_of(event), state.settings.unscaled(0.5))
    except (ValueError, ArithmeticError) as error:
        policy = state.settings.policy  # one that is not ours may divide by 0, as in simulations
        if isinstance(error, ValueError) or type(policy).__module__.startswith("lowregret."):
            raise damaged(f"{policy} cannot choose an arm from it: {error}") from None
    finally:
        state.restore(saved)


def damaged(problem: str) -> InputError:
    return InputError(f"this agent cannot be loaded: {problem}")


@cache
def _version() -> str:
    from importlib.metadata import version  # which takes longer to import than the first decision may

    return version("lowregret")


def _parse(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise InputError(f"not the JSON of an agent: {short_repr(text)}") from None
    if not isinstance(data, dict) or "format" not in data:
        raise InputError(f"not the JSON of an agent, which has a 'format': {short_repr(data)}")
    kind = data["format"]
    if kind != SNAPSHOT_FORMAT:
        newer = isinstance(kind, int) and kind > SNAPSHOT_FORMAT
        raise InputError(
            f"this lowregret reads agents of format {SNAPSHOT_FORMAT}, got {short_repr(kind)}: "
            + ("a newer one wrote it, so upgrade" if newer else "use the version that wrote it")
        )
    try:
        _require(SNAPSHOT, data)
        if data.get("status", "active") not in get_args(Status):
            raise SpecError(["status"], f"must be one of {get_args(Status)}, got {data['status']!r}")
    except SpecError as error:
        raise damaged(str(error)) from None
    return {"status": "active", **data}


def _require(kind: Any, value: Any, *path: Key) -> None:
    """Check that a value of JSON has a type: see ``SNAPSHOT``; an integer is at least 0, a number finite."""
    if kind is object:
        return
    words, classes = _KINDS[type(kind) if isinstance(kind, list | dict) else kind]
    if type(value) not in classes:
        raise SpecError(path, f"must be {words}, got {short_repr(value)}")
    if kind is int and value < 0 and not {"eliminated", "reset"} & set(path):
        raise SpecError(path, f"must be at least 0, got {value}")
    if (type(value) is int and abs(value) > 2**62) or (type(value) is float and not isfinite(value)):
        raise SpecError(path, f"is too large or not finite: {short_repr(value)}")
    if isinstance(kind, list):
        for place, item in enumerate(value):
            _require(kind[0], item, *path, place)
    elif isinstance(kind, dict):
        types = dict.fromkeys(value, kind[str]) if str in kind else kind
        for key in types:
            if key in value:
                _require(types[key], value[key], *path, key)
            elif key not in OPTIONAL:
                raise SpecError((*path, key), "is missing")
        for key in value:
            if key not in types:
                raise SpecError(path, unknown_key(key, types))


def _check(parts: dict[str, Any]) -> None:
    arms, retired = parts["arms"], parts["retired"]
    names, numbers = [*arms["name"], *retired["name"]], [*arms["number"], *retired["number"]]
    if not arms["name"]:
        raise damaged("arms must have at least one entry")
    if len(set(names)) < len(names) or sorted(numbers) != list(range(len(numbers))):
        raise damaged("two arms have the same name or number")
    if not any(arms["active"]):
        raise damaged("no arm is active")
    pulls = [*arms["pulls"], *retired["pulls"]]
    if sum(pulls) != parts["told"]:
        raise damaged(f"the arms have {sum(pulls)} pulls in total, but {parts['told']} rewards are known")
    for name, count, reset in zip(names, pulls, [*arms["reset"], *retired["reset"]], strict=True):
        if reset > count:
            raise damaged(f"arm {name!r} has more forgotten pulls than pulls")
    asked, last = [decision_number(key) for key in parts["pending"]["id"]], parts["asked"]
    if sorted(set(asked)) != asked or (asked and not parts["matured"] < asked[0] <= asked[-1] <= last):
        raise damaged("the number of a pending decision occurs twice, or was never used")
    arm_names = set(names)
    for decisions in (parts["pending"], *parts["requests"].values()):
        for arm in decisions["arm"]:
            if arm not in arm_names:
                raise damaged(f"a decision names the unknown arm {short_repr(arm)}")
    for key in parts["answers"]:
        if not 1 <= decision_number(key) <= parts["asked"]:
            raise damaged(f"an answer belongs to decision {short_repr(key)}, which was never made")


def _arms(state: AgentState, names: Iterable[str], rows: Rows) -> dict[str, Any]:
    policy = state.settings.policy
    table: dict[str, Any] = {"name": [*names], **{field: rows[field].tolist() for field in ROW_COLUMNS}}
    table["reset"] = (rows["forgotten"] - rows["prior"]).tolist()
    if policy.Memory:
        table["memory"] = {name: rows[PREFIX + name].tolist() for name in policy.Memory._fields}
    if state.rewards is not None:
        histories = [state.rewards[row["number"], : row["prior"] + row["pulls"]] for row in rows]
        table["rewards"] = [
            (history[:, 0] if history.ndim == 2 else history).tolist() for history in histories
        ]
        if policy.uses_times:
            table["times"] = [history[:, 1].tolist() for history in histories]
    return table


def _set_rewards(state: AgentState, arms: Any) -> None:
    """Set the rewards of the arms of an agent whose policy uses them, and the steps of these."""
    policy = state.settings.policy
    empty: list[list[float]] = [[] for _ in arms["name"]]
    rewards, times = arms.get("rewards") or empty, arms.get("times") or empty
    for what, lists in (("rewards", rewards), ("times", times)):
        if len(lists) != len(arms["name"]):
            raise damaged(f"{what} of {len(arms['name'])} arms has {len(lists)} entries")
    uses = {"rewards": policy.uses_rewards, "times": policy.uses_times}
    priors = state.settings.priors()
    columns = zip(arms["name"], arms["number"], arms["pulls"], rewards, times, strict=True)
    for name, number, pulled, arm_rewards, arm_times in columns:
        pulls = pulled + (priors[name].weight if name in priors else 0)
        for what, values in (("rewards", arm_rewards), ("times", arm_times)):
            if len(values) != (pulls if uses[what] else 0):
                raise damaged(f"arm {name!r} has {len(values)} {what} for {pulls} pulls")
        state.reserve(number, pulls)
        if state.rewards is not None:
            fill_rewards(policy, state.rewards, number, arm_rewards, arm_times)


def _rows(settings: Settings, arms: Any, pending: Mapping[str, int]) -> Rows:
    policy, size, priors = settings.policy, len(arms["name"]), settings.priors()
    rows = new_rows(size, policy)
    columns = {field: arms[field] for field in ROW_COLUMNS}
    if len(arms["reset"]) != size:
        raise damaged(f"reset of {size} arms has {len(arms['reset'])} entries")
    if policy.Memory:
        memory = arms.get("memory") or {}
        if set(memory) != set(policy.Memory._fields):
            raise damaged(f"the memory of {policy} has other fields than {short_repr(arms['memory'])}")
        columns |= {PREFIX + name: column for name, column in memory.items()}
    for field, column in columns.items():
        if len(column) != size:
            raise damaged(f"{field} of {size} arms has {len(column)} entries")
        rows[field] = column
    rows["pending"] = [pending.get(name, 0) for name in arms["name"]]
    rows["prior"] = [priors[name].weight if name in priors else 0 for name in arms["name"]]
    rows["forgotten"] = rows["prior"] + np.array(arms["reset"], np.int64)
    if (rows["forgotten"] < 0).any():
        raise damaged("an arm has more rewards of a prior than the settings give it")
    rows["mean"] = [*map(mean_of, map(count_of, rows), arms["origin"], arms["total"])]
    return rows


def _round(policy: Policy, first: Any, parts: dict[str, Any]) -> Any:
    """Return the stored round, with the fields of the first round."""
    if isinstance(first, SamplingRound | PeerRound) and set(parts) == set(NoRound._fields):
        return first  # of a version whose policy had no rounds
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


def _json_number(part: float) -> Any:
    """Return a number of a round as JSON can represent it."""
    part = part.item() if isinstance(part, np.generic) else part
    return part if isfinite(part) else str(part)


def _decisions(decisions: Iterable[Decision]) -> dict[str, list[Any]]:
    columns = [list(column) for column in zip(*decisions, strict=True)] or [[] for _ in Decision._fields]
    return dict(zip(Decision._fields, columns, strict=True))


def _by_number(part: Any) -> dict[int, Decision]:
    try:
        rows = zip(part["id"], part["arm"], part["time"], part["propensity"], part["timestamp"], strict=True)
        return {decision_number(row[0]): Decision(*row) for row in rows}
    except ValueError:
        raise damaged("the columns of decisions differ in length") from None


def _early_number(text: str, state: AgentState) -> int:
    number = decision_number(text)
    if number not in state.pending:
        raise damaged(f"an early reward belongs to decision {short_repr(text)}, which is not pending")
    return number


def write_checksummed(state: AgentState, position: int) -> str:
    """Return the snapshot of a state after so many events."""
    text = write(state, for_store=True)
    return f"{_checksum(position, text)}\n{text}"


def read_checksummed(position: int, text: str, policy: Policy | None, token: str) -> AgentState:
    """Return the state of a snapshot of a store."""
    checksum, _, inner = text.partition("\n")
    if checksum != _checksum(position, inner):
        raise StoreError(
            f"the snapshot at event {position} is damaged: its checksum does not match, restore a copy"
        )
    try:
        state = read(inner, policy)
    except InputError as error:
        raise NewerError(
            f"a newer lowregret wrote the snapshot at event {position}: upgrade this host ({error})"
        ) from None
    if state.token != token:
        raise StoreError(f"the snapshot at event {position} is of another agent: restore a copy")
    return state


def state_at(snapshot: tuple[int, str] | None, settings: Settings, token: str) -> tuple[AgentState, int]:
    """Return the state of a snapshot and its position; that of a new agent if there is none."""
    if snapshot is None:
        return AgentState(settings, token), 0
    return read_checksummed(*snapshot, settings.policy, token), snapshot[0]


def _checksum(position: int, text: str) -> str:
    return sha256(f"{position}\n{text}".encode()).hexdigest()
