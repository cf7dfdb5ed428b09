"""Verify the log of an agent, replace its old events by a snapshot, and take decisions out of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import takewhile

from lowregret.errors import InputError, StoreError
from lowregret.online.agent_state import AgentState
from lowregret.online.checksummed_snapshot import read_checksummed, state_at, write_checksummed
from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.event_replay import replay
from lowregret.online.snapshot import write
from lowregret.online.stores import Store, all_events
from lowregret.online.transactions import Transactions, prepare


def verify(state: AgentState, store: Store, stop: int) -> int:
    """Replay the events of a store up to a position; return how many."""
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
    """Replace the events before a time by a snapshot; return how many."""
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
    if other.days.settled(other.settings).total() != other.models[0]["told"]:
        parts.pop("days", None)  # an agent of an older version counts them from when it is opened
    for key, value in parts.items():
        if others.get(key) != value:
            raise StoreError(
                f"{what} does not follow from the log, its {key!r} differs: restore the store from a copy"
            )


def check_history(store: Store) -> None:
    """Reject a store without a log."""
    if not store.history:
        raise InputError("an agent in memory has no log: open it on a file with open_agent")


def withdraw(transactions: Transactions, since: float, prefix: str) -> int:
    """Take out the decisions made since a time whose requests begin with a prefix; return how many.

    A policy cannot unlearn a reward, so the log is replayed without them, and a snapshot is stored with their
    events ``withdrew``.
    """
    store = transactions.store
    check_history(store)
    with transactions.reading() as state:
        position, earlier = transactions.position, withdrawn_in(store)
        replayed, start = state_at(store.first_snapshot(), state.settings, state.token)
        new = _matching(store, start, position, since, prefix) - earlier
        if not new:
            return 0
        replayed.steps, replayed.assignment = state.steps, state.assignment
        prepare(replayed, position - start)
        replay(replayed, all_events(store, start, position), earlier | new)
        with store.session(transactions.timeout):
            missed = store.events(position)
            if any(event.kind == "withdrew" for event in missed):
                raise StoreError("another process has withdrawn decisions at the same time: try again")
            replay(replayed, missed, earlier | new)
            answered = {event.decision for event in missed if event.kind in ANSWERS}
            pending = (new & state.pending.keys()) - state.early.keys() - answered
            now = transactions.clock()
            events = [Event("withdrew", number, timestamp=now) for number in sorted(new)]
            events += [Event("forgot", number, timestamp=now) for number in sorted(pending)]
            end = position + len(missed) + len(events)
            store.append(events)
            store.save_snapshot(end, write_checksummed(replayed, end))
        replayed.answers.clear()  # the store has what was told
        transactions.replace(replayed, end, end)
    return len(new)


def _matching(store: Store, start: int, stop: int, since: float, prefix: str) -> set[int]:
    """Return the numbers of the decisions to take out."""
    numbers: set[int] = set()
    oldest: float | None = None
    for event in all_events(store, start, stop):
        oldest = event.timestamp if oldest is None else oldest
        if event.kind == "forgot":
            numbers.discard(event.decision or 0)
        elif event.kind == "asked" and (event.timestamp or 0.0) >= since:
            numbers |= {event.decision or 0} if (event.request or "").startswith(prefix) else set()
    if start and not prefix and since < (oldest or 0.0):
        raise InputError("the log of this agent was compacted, and begins after that time: pass a later time")
    return numbers
