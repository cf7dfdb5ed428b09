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
    """Copy an agent to another store, under its name; return the number of its events.

    The log of the agent is replayed before it is copied, and the copy is compared with it event by event. The
    copy is made at once: another process sees all of it or nothing.

    Parameters
    ----------
    source, target : path or URL
        The stores; the target is created if it does not exist, and must not have an agent of this name.
    name : str, optional
        The name of the agent; not needed if the source has only one.
    policy : Policy, optional
        The policy, if its class is not part of lowregret.

    Raises
    ------
    InputError
        If the target has an agent of this name.

    Examples
    --------
    >>> import tempfile
    >>> from lowregret.online.copying import copy_agent
    >>> folder = tempfile.TemporaryDirectory()
    >>> first, second = f"{folder.name}/first.db", f"{folder.name}/second.db"
    >>> with lr.open_agent(first, lr.UCB1(), ["red", "green"]) as agent:
    ...     decisions = agent.ask(3)
    >>> copy_agent(first, second)
    3
    >>> with lr.open_agent(second) as agent:
    ...     agent.tell(decisions[0], 1)
    True
    >>> folder.cleanup()
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
    """Write the agent to a new place."""
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
