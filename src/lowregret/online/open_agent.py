"""Open an agent on a store: every decision and every reward is stored before it counts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from secrets import token_hex
from threading import TIMEOUT_MAX
from time import time
from typing import Any

from pydantic import ValidationError

from lowregret._common.validation import number, short_repr
from lowregret.errors import InputError, StoreError
from lowregret.online.agent import Agent
from lowregret.online.agent_settings import (
    Outside,
    Settings,
    Window,
    policy_text,
    valid_settings,
    with_current_name,
)
from lowregret.online.agent_state import AgentState
from lowregret.online.event_replay import replay
from lowregret.online.sealed_snapshot import read_sealed
from lowregret.online.snapshot import FORMAT, MadeWith, settings_of
from lowregret.online.stores import TIMEOUT, Store
from lowregret.online.stores.locations import open_store
from lowregret.online.transactions import Transactions, prepare
from lowregret.policies import Policy
from lowregret.policies.inputs import policy_of

ADVICE = "pass what it was created with, or use another name or file"


def open_agent(
    where: str | os.PathLike[str] | Store,
    policy: Policy | str | None = None,
    arms: Iterable[str] | None = None,
    horizon: int | None = None,
    seed: int = 0,
    reward_range: tuple[float, float] | None = (0, 1),
    *,
    name: str | None = None,
    outside: Outside = "refuse",
    matures_after: Window | None = None,
    expires_after: Window | None = None,
    default_reward: float | None = None,
    minimum_share: float = 0.0,
    control: tuple[str, float] | None = None,
    log_propensities: bool | None = None,
    timeout: float = TIMEOUT,
    read_only: bool = False,
    clock: Callable[[], float] = time,
) -> Agent:
    """Open an agent whose decisions and rewards are stored; create it if it does not exist.

    Parameters
    ----------
    where : path, URL or Store
        An SQLite file, which several processes and several agents may share, as a path or as a URL such as
        ``sqlite:///choices.db``; a PostgreSQL database, which several hosts may share, as a URL such as
        ``postgresql://user:password@host/database``; or, if the name ends in ``.journal``, a journal for one
        process and one agent; or a store of your own.
    policy : Policy or str, optional
        The policy. For an existing agent leave it out, unless its class is not part of lowregret.
    arms : sequence of str, optional
        The names of the arms. For an existing agent leave them out, or pass those it was created with or has
        now. With them, all settings must be those it was created with.
    horizon : int, optional
        As for ``Agent``.
    seed : int, default 0
        As for ``Agent``.
    reward_range : (float, float) or None, default (0, 1)
        As for ``Agent``.
    name : str, optional
        The name of the agent in the store: letters, digits, ``.``, ``_`` and ``-``. "default" if it is left
        out; without ``arms``, the only agent of the store.
    outside : {"refuse", "clip"}, default "refuse"
        As for ``Agent``.
    matures_after, expires_after : int or datetime.timedelta, optional
        As for ``Agent``.
    default_reward : float, optional
        As for ``Agent``.
    minimum_share : float, default 0
        As for ``Agent``.
    control : (str, float), optional
        As for ``Agent``.
    log_propensities : bool, optional
        As for ``Agent``; by default propensities are computed.
    timeout : float, default 60
        How many seconds a call waits for other threads and processes before it raises ``StoreError``.
    read_only : bool, default False
        Whether only to read: nothing is written to the file or its folder, and ``ask`` and ``tell`` raise
        ``StoreError``.
    clock : callable, optional
        Returns the time in seconds since 1970, for the timestamps of events; ``time.time`` by default.

    Returns
    -------
    Agent
        The agent; ``close`` it, or use it in a ``with`` statement.

    Raises
    ------
    InputError
        If an argument is invalid; if the store has no such agent and no policy and arms are given to create
        it; or if it was created with another policy or other settings.
    StoreError
        If the store cannot be used: missing, locked, full, damaged, or not a store of agents.

    Examples
    --------
    >>> import tempfile
    >>> import lowregret as lr
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = f"{folder.name}/choices.db"
    >>> with lr.open_agent(path, lr.EUCBV(), ["red", "green", "blue"], name="buttons") as agent:
    ...     agent.tell(agent.ask(), 1)
    True
    >>> with lr.open_agent(path, name="buttons") as agent:
    ...     agent.time
    1
    >>> folder.cleanup()
    """
    wait = number("open_agent", "timeout", timeout)
    if not 0.0 <= wait <= TIMEOUT_MAX:
        raise InputError(f"timeout must be a number of seconds, at least 0, got {short_repr(timeout)}")
    window, shares = (
        (matures_after, expires_after, default_reward),
        (minimum_share, control, log_propensities),
    )
    rest = (horizon, seed, reward_range, outside, *window, *shares)
    given: Settings | Policy | None = None
    if arms is not None:
        if policy is None:
            raise InputError("open_agent: pass a policy with the arms, or leave out both")
        given = valid_settings(policy, arms, *rest)
    else:
        if rest != (None, 0, (0, 1), "refuse", None, None, None, 0.0, None, None):
            raise InputError("open_agent: pass the policy and the arms as well, or nothing but the name")
        given = None if policy is None else policy_of(policy)
    return open_given(where, given, name, wait, read_only, clock)


def open_given(
    where: str | os.PathLike[str] | Store,
    given: Settings | Policy | None,
    name: str | None,
    timeout: float,
    read_only: bool = False,
    clock: Callable[[], float] = time,
) -> Agent:
    """Open an agent; create it if there are settings and it does not exist."""
    creating = isinstance(given, Settings) and not read_only
    store, title = open_store(where, name, creating=creating, read_only=read_only, timeout=timeout)
    try:
        state, position, snapshot = _open(store, given, title, timeout, read_only)
        transactions = Transactions(state, store, position, snapshot, timeout, clock)
    except BaseException:
        store.close()
        raise
    return Agent._of(transactions)


def _open(
    store: Store, given: Settings | Policy | None, title: str, timeout: float, read_only: bool
) -> tuple[AgentState, int, int]:
    """Load the agent of a store, or create it, and check that it has these settings."""
    text = store.head()
    if text is None and isinstance(given, Settings) and not read_only:
        with store.session(timeout):  # so that one of two processes creates the agent and the other finds it
            text = store.head()
            if text is None:
                text = new_head(store, given)
    if text is None:
        raise InputError(f"{title} does not exist: {_alternatives(store, read_only)}")
    made, token = read_head(text, title)
    described = made.model_dump(by_alias=True)
    if isinstance(given, Settings):
        _compare(described, given.described(), title)
        settings = replace(given, arms=tuple(made.arms))
    else:
        settings = settings_of(made, given)
    state, position, snapshot = loaded(store, settings, token)
    if isinstance(given, Settings) and given.arms != settings.arms and set(given.arms) != set(state.arms):
        raise InputError(
            f"{title} has the arms {short_repr(state.arms)}, got {short_repr(list(given.arms))}: {ADVICE}"
        )
    return state, position, snapshot


def _alternatives(store: Store, read_only: bool) -> str:
    """Say what to do where a store does not have the agent."""
    if not read_only:
        return "pass a policy and arms to create it"
    names = store.names() if hasattr(store, "names") else []
    return f"the store has {short_repr(names)}" if names else "the store is empty"


def new_head(store: Store, settings: Settings) -> str:
    """Begin a new agent; within a session."""
    head = {"format": FORMAT, "agent": token_hex(16), "made_with": settings.described()}
    name = getattr(store, "name", None)
    text = json.dumps(head if name is None else {**head, "name": name})
    store.begin(text)
    return text


def loaded(store: Store, settings: Settings, token: str) -> tuple[AgentState, int, int]:
    """Return the state of a stored agent, the number of its events, and the position of its snapshot."""
    latest = store.latest()
    if latest is None:
        state, snapshot = AgentState(settings, token), 0
    else:
        state, snapshot = read_sealed(*latest, settings.policy, token), latest[0]
    state.assignment.log_all()
    events = store.events(snapshot)
    prepare(state, len(events))
    replay(state, events)
    return state, snapshot + len(events), snapshot


def read_head(text: str, title: str) -> tuple[MadeWith, str]:
    """Return the arguments that an agent was created with, and its token."""
    try:
        head: dict[str, Any] = json.loads(text)
        if head["format"] == FORMAT and isinstance(head["agent"], str):
            made = {**head["made_with"], "policy": with_current_name(head["made_with"]["policy"])}
            return MadeWith.model_validate(made), head["agent"]
    except (ValueError, KeyError, TypeError, ValidationError):
        pass
    raise StoreError(f"{title} was not written by this version of lowregret: upgrade it, or use another file")


def _compare(made: dict[str, Any], given: dict[str, Any], title: str) -> None:
    """Reject settings that differ from those of the stored agent; arms are compared later."""
    for key in given:
        if key != "arms" and made.get(key) != given[key]:
            was, now = made.get(key), given[key]
            if key == "policy" and isinstance(was, dict):
                was, now = policy_text(was), policy_text(now)
            raise InputError(f"{title} was created with {key} {was}, got {now}: {ADVICE}")
