"""Open an agent that forgets nothing: every decision and every reward is on the disk before it counts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from lowregret._common.validation import show
from lowregret.errors import InputError
from lowregret.online.agent import Agent
from lowregret.online.agent_settings import Outside, Settings, checked, written
from lowregret.online.snapshot import FORMAT, read
from lowregret.online.state import Core
from lowregret.online.stores import Store
from lowregret.online.stores.journal import JournalStore
from lowregret.online.stores.sqlite import SQLiteStore
from lowregret.online.transactions import Ledger, Loaded
from lowregret.policies import Policy

ADVICE = "open it with what it was made with, or use another file"


def open_agent(
    where: str | os.PathLike[str] | Store,
    policy: Policy,
    arms: Iterable[str],
    horizon: int | None = None,
    seed: int = 0,
    reward_range: tuple[float, float] | None = (0, 1),
    *,
    outside: Outside = "refuse",
) -> Agent:
    """Open an agent whose decisions and rewards are kept, and make it if it is not there.

    Parameters
    ----------
    where : path, or Store
        An SQLite file, which several processes may share; or a journal, if its name ends in ``.journal``,
        for one process; or a store of your own.
    policy, arms, horizon, seed, reward_range, outside
        As for ``Agent``. For an agent that is there they must be what it was made with; arms may also be
        those it has now.

    Returns
    -------
    Agent
        The agent; ``close`` it, or use it in a ``with`` statement.

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
    settings = checked(policy, arms, horizon, seed, reward_range, outside)
    store = _store(where)
    try:
        ledger = _ledger(store, settings, _name(where))
    except BaseException:
        store.close()
        raise
    return Agent._of(ledger)


def _store(where: str | os.PathLike[str] | Store) -> Store:
    if not isinstance(where, str | os.PathLike):
        if hasattr(where, "session") and hasattr(where, "append"):
            return where
        raise InputError(f"open_agent: give a path or a store, got {show(where)}")
    path = Path(where)
    if "\0" in str(path):
        raise InputError(f"open_agent: the name of a file has no NUL in it, got {show(str(path))}")
    return JournalStore(path) if path.suffix == ".journal" else SQLiteStore(path)


def _name(where: object) -> str:
    return repr(os.fspath(where)) if isinstance(where, str | os.PathLike) else type(where).__name__


def _ledger(store: Store, settings: Settings, name: str) -> Ledger:
    """Load the agent that a store holds, or begin one, and see that it is the one that was meant."""
    with store.session():  # so that of two processes one makes the agent and the other finds it
        text = store.head()
        if text is None:
            text = json.dumps({"format": FORMAT, "agent": token_hex(4), "made_with": settings.described()})
            store.begin(text)
    head = _head(text, name)
    made = head["made_with"]
    _compare(made, settings.described(), name)
    first = replace(settings, arms=tuple(made["arms"]))
    ledger = Ledger.on(store, lambda: _loaded(store, first, head["agent"]))
    names = ledger.core.names
    if settings.arms != first.arms and set(settings.arms) != set(names):
        raise InputError(f"{name} has the arms {show(names)}, got {show(list(settings.arms))}: {ADVICE}")
    return ledger


def _loaded(store: Store, settings: Settings, token: str) -> Loaded:
    """Give the state that a store holds, the events in it, and the position of the latest snapshot."""
    latest = store.latest()
    if latest is None:
        kept, core = 0, Core(settings, token)
    else:
        kept, core = latest[0], read(latest[1], settings.policy)
    events = store.events(kept)
    core.replay(events)
    return core, kept + len(events), kept


def _head(text: str, name: str) -> dict[str, Any]:
    """Read the text with which a store began."""
    try:
        head: dict[str, Any] = json.loads(text)
        known = head["format"] == FORMAT and isinstance(head["agent"], str) and set(head["made_with"])
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise InputError(
            f"{name} was not written by this version of lowregret: use a newer one, or another file"
        )
    return head


def _compare(made: dict[str, Any], given: dict[str, Any], name: str) -> None:
    """Refuse settings that are not those of the agent that is there; arms are looked at later."""
    for key in given:
        if key != "arms" and made.get(key) != given[key]:
            was, now = made.get(key), given[key]
            if key == "policy" and isinstance(was, dict):
                was, now = written(was), written(now)
            raise InputError(f"{name} was made with {key} {was}, got {now}: {ADVICE}")
