"""Agents of format 1 as agents of format 2.

In format 1 the ids of all decisions of an agent had the same random part, the token of the agent; tables
were lists of rows, and some fields had other names.
"""

from __future__ import annotations

from typing import Any

from lowregret.online.agent_settings import with_current_name

COLUMNS = {
    "name": "name",
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
"""The fields of an arm, and their names now; the first versions also wrote ``owed``."""


def upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of an agent of format 1 as JSON of format 2; what cannot be converted is left out.

    Missing keys are found when the result is validated.
    """
    token = data.get("agent")
    new = {key: value for key, value in data.items() if key != "given_up"}
    new |= {"format": 2, "discarded": data.get("given_up", 0), "matured": 0, "early": {}}
    for key in ("arms", "retired"):
        if isinstance(data.get(key), list):
            new[key] = _arms(data[key])
    if isinstance(data.get("pending"), list):
        new["pending"] = _decisions(token, sorted(data["pending"], key=_number))
    if isinstance(data.get("answers"), dict):
        new["answers"] = {f"{token}-{number}": reward for number, reward in data["answers"].items()}
    if isinstance(data.get("requests"), dict):
        new["requests"] = {key: _decisions(token, made) for key, made in data["requests"].items()}
    return new


def upgraded_head(head: dict[str, Any]) -> dict[str, Any]:
    """Return the head of a store of format 1 as one of format 2."""
    made = head["made_with"]
    return {**head, "format": 2, "made_with": {**made, "policy": with_current_name(made["policy"])}}


def _arms(rows: list[Any]) -> dict[str, Any]:
    table: dict[str, Any] = {new: [_get(row, old) for row in rows] for old, new in COLUMNS.items()}
    memories = [_get(row, "memory") for row in rows]
    if memories and all(isinstance(memory, dict) for memory in memories):
        table["memory"] = {name: [_get(memory, name) for memory in memories] for name in memories[0]}
    return table


def _decisions(token: Any, rows: list[Any]) -> dict[str, Any]:
    table = {name: [_get(row, name) for row in rows] for name in ("arm", "time", "propensity")}
    return {
        "id": [f"{token}-{_get(row, 'number')}" for row in rows],
        **table,
        "timestamp": [None] * len(rows),
    }


def _get(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, dict) else None


def _number(row: Any) -> int:
    number = _get(row, "number")
    return number if isinstance(number, int) else 0
