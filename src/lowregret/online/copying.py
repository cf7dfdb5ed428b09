"""Copy an agent from one store to another: its log, its snapshots and its ids."""

import os
from contextlib import closing
from itertools import zip_longest

from lowregret.errors import InputError, StoreError
from lowregret.online.open_agent import open_agent
from lowregret.online.retention import events_since
from lowregret.online.stores import TIMEOUT, Store, all_events, retry_if_changed
from lowregret.online.stores.locations import agent_names, open_store
from lowregret.online.transactions import Transactions
from lowregret.policies import Policy


def copy_agent(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    name: str | None = None,
    policy: Policy | None = None,
) -> int:
    """Copy an agent to another store, under its name, which must be free; return the number of events.

    The log is replayed first, and the copy is compared with what was read. Others see all of it or nothing.
    """
    with open_agent(source, policy, name=name, read_only=True) as agent:
        agent.verify()
        copy, title = open_store(target, agent.name, creating=True, read_only=False)
        with closing(copy):
            return copy_log(agent.transactions, copy, title)


def check_free(names: list[str], target: str | os.PathLike[str]) -> None:
    """Reject a target that has an agent of one of these names."""
    try:
        existing = agent_names(target)
    except StoreError:  # there is no store yet; else whoever opens it learns what is wrong
        return
    for name in names:
        if name in existing:
            raise InputError(f"agent {name!r} exists already in the target: copy to another store")


def copy_log(transactions: Transactions, copy: Store, title: str) -> int:
    """Copy the header, the snapshots and the log of an agent, and compare; return how many events."""

    def attempt() -> int:
        with transactions.reading():
            return _copy(transactions.store, transactions.position, copy, title)

    return retry_if_changed(attempt)


def _copy(store: Store, stop: int, copy: Store, title: str) -> int:
    header, first, latest_snapshot = store.header(), store.first_snapshot(), store.latest_snapshot()
    start = 0 if first is None else first[0]
    events = list(all_events(store, start, stop))
    with copy.session(TIMEOUT):
        if copy.header() is not None:
            raise InputError(f"{title} exists already: copy to another store")
        copy.create(str(header))
        if first is not None:
            copy.compact(*first)
        copy.append(events)
        if latest_snapshot is not None and start < latest_snapshot[0] <= stop:
            copy.save_snapshot(*latest_snapshot)
        events_since(store, start, stop)
    same = (copy.header(), copy.first_snapshot()) == (header, first)
    if not same or any(one != other for one, other in zip_longest(events, all_events(copy))):
        raise StoreError(f"{title} differs from what was copied: delete it, and copy again")
    return len(events)
