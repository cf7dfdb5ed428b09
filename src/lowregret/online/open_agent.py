"""Open an agent on a store: every decision and every reward is stored before it counts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
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
    SETTING_TYPES,
    Options,
    Settings,
    settings_or_policy,
    stored_settings,
    takes_options,
    valid_arm,
)
from lowregret.online.agent_state import AgentState
from lowregret.online.earlier_rewards import Source, prior_from
from lowregret.online.policy_description import (
    as_created,
    current_description,
    is_of_newer_version,
    policy_text,
)
from lowregret.online.snapshot import SNAPSHOT_FORMAT
from lowregret.online.stores import TIMEOUT, NewerError, Store
from lowregret.online.stores.locations import open_store
from lowregret.online.transactions import Transactions, load
from lowregret.policies import Policy

SETTINGS_ADVICE = "pass what it was created with, or use another name or file"


@takes_options
def open_agent(
    where: str | os.PathLike[str] | Store,
    policy: Policy | str | None = None,
    arms: Iterable[str] | None = None,
    horizon: int | None = None,
    seed: int | None = None,
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
        now. With them, all settings that are passed must be those it was created with.
    horizon, seed, reward_range
        As for ``Agent``. A horizon or seed that is left out is the stored one of an existing agent.
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
    if isinstance(where, Policy):
        raise InputError("open_agent: the file comes first, as in lr.open_agent('choices.db', policy, arms)")
    wait = number("open_agent", "timeout", timeout)
    if not 0.0 <= wait <= TIMEOUT_MAX:
        raise InputError(f"timeout must be a number of seconds, at least 0, got {short_repr(timeout)}")
    settings = {"horizon": horizon, "seed": seed or 0, "reward_range": reward_range, **options}
    omitted = {*SETTING_TYPES} - {"policy", "arms", "reward_range", *options}
    omitted -= {key for key, value in (("horizon", horizon), ("seed", seed)) if value is not None}
    expected = settings_or_policy("open_agent", policy, arms, settings)
    if start_from is None:
        return open_or_create(where, expected, name, wait, read_only, clock, omitted=omitted)
    if not isinstance(expected, Settings) or expected.prior is not None:
        raise InputError("start_from: pass the policy and the arms of the new agent as well, and no prior")
    if expected.period is not None:
        raise InputError("start_from is a prior, and period and prior cannot be combined: use one of them")
    return open_or_create(where, expected, name, wait, read_only, clock, (start_from, weight), omitted)


def open_or_create(
    where: str | os.PathLike[str] | Store,
    expected: Settings | Policy | None,
    name: str | None,
    timeout: float,
    read_only: bool = False,
    clock: Callable[[], float] = time,
    earlier: tuple[Source, float] | None = None,
    omitted: Collection[str] = (),
) -> Agent:
    """Open an agent; create it if there are settings and it does not exist.

    Of an agent that exists, the ``omitted`` settings are the stored ones.
    """
    creating = isinstance(expected, Settings) and not read_only
    store, title = open_store(where, name, creating=creating, read_only=read_only, timeout=timeout)
    try:
        state, position, snapshot = _open(store, expected, title, timeout, read_only, earlier, omitted)
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
    omitted: Collection[str],
) -> tuple[AgentState, int, int | None]:
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
        expected = replace(expected, policy=as_created(expected.policy, stored["policy"]))
        kept = {*omitted, *(() if earlier is None else ("prior",))}
        _compare(stored, {**expected.to_dict(), **{key: stored.get(key) for key in kept}}, title)
        settings = stored_settings(stored, expected.policy)
    else:
        settings = stored_settings(stored, expected)
    state, position, snapshot = load(store, settings, token)
    state.assignment.log_all()
    arms = expected.arms if isinstance(expected, Settings) else settings.arms
    if arms != settings.arms and set(arms) != set(state.arms):
        raise InputError(
            f"{title} has the arms {short_repr(state.arms)}, got {short_repr(list(arms))}: "
            f"{_change_of_arms(state, arms) or SETTINGS_ADVICE}"
        )
    return state, position, snapshot


def _change_of_arms(state: AgentState, arms: Sequence[str]) -> str:
    """Return how to add or retire the arm by which the arms differ, "" where they differ otherwise."""
    new = [arm for arm in arms if arm not in state.arms and arm not in state.hidden]
    missing = [arm for arm in state.arms if arm not in arms]
    if bool(new) == bool(missing):
        return ""
    call = f"agent.add_arm({new[0]!r})" if new else f"agent.retire_arm({missing[0]!r})"
    return f"open it without arms and call {call}, or use another name or file"


def _alternatives(store: Store, read_only: bool) -> str:
    """Say what to do where a store does not have the agent."""
    if not read_only:
        return "pass a policy and arms to create it"
    names = store.names()
    return f"the store has {short_repr(names)}" if names else "the store is empty"


def create_header(store: Store, settings: Settings) -> str:
    for arm in settings.arms:
        valid_arm(arm)
    header = {"format": SNAPSHOT_FORMAT, "agent": token_hex(16), "made_with": settings.to_dict()}
    text = json.dumps(header if store.name is None else {**header, "name": store.name})
    store.create(text)
    return text


def parse_header(text: str, title: str) -> tuple[dict[str, Any], str]:
    """Return the arguments that an agent was created with, and its token."""
    try:
        header: dict[str, Any] = json.loads(text)
        made_with, token = header["made_with"], header["agent"]
        if header["format"] > SNAPSHOT_FORMAT or not made_with.keys() <= SETTING_TYPES.keys():
            raise NewerError(f"a newer lowregret created {title}: upgrade this host")
        if header["format"] == SNAPSHOT_FORMAT and isinstance(token, str):
            policy, arms = current_description(made_with["policy"]), tuple(made_with["arms"])
            if is_of_newer_version(policy):
                raise NewerError(f"a newer lowregret created {title}: upgrade this host")
            return {**DEFAULTS, **made_with, "policy": policy, "arms": arms}, token
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise StoreError(
        f"{title} was not written by this version of lowregret: restore a copy, or use another file"
    )


def _compare(stored: dict[str, Any], expected: dict[str, Any], title: str) -> None:
    """Reject settings that differ from those of the stored agent; arms are compared later."""
    for key in SETTING_TYPES:
        was, now = stored.get(key), expected.get(key)
        if key != "arms" and was != now:
            if key == "policy" and isinstance(was, dict) and isinstance(now, dict):
                was, now = policy_text(was), policy_text(now)
            raise InputError(f"{title} was created with {key} {was}, got {now}: {SETTINGS_ADVICE}")
