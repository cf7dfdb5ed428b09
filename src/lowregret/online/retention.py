"""What becomes of an old log: it is verified, and compacted into a snapshot from which the rest follows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from lowregret.errors import InputError, StoreError
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import Event
from lowregret.online.event_replay import replay
from lowregret.online.event_tables import all_events
from lowregret.online.sealed_snapshot import read_sealed, write_sealed
from lowregret.online.snapshot import write
from lowregret.online.transactions import prepare

if TYPE_CHECKING:
    from lowregret.online.stores import Store


def verify(state: AgentState, store: Store, stop: int) -> int:
    """Replay the events of a store up to those in a state; return how many, or raise if it does not follow.

    The latest snapshot and the given state are compared with the replay.
    """
    _check_history(store)
    replayed, position = _first_state(state, store)
    first, latest = position, store.latest()
    prepare(replayed, stop - position)
    if latest is not None and position < latest[0] <= stop:
        kept = read_sealed(*latest, state.settings.policy, state.token)
        _replay(replayed, all_events(store, position, latest[0]))
        position = latest[0]
        _compare(replayed, kept, f"the snapshot at event {position}")
    _replay(replayed, all_events(store, position, stop))
    _compare(replayed, state, "the state of the agent")
    return stop - first


def compact(state: AgentState, store: Store, before: float, timeout: float) -> int:
    """Replace the events before a time by a snapshot; return how many.

    Decisions that are pending stay. The answers and requests among the dropped events are forgotten.
    """
    _check_history(store)
    replayed, first = _first_state(state, store)
    old = list(takewhile(lambda event: (event.timestamp or 0.0) < before, all_events(store, first)))
    if not old:
        return 0
    prepare(replayed, len(old))
    replay(replayed, old)
    position = first + len(old)
    with store.session(timeout):
        found = store.first()
        if (0 if found is None else found[0]) != first:
            raise StoreError("another process has compacted this log at the same time: try again")
        store.compact(position, write_sealed(replayed, position))
    return len(old)


def _first_state(state: AgentState, store: Store) -> tuple[AgentState, int]:
    """Return the state before the first event of a store, and its position."""
    first = store.first()
    if first is None:
        return AgentState(state.settings, state.token), 0
    return read_sealed(*first, state.settings.policy, state.token), first[0]


def _replay(state: AgentState, events: Iterable[Event]) -> None:
    try:
        replay(state, events)
    except InputError as error:
        raise StoreError(f"the event log of this agent is inconsistent: {error}") from None


def _compare(replayed: AgentState, other: AgentState, what: str) -> None:
    """Reject a state that does not follow from the events."""
    parts, others = _contents(replayed), _contents(other)
    for key, value in parts.items():
        if others[key] != value:
            raise StoreError(
                f"{what} does not follow from the log, its {key!r} differs: restore the store from a copy"
            )


def _contents(state: AgentState) -> dict[str, Any]:
    parts: dict[str, Any] = json.loads(write(state, for_store=True))
    return parts


def _check_history(store: Store) -> None:
    if getattr(store, "history", True) is False:
        raise InputError("an agent in memory has no log: open it on a file with open_agent")
