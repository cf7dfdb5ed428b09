"""Copy an agent from one store to another: its log, its snapshots and its ids."""

import os
from itertools import zip_longest

from lowregret.errors import InputError, StoreError
from lowregret.online.open_agent import open_agent
from lowregret.online.stores import TIMEOUT, Store, all_events
from lowregret.online.stores.locations import agent_names, open_store
from lowregret.policies import Policy


def copy_agent(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    name: str | None = None,
    policy: Policy | None = None,
) -> int:
    """Copy an agent to another store, under its name, which must be free; return the number of events.

    The log is replayed first, and the copy is compared with it event by event. Others see all of it or
    nothing.
    """
    with open_agent(source, policy, name=name, read_only=True) as agent:
        agent.verify()
        transactions = agent.transactions
        with transactions.reading():
            store, stop = transactions.store, transactions.position
            copy, title = open_store(target, agent.name, creating=True, read_only=False)
            try:
                _copy(store, stop, copy, title)
                count = _compare(store, stop, copy, title)
            finally:
                copy.close()
    return count


def check_free(names: list[str], target: str | os.PathLike[str]) -> None:
    """Reject a target that has an agent of one of these names."""
    try:
        existing = agent_names(target)
    except StoreError:  # there is no store yet; else whoever opens it learns what is wrong
        return
    for name in names:
        if name in existing:
            raise InputError(f"agent {name!r} exists already in the target: copy to another store")


def _copy(store: Store, stop: int, copy: Store, title: str) -> None:
    header, first, latest = store.header(), store.first_snapshot(), store.latest_snapshot()
    with copy.session(TIMEOUT):
        if copy.header() is not None:
            raise InputError(f"{title} exists already: copy to another store")
        copy.create(str(header))
        if first is not None:
            copy.compact(*first)
        copy.append(list(all_events(store, stop=stop)))
        if latest is not None and latest[0] <= stop and latest != first:
            copy.save_snapshot(*latest)


def _compare(store: Store, stop: int, copy: Store, title: str) -> int:
    """Compare the copy with the original; return the number of events."""
    count, same = 0, copy.header() == store.header()
    same &= copy.first_snapshot() == store.first_snapshot()
    for event, copied in zip_longest(all_events(store, stop=stop), all_events(copy)):
        same &= event == copied
        count += 1
    if not same:
        raise StoreError(f"{title} differs from what was copied: delete it, and copy again")
    return count
