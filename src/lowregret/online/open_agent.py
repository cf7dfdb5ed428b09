"""Open an agent on a store: every decision and every reward is stored before it counts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from secrets import token_hex
from threading import TIMEOUT_MAX
from time import time
from typing import Any, Unpack

from lowregret._common.validation import number, short_repr
from lowregret.errors import InputError, StoreError
from lowregret.online.agent import Agent, agent_of
from lowregret.online.agent_settings import (
    DEFAULTS,
    TYPES,
    Options,
    Settings,
    settings_or_policy,
    takes_options,
    valid_arm,
)
from lowregret.online.agent_state import AgentState
from lowregret.online.checksummed_snapshot import state_at
from lowregret.online.earlier_rewards import Source, prior_from
from lowregret.online.event_replay import replay
from lowregret.online.policy_description import current_description, policy_text
from lowregret.online.settings_json import stored_settings
from lowregret.online.snapshot import FORMAT
from lowregret.online.stores import TIMEOUT, Store
from lowregret.online.stores.locations import open_store
from lowregret.online.transactions import Transactions, prepare
from lowregret.policies import Policy

ADVICE = "pass what it was created with, or use another name or file"


@takes_options
def open_agent(
    where: str | os.PathLike[str] | Store,
    policy: Policy | str | None = None,
    arms: Iterable[str] | None = None,
    horizon: int | None = None,
    seed: int = 0,
    reward_range: tuple[float, float] | None = (0, 1),
    *,
    name: str | None = None,
    timeout: float = TIMEOUT,
    read_only: bool = False,
    clock: Callable[[], float] = time,
    start_from: Source | None = None,
    weight: float = 1.0,
    **options: Unpack[Options],
) -> Agent:
    """Open an agent whose decisions and rewards are stored; create it if it does not exist.

    Parameters
    ----------
    where : path, URL or Store
        An SQLite file, which several processes and several agents may share, as a path or as a URL such as
        ``sqlite:///choices.db``; a PostgreSQL database, which several hosts may share, as a URL such as
        ``postgresql://user:password@host/database``; or a store of your own.
    policy : Policy or str, optional
        The policy. For an existing agent leave it out, unless its class is not part of lowregret.
    arms : sequence of str, optional
        The names of the arms. For an existing agent leave them out, or pass those it was created with or has
        now. With them, all settings must be those it was created with.
    horizon, seed, reward_range
        As for ``Agent``.
    name : str, optional
        The name of the agent in the store: letters, digits, ``.``, ``_`` and ``-``. "default" if it is left
        out; without ``arms``, the only agent of the store.
    timeout : float, default 60
        How many seconds a call waits for other threads and processes before it raises ``StoreError``.
    read_only : bool, default False
        Whether only to read: nothing is written to the file or its folder, and ``ask`` and ``tell`` raise
        ``StoreError``.
    clock : callable, optional
        Returns the time in seconds since 1970, for the timestamps of events; ``time.time`` by default.
    start_from : path, URL, table or Agent, optional
        Earlier rewards, from which a new agent gets its ``prior``: a .csv or .parquet file or a table with
        columns ``arm`` and ``reward``, or a store, of which the agent of the same name is read, or the only
        one. An agent that exists keeps the prior that it was created with.
    weight : float, default 1
        How many pulls each of these rewards is worth, above 0 and at most 1; an arm gets at most 100,000.
    outside, matures_after, expires_after, default_reward, minimum_share, control, values, prior, period
        As for ``Agent``.
    log_propensities
        As for ``Agent``, except that propensities are computed by default.

    Returns
    -------
    Agent
        The agent; ``close`` it, or use it in a ``with`` statement.

    Raises
    ------
    InputError
        If an argument is invalid; if the store has no such agent and no policy and arms are passed to create
        it; or if it was created with another policy or other settings.
    StoreError
        If the store cannot be used: missing, locked, full, damaged, or not a store of agents.

    Examples
    --------
    >>> import tempfile
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
    settings = {"horizon": horizon, "seed": seed, "reward_range": reward_range, **options}
    expected = settings_or_policy("open_agent", policy, arms, settings)
    if start_from is None:
        return open_or_create(where, expected, name, wait, read_only, clock)
    if not isinstance(expected, Settings) or expected.prior is not None:
        raise InputError("start_from: pass the policy and the arms of the new agent as well, and no prior")
    if expected.period is not None:
        raise InputError("start_from is a prior, and period and prior cannot be combined: use one of them")
    return open_or_create(where, expected, name, wait, read_only, clock, (start_from, weight))


