"""How long the log of an agent is kept, and what is erased from it."""

from __future__ import annotations

from datetime import timedelta

from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.online.agent_settings import valid_request
from lowregret.online.agent_status import AgentStatus


class AgentRetention(AgentStatus):
    """The calls that shorten the log of an agent, or erase names from it."""

    def compact(self, older_than: timedelta = timedelta(0)) -> int:
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
        >>> import lowregret as lr
        >>> from lowregret.online.stores.in_memory import MemoryStore
        >>> agent = lr.open_agent(MemoryStore(), lr.UCB1(), ["red", "green"])
        >>> agent.tell(agent.ask(), 1)
        True
        >>> agent.compact(), agent.verify(), agent.time
        (2, 0, 1)
        """
        from lowregret.online.retention import compact

        if not isinstance(older_than, timedelta):
            raise InputError(f"older_than must be a datetime.timedelta, got {short_repr(older_than)}")
        transactions = self._transactions
        with transactions.reading() as state:
            before = transactions.clock() - older_than.total_seconds()
            return compact(state, transactions.store, before, transactions.timeout)

    def erase_request(self, request: str) -> int:
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
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> first = agent.ask(request="somebody")
        >>> agent.erase_request("somebody")
        1
        >>> agent.ask(request="somebody") == first
        False
        """
        valid_request(request)
        transactions = self._transactions
        with transactions.reading() as state:
            found = len(transactions.store.requested(request)) or len(state.requests.get(request, ()))
            with transactions.store.session(transactions.timeout):
                transactions.store.erase(request)
            state.requested -= len(state.requests.pop(request, ()))
        return found
