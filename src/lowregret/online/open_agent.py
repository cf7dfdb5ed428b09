"""Open an agent on a store: every decision and every reward is stored before it counts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from lowregret._common.validation import short_repr
from lowregret.errors import InputError, StoreError
from lowregret.online.agent import Agent
from lowregret.online.agent_settings import (
    LATER_SETTINGS,
    Outside,
    Settings,
    policy_text,
    valid_settings,
    with_current_name,
)
from lowregret.online.agent_state import AgentState
from lowregret.online.snapshot import FORMAT, read
from lowregret.online.stores import Store
from lowregret.online.stores.journal import JournalStore
from lowregret.online.stores.sqlite import SQLiteStore
from lowregret.online.transactions import Transactions
from lowregret.policies import Policy

ADVICE = "pass what it was created with, or use another file"


def open_agent(
    where: str | os.PathLike[str] | Store,
    policy: Policy | str,
    arms: Iterable[str],
    horizon: int | None = None,
    seed: int = 0,
    reward_range: tuple[float, float] | None = (0, 1),
    *,
    outside: Outside = "refuse",
    minimum_share: float = 0.0,
    control: tuple[str, float] | None = None,
    log_propensities: bool | None = None,
) -> Agent:
    """Open an agent whose decisions and rewards are stored; create it if it does not exist.

    Parameters
    ----------
    where : path or Store
        An SQLite file, which several processes may share; or, if the name ends in ``.journal``, a journal
        for one process; or a store of your own.
    policy, arms, horizon, seed, reward_range, outside, minimum_share, control, log_propensities
        As for ``Agent``. For an existing agent they must be those it was created with; ``arms`` may also be
        its current arms.

    Returns
    -------
    Agent
        The agent; ``close`` it, or use it in a ``with`` statement.

    Raises
    ------
    StoreError
        If the store cannot be used: locked, full, damaged, or not a store of an agent.

    Examples
    --------
    >>> import tempfile
    >>> import lowregret as lr
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = f"{folder.name}/choices.db"
    >>> with lr.open_agent(path, lr.EUCBV(), ["red", "green", "blue"], horizon=10_000) as agent:
    ...     agent.tell(agent.ask(), 1)
    True
    >>> with lr.open_agent(path, lr.EUCBV(), ["red", "green", "blue"], horizon=10_000) as agent:
    ...     agent.time
    1
    >>> folder.cleanup()
    """
    shares = minimum_share, control, log_propensities
    settings = valid_settings(policy, arms, horizon, seed, reward_range, outside, *shares)
    store = _store(where)
    try:
        transactions = _open(store, settings, _name(where))
    except BaseException:
        store.close()
        raise
    return Agent._of(transactions)


def _store(where: str | os.PathLike[str] | Store) -> Store:
    if not isinstance(where, str | os.PathLike):
        if hasattr(where, "session") and hasattr(where, "append"):
            return where
        raise InputError(f"open_agent: where must be a path or a store, got {short_repr(where)}")
    path = Path(where)
    if "\0" in str(path):
        raise InputError(f"open_agent: the name of a file must not contain NUL, got {short_repr(str(path))}")
    return JournalStore(path) if path.suffix == ".journal" else SQLiteStore(path)


def _name(where: object) -> str:
    return repr(os.fspath(where)) if isinstance(where, str | os.PathLike) else type(where).__name__


def _open(store: Store, settings: Settings, name: str) -> Transactions:
    """Load the agent of a store, or create it, and check that it has these settings."""
    with store.session():  # so that one of two processes creates the agent and the other finds it
        text = store.head()
        if text is None:
            text = json.dumps({"format": FORMAT, "agent": token_hex(4), "made_with": settings.described()})
            store.begin(text)
    head = _head(text, name)
    made = head["made_with"]
    _compare(made, settings.described(), name)
    first = replace(settings, arms=tuple(made["arms"]))
    latest = store.latest()
    state = AgentState(first, head["agent"]) if latest is None else _read(latest[1], first.policy, name)
    snapshot = 0 if latest is None else latest[0]
    events = store.events(snapshot)
    state.assignment.log_all()
    state.replay(events)
    if settings.arms != first.arms and set(settings.arms) != set(state.arms):
        raise InputError(
            f"{name} has the arms {short_repr(state.arms)}, got {short_repr(list(settings.arms))}: {ADVICE}"
        )
    return Transactions(state, store, snapshot + len(events), snapshot)


def _read(snapshot: str, policy: Policy, name: str) -> AgentState:
    """Read the snapshot of a store."""
    try:
        return read(snapshot, policy)
    except InputError as error:
        raise StoreError(f"the snapshot in {name} is damaged: restore it from a copy ({error})") from None


def _head(text: str, name: str) -> dict[str, Any]:
    """Read the text that a store begins with."""
    try:
        head: dict[str, Any] = json.loads(text)
        made = head["made_with"] = LATER_SETTINGS | head["made_with"]
        made["policy"] = with_current_name(made["policy"])
        known = head["format"] == FORMAT and isinstance(head["agent"], str)
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise StoreError(
            f"{name} was not written by this version of lowregret: upgrade it, or use another file"
        )
    return head


def _compare(made: dict[str, Any], given: dict[str, Any], name: str) -> None:
    """Reject settings that differ from those of the stored agent; arms are compared later."""
    for key in given:
        if key != "arms" and made.get(key) != given[key]:
            was, now = made.get(key), given[key]
            if key == "policy" and isinstance(was, dict):
                was, now = policy_text(was), policy_text(now)
            raise InputError(f"{name} was created with {key} {was}, got {now}: {ADVICE}")
