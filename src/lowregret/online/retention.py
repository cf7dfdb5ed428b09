"""Verify the log of an agent, and replace its old events by a snapshot."""

import json
from collections.abc import Iterable
from itertools import takewhile

from lowregret.errors import InputError, StoreError
from lowregret.online.agent_state import AgentState
from lowregret.online.checksummed_snapshot import read_checksummed, state_at, write_checksummed
from lowregret.online.decisions import Event
from lowregret.online.event_replay import replay
from lowregret.online.snapshot import write
from lowregret.online.stores import Store, all_events
from lowregret.online.transactions import prepare


def verify(state: AgentState, store: Store, stop: int) -> int:
    """Replay the events of a store up to a position; return how many.

    The replay is compared with the latest snapshot and with the state; a difference is an error.
    """
    check_history(store)
    replayed, position = state_at(store.first_snapshot(), state.settings, state.token)
    first, latest, withdrawn = position, store.latest_snapshot(), withdrawn_in(store)
    prepare(replayed, stop - position)
    if latest is not None and position < latest[0] <= stop:
        stored = read_checksummed(*latest, state.settings.policy, state.token)
        _replay(replayed, all_events(store, position, latest[0]), withdrawn)
        position = latest[0]
        _compare(replayed, stored, f"the snapshot at event {position}")
    _replay(replayed, all_events(store, position, stop), withdrawn)
    _compare(replayed, state, "the state of the agent")
    return stop - first


def compact(state: AgentState, store: Store, before: float, timeout: float) -> int:
    """Replace the events before a time by a snapshot; return how many.

    Decisions that are pending stay. The answers and requests among the dropped events are forgotten.
    """
    check_history(store)
    replayed, first = state_at(store.first_snapshot(), state.settings, state.token)
    old = list(takewhile(lambda event: (event.timestamp or 0.0) < before, all_events(store, first)))
    if not old:
        return 0
    prepare(replayed, len(old))
    replay(replayed, old, withdrawn_in(store))
    position = first + len(old)
    with store.session(timeout):
        snapshot = store.first_snapshot()
        if (0 if snapshot is None else snapshot[0]) != first:
            raise StoreError("another process has compacted this log at the same time: try again")
        store.compact(position, write_checksummed(replayed, position))
    return len(old)


def withdrawn_in(store: Store) -> set[int]:
    """Return the numbers of the decisions that the log of a store takes out."""
    return {event.decision or 0 for event in all_events(store) if event.kind == "withdrew"}


def _replay(state: AgentState, events: Iterable[Event], withdrawn: set[int]) -> None:
    try:
        replay(state, events, withdrawn)
    except InputError as error:
        raise StoreError(f"the event log of this agent is inconsistent: {error}") from None


def _compare(replayed: AgentState, other: AgentState, what: str) -> None:
    """Reject a state that does not follow from the events."""
    parts, others = (json.loads(write(state, for_store=True)) for state in (replayed, other))
    parts.pop("defaulted", None)  # a snapshot of an older version does not have it
    for key, value in parts.items():
        if others[key] != value:
            raise StoreError(
                f"{what} does not follow from the log, its {key!r} differs: restore the store from a copy"
            )


def check_history(store: Store) -> None:
    """Reject a store without a log."""
    if not store.history:
        raise InputError("an agent in memory has no log: open it on a file with open_agent")