def open_or_create(
    where: str | os.PathLike[str] | Store,
    expected: Settings | Policy | None,
    name: str | None,
    timeout: float,
    read_only: bool = False,
    clock: Callable[[], float] = time,
    earlier: tuple[Source, float] | None = None,
) -> Agent:
    """Open an agent; create it if there are settings and it does not exist."""
    creating = isinstance(expected, Settings) and not read_only
    store, title = open_store(where, name, creating=creating, read_only=read_only, timeout=timeout)
    try:
        state, position, snapshot = _open(store, expected, title, timeout, read_only, earlier)
        transactions = Transactions(state, store, position, snapshot, timeout, clock)
    except BaseException:
        store.close()
        raise
    return agent_of(transactions, Agent)


def _open(
    store: Store,
    expected: Settings | Policy | None,
    title: str,
    timeout: float,
    read_only: bool,
    earlier: tuple[Source, float] | None,
) -> tuple[AgentState, int, int]:
    """Load the agent of a store, or create it, and check that it has these settings."""
    text = store.header()
    if text is None and isinstance(expected, Settings) and not read_only:
        new = expected
        if earlier is not None:
            new = replace(expected, prior=prior_from(*earlier, expected, store.name))
            new.priors()  # rejects what is out of range
        with store.session(timeout):  # so that one of two processes creates the agent and the other finds it
            text = store.header()
            if text is None:
                text = create_header(store, new)
    if text is None:
        raise InputError(f"{title} does not exist: {_alternatives(store, read_only)}")
    stored, token = parse_header(text, title)
    if isinstance(expected, Settings):
        if earlier is not None:
            expected = replace(expected, prior=stored_settings(stored, expected.policy).prior)
        _compare(stored, expected.to_dict(), title)
        settings = replace(expected, arms=stored["arms"])
    else:
        settings = stored_settings(stored, expected)
    state, position, snapshot = load(store, settings, token)
    arms = expected.arms if isinstance(expected, Settings) else settings.arms
    if arms != settings.arms and set(arms) != set(state.arms):
        raise InputError(
            f"{title} has the arms {short_repr(state.arms)}, got {short_repr(list(arms))}: {ADVICE}"
        )
    return state, position, snapshot


def _alternatives(store: Store, read_only: bool) -> str:
    """Say what to do where a store does not have the agent."""
    if not read_only:
        return "pass a policy and arms to create it"
    names = store.names()
    return f"the store has {short_repr(names)}" if names else "the store is empty"


def create_header(store: Store, settings: Settings) -> str:
    for arm in settings.arms:
        valid_arm(arm)
    header = {"format": FORMAT, "agent": token_hex(16), "made_with": settings.to_dict()}
    text = json.dumps(header if store.name is None else {**header, "name": store.name})
    store.create(text)
    return text


def load(store: Store, settings: Settings, token: str) -> tuple[AgentState, int, int]:
    """Return the state of a stored agent, the number of its events, and the position of its snapshot."""
    state, snapshot = state_at(store.latest_snapshot(), settings, token)
    state.assignment.log_all()
    events = store.events(snapshot)
    prepare(state, len(events))
    replay(state, events)
    return state, snapshot + len(events), snapshot


def parse_header(text: str, title: str) -> tuple[dict[str, Any], str]:
    """Return the arguments that an agent was created with, and its token."""
    try:
        header: dict[str, Any] = json.loads(text)
        made_with, token = header["made_with"], header["agent"]
        if header["format"] == FORMAT and isinstance(token, str) and made_with.keys() <= TYPES.keys():
            policy, arms = current_description(made_with["policy"]), tuple(made_with["arms"])
            return {**DEFAULTS, **made_with, "policy": policy, "arms": arms}, token
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise StoreError(f"{title} was not written by this version of lowregret: upgrade it, or use another file")


def _compare(stored: dict[str, Any], expected: dict[str, Any], title: str) -> None:
    """Reject settings that differ from those of the stored agent; arms are compared later."""
    for key in TYPES:
        was, now = stored.get(key), expected.get(key)
        if key != "arms" and was != now:
            if key == "policy" and isinstance(was, dict) and isinstance(now, dict):
                was, now = policy_text(was), policy_text(now)
            raise InputError(f"{title} was created with {key} {was}, got {now}: {ADVICE}")
