"""Whether an agent makes decisions: it can be paused, resumed and retired."""

from __future__ import annotations

from lowregret.online.agent_reader import AgentReader
from lowregret.online.decisions import Status


class AgentStatus(AgentReader):
    """The calls that change the status of an agent; rewards are accepted whatever it is."""

    @property
    def status(self) -> Status:
        """Whether the agent makes decisions: "active", "paused" or "retired"."""
        with self._transactions.reading() as state:
            return state.status

    def pause(self) -> bool:
        """Make no decisions until ``resume``; return False if the agent is paused already.

        A new ``ask`` raises ``ConflictError``; one that repeats a request still returns its decisions.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.pause(), agent.status
        (True, 'paused')
        >>> agent.ask()
        Traceback (most recent call last):
        lowregret.errors.ConflictError: this agent is paused and makes no decisions: resume it
        >>> agent.resume(), agent.status
        (True, 'active')
        """
        return self._transactions.change_status("paused")

    def resume(self) -> bool:
        """Make decisions again; return False if the agent is active already."""
        return self._transactions.change_status("resumed")

    def retire(self) -> bool:
        """Make no decisions any more, which is final; return False if the agent is retired already."""
        return self._transactions.change_status("ended")
