"""The status of an agent and of its arms: it can be paused, resumed and retired; arms come and go."""

from __future__ import annotations

from lowregret.online.agent_reader import AgentReader
from lowregret.online.decisions import Status


class AgentStatus(AgentReader):
    """The calls that change the status of an agent or its arms; rewards are accepted whatever that is."""

    @property
    def status(self) -> Status:
        """Whether the agent makes decisions: "active", "paused" or "retired"."""
        with self._transactions.reading() as state:
            return state.status

    def pause(self) -> bool:
        """Make no decisions until ``resume``.

        A new ``ask`` raises ``ConflictError``; one that repeats a request still returns its decisions.

        Returns
        -------
        bool
            False if the agent is paused already.

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
        """Make decisions again.

        Returns
        -------
        bool
            False if the agent is active already.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.resume()
        False
        """
        return self._transactions.change_status("resumed")

    def retire(self) -> bool:
        """Make no decisions any more, which is final.

        Returns
        -------
        bool
            False if the agent is retired already.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.retire(), agent.status
        (True, 'retired')
        """
        return self._transactions.change_status("ended")

    def add_arm(self, arm: str) -> None:
        """Add an arm; it is pulled first, as often as the warm-up of the policy requires.

        Parameters
        ----------
        arm : str
            The name of the arm; no arm, not even a retired one, has it already.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red"])
        >>> agent.add_arm("green")
        >>> agent.retire_arm("red")
        >>> agent.arms
        ('green',)
        """
        self._transactions.add(arm)

    def retire_arm(self, arm: str) -> None:
        """Retire an arm permanently; rewards of its pulls may still be reported.

        Parameters
        ----------
        arm : str
            The name of the arm.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.retire_arm("red")
        >>> agent.ask().arm
        'green'
        """
        self._transactions.retire(arm)
