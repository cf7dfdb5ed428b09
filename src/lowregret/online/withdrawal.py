"""Take decisions out of the statistics of an agent, as if each had been forgotten as soon as it was made.

A policy cannot unlearn a reward, so the log is replayed without them. An event ``withdrew`` for each records
that. The session that stores these also stores a snapshot, from which the agent is opened later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowregret.errors import InputError, StoreError
from lowregret.online.checksummed_snapshot import state_at, write_checksummed
from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.event_replay import replay
from lowregret.online.retention import check_history, withdrawn_in
from lowregret.online.stores import all_events
from lowregret.online.transactions import Transactions, prepare

if TYPE_CHECKING:
    from lowregret.online.stores import Store


def withdraw(transactions: Transactions, since: float, prefix: str) -> int:
    """Take out the decisions made since a time whose requests begin with a prefix; return how many."""
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
            now = transactions.now()
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
