"""Verify the log of an agent, replace its old events by a snapshot, and take decisions out of it.

A long log takes long, and other processes go on meanwhile. So each function reads the log as it is when it
begins, and begins again if another process compacts it, or takes decisions out of it, before the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import inf

from lowregret._common.text import count
from lowregret.errors import InputError, StoreError
from lowregret.online.agent_state import AgentState
from lowregret.online.daily_rewards import DailyRewards
from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.event_replay import replay, withdrawn_in
from lowregret.online.snapshot import read_checksummed, state_at, write, write_checksummed
from lowregret.online.stores import ChangedError, Store, all_events, retry_if_changed
from lowregret.online.transactions import Transactions, prepare


def verify(transactions: Transactions) -> int:
    """Replay the log up to the present state; return how many events that were."""
    store = transactions.store
    check_history(store)

    def attempt() -> int:
        with transactions.reading() as state:
            first, stop = _position(store.first_snapshot()), transactions.position
            try:
                return _check(state, store, stop)
            except StoreError:
                events_since(store, first, stop)
                raise

    return retry_if_changed(attempt)


def _check(state: AgentState, store: Store, stop: int) -> int:
    """Check that the latest snapshot and the state follow from the log; return how many events it has."""
    replayed, first = state_at(store.first_snapshot(), state.settings, state.token)
    position, latest_snapshot = first, store.latest_snapshot()
    withdrawn = withdrawn_in(all_events(store, first, stop))
    prepare(replayed, stop - first)
    if latest_snapshot is not None and position < latest_snapshot[0] <= stop:
        stored = read_checksummed(*latest_snapshot, state.settings.policy, state.token)
        _replay(replayed, all_events(store, position, latest_snapshot[0]), withdrawn)
        position = latest_snapshot[0]
        _compare(replayed, stored, f"the snapshot at event {position}")
    _replay(replayed, all_events(store, position, stop), withdrawn)
    _compare(replayed, state, "the state of the agent")
    return stop - first


def compact(transactions: Transactions, age: float) -> int:
    """Replace the events that are older than some seconds by a snapshot; return how many."""
    store = transactions.store
    check_history(store)

    def attempt() -> int:
        with transactions.reading() as state:
            replayed, first = state_at(store.first_snapshot(), state.settings, state.token)
            position = end = first
            before, withdrawn = transactions.clock() - age, set()
            for event in all_events(store, first):
                position += position == end and (event.timestamp or 0.0) < before
                end += 1
                if event.kind == "withdrew":
                    withdrawn.add(event.decision or 0)
            if position == first:
                return 0
            prepare(replayed, position - first)
            replay(replayed, all_events(store, first, position), withdrawn)
            end += len(events_since(store, first, end))  # most of them while others go on
            with store.session(transactions.timeout):
                events_since(store, first, end)
                store.compact(position, write_checksummed(replayed, position))
            return position - first

    return retry_if_changed(attempt)


def events_since(store: Store, first: int, position: int) -> list[Event]:
    """Return the events after a position.

    Raises ``ChangedError`` if the log no longer begins at ``first``, or if decisions were taken out of it.
    """
    events = store.events(position)
    if _position(store.first_snapshot()) != first or withdrawn_in(events):
        raise ChangedError("another process has compacted this log, or taken decisions out of it: try again")
    return events


def _position(snapshot: tuple[int, str] | None) -> int:
    return 0 if snapshot is None else snapshot[0]


def _replay(state: AgentState, events: Iterable[Event], withdrawn: set[int]) -> None:
    try:
        replay(state, events, withdrawn)
    except InputError as error:
        raise StoreError(f"the event log of this agent is inconsistent: {error}") from None


def _compare(replayed: AgentState, other: AgentState, what: str) -> None:
    """Reject a state that does not follow from the events."""
    parts, others = (json.loads(write(state, for_store=True)) for state in (replayed, other))
    parts.pop("defaulted", None)  # a snapshot of an older version does not have it
    if isinstance(other.by_period, DailyRewards):
        for key in other.by_period.incomplete(int(other.models[0]["told"])):
            parts.pop(key, None)  # an agent of an older version counts them from when it is opened
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
    check_history(transactions.store)
    matched: set[int] = set()
    return retry_if_changed(lambda: _withdraw(transactions, since, prefix, matched))


def _withdraw(transactions: Transactions, since: float, prefix: str, matched: set[int]) -> int:
    """Attempt to take out decisions; add them to ``matched``, which has those of earlier attempts."""
    store = transactions.store
    with transactions.reading() as state:
        position = transactions.position
        replayed, start = state_at(store.first_snapshot(), state.settings, state.token)
        earlier = withdrawn_in(all_events(store, start, position))
        matching, oldest = _matching(store, start, position, since, prefix)
        new, dropped = matching - earlier, {number for number in matched if number < oldest}
        if dropped:
            raise StoreError(
                f"another process has compacted this log meanwhile, and {count(len(dropped), 'decision')} of "
                "these can no longer be taken out: try again for the others"
            )
        if not new:
            return 0
        matched |= new
        replayed.steps, replayed.assignment = state.steps, state.assignment
        prepare(replayed, position - start)
        replay(replayed, all_events(store, start, position), earlier | new)
        missed = events_since(store, start, position)  # most of them while others go on
        replay(replayed, missed, earlier | new)
        with store.session(transactions.timeout):
            newest = events_since(store, start, position + len(missed))
            replay(replayed, newest, earlier | new)
            missed += newest
            answered = {event.decision for event in missed if event.kind in ANSWERS}
            ended = max((event.decision or 0 for event in missed if event.kind == "matured"), default=0)
            pending = (new & state.pending.keys()) - state.early.keys() - answered
            now = transactions.clock()
            events = [Event("withdrew", number, timestamp=now) for number in sorted(new)]
            events += [Event("forgot", number, timestamp=now) for number in sorted(pending) if number > ended]
            end = position + len(missed) + len(events)
            store.append(events)
            store.save_snapshot(end, write_checksummed(replayed, end))
        replayed.answers.clear()  # the store has what was told
        transactions.replace(replayed, end, end)
    return len(new)


def _matching(store: Store, start: int, stop: int, since: float, prefix: str) -> tuple[set[int], float]:
    """Return the numbers of the decisions to take out, and that of the oldest decision in the log."""
    numbers: set[int] = set()
    oldest, began = inf, None
    for event in all_events(store, start, stop):
        began = event.timestamp if began is None else began
        if event.kind == "forgot":
            numbers.discard(event.decision or 0)
        elif event.kind == "asked":
            number, name = event.decision or 0, event.request or ""
            oldest = min(oldest, number)
            if (event.timestamp or 0.0) >= since and name.startswith(prefix):
                numbers.add(number)
    if start and not prefix and since < (began or 0.0):
        raise InputError("the log of this agent was compacted, and begins after that time: pass a later time")
    return numbers, oldest
