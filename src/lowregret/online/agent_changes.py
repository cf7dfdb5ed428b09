"""The methods of an agent that change it or its log, besides ``ask`` and those that take rewards."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.online import calls
from lowregret.online.agent_settings import valid_request

if TYPE_CHECKING:
    from lowregret.online.agent import Agent


def forget_expired(self: Agent) -> int:
    """End the windows that are due, as the next ``ask`` would.

    Returns
    -------
    int
        The number of decisions whose window ended without a reward.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"], expires_after=2)
    >>> choices = agent.ask(5)
    >>> agent.forget_expired(), len(agent.pending)
    (3, 2)
    """
    ended, more = 0, True
    while more:
        part, more = self.transactions.execute(calls.end_windows)
        ended += part
    return ended


def forget_where(self: Agent, since: datetime | None = None, request_prefix: str | None = None) -> int:
    """Take decisions and their rewards out of the statistics again, such as those of an attack.

    The agent continues as if each had been forgotten as soon as it was made; the log records which. It is
    replayed for that, so decisions among compacted events stay.

    Parameters
    ----------
    since : datetime.datetime, optional
        When the first of them was made, with a time zone.
    request_prefix : str, optional
        What their requests begin with; with both arguments, decisions must match both.

    Returns
    -------
    int
        The number of decisions that were taken out.

    Examples
    --------
    >>> from lowregret.online.stores.in_memory import MemoryStore
    >>> agent = lr.open_agent(MemoryStore(), lr.UCB1(), ["red", "green"])
    >>> decisions = [agent.ask(request=name) for name in ("7, first", "8, first", "7, second")]
    >>> agent.forget_where(request_prefix="7, "), agent.pending == (decisions[1],)
    (2, True)
    """
    from lowregret.online.retention import withdraw

    if since is None and request_prefix is None:
        raise InputError("forget_where: pass since, request_prefix or both")
    if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
        raise InputError(f"since must be a datetime.datetime with a time zone, got {short_repr(since)}")
    prefix = "" if request_prefix is None else valid_request(request_prefix)
    return withdraw(self.transactions, since.timestamp() if since else float("-inf"), prefix)


def pause(self: Agent, fallback: str | None = None) -> bool:
    """Make no decisions until ``resume``.

    A new ``ask`` raises ``ConflictError``; one that repeats a request still returns its decisions.

    Parameters
    ----------
    fallback : str, optional
        The arm that ``ask`` returns meanwhile, as a decision with the id "fallback" that is not recorded.

    Returns
    -------
    bool
        False if the agent is paused already, with the same fallback.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
    >>> agent.pause(), agent.status
    (True, 'paused')
    >>> agent.ask()
    Traceback (most recent call last):
    lowregret.errors.PausedError: this agent is paused and makes no decisions: resume it
    >>> agent.resume(), agent.status
    (True, 'active')
    """
    return bool(self.transactions.execute(calls.change_status, "paused", fallback))


def resume(self: Agent) -> bool:
    """Make decisions again.

    Returns
    -------
    bool
        False if the agent is active already.
    """
    return bool(self.transactions.execute(calls.change_status, "resumed"))


def retire(self: Agent) -> bool:
    """Make no decisions any more, which is final.

    Returns
    -------
    bool
        False if the agent is retired already.
    """
    return bool(self.transactions.execute(calls.change_status, "ended"))


def add_arm(self: Agent, arm: str, value: Any = None) -> None:
    """Add an arm; it is pulled first, as often as the warm-up of the policy requires.

    Parameters
    ----------
    arm : str
        The name of the arm; no arm, not even a retired one, has it already.
    value : bool, str, float or dict, optional
        Its value as a feature flag, as in ``values`` of ``Agent``.
    """
    self.transactions.execute(calls.add, arm, value)


def retire_arm(self: Agent, arm: str) -> None:
    """Retire an arm permanently; rewards of its pulls may still be reported.

    Parameters
    ----------
    arm : str
        The name of the arm.
    """
    self.transactions.execute(calls.retire, arm)


def compact(self: Agent, older_than: timedelta = timedelta(0)) -> int:
    """Replace the events that are older than a time by a snapshot, from which the rest still follows.

    Pending decisions stay. The rewards and requests among the dropped events are forgotten, so that a
    repeated call with one of them is an error or makes a new decision.

    Parameters
    ----------
    older_than : datetime.timedelta, default 0
        The least age of the events to drop; by default all.

    Returns
    -------
    int
        The number of events that were dropped.

    Examples
    --------
    >>> from lowregret.online.stores.in_memory import MemoryStore
    >>> agent = lr.open_agent(MemoryStore(), lr.UCB1(), ["red", "green"])
    >>> agent.tell(agent.ask(), 1)
    True
    >>> agent.compact(), agent.verify(), agent.time
    (2, 0, 1)
    """
    from lowregret.online import retention

    if not isinstance(older_than, timedelta) or older_than < timedelta(0):
        raise InputError(
            f"older_than must be a datetime.timedelta of at least 0, got {short_repr(older_than)}"
        )
    transactions = self.transactions
    with transactions.reading() as state:
        before = transactions.clock() - older_than.total_seconds()
        return retention.compact(state, transactions.store, before, transactions.timeout)


def erase_request(self: Agent, request: str) -> int:
    """Remove the name of a request from the store; its decisions stay.

    Parameters
    ----------
    request : str
        The name, as it was passed to ``ask``.

    Returns
    -------
    int
        The number of decisions that had it.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
    >>> first = agent.ask(request="somebody")
    >>> agent.erase_request("somebody")
    1
    >>> agent.ask(request="somebody") == first
    False
    """
    valid_request(request)
    transactions = self.transactions
    with transactions.reading() as state:
        events = transactions.store.events_of_request(request)
        erased = len(events or state.requests.get(request, ()))
        with transactions.store.session(transactions.timeout):
            transactions.store.erase(request)
        state.requested -= len(state.requests.pop(request, ()))
    return erased
