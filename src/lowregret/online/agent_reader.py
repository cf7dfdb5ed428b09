"""What can be read of an agent."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Self

from lowregret._common.text import count
from lowregret.online.decisions import Decision
from lowregret.online.snapshot import write
from lowregret.online.transactions import Transactions
from lowregret.policies import Policy

if TYPE_CHECKING:
    import altair
    import polars


class AgentReader:
    """The part of an agent that changes nothing; ``Agent`` adds the calls that decide and learn."""

    _transactions: Transactions

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self._transactions.state.settings.policy

    @property
    def name(self) -> str | None:
        """The name of the agent in its store, None if it has none, as in memory."""
        return getattr(self._transactions.store, "name", None)

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms that are not retired, in the order of their addition, the control last."""
        with self._transactions.reading() as state:
            return tuple(state.arms)

    @property
    def time(self) -> int:
        """The number of pulls, including those whose reward is pending."""
        with self._transactions.reading() as state:
            return state.time

    @property
    def pending(self) -> tuple[Decision, ...]:
        """The decisions whose rewards have not been reported, oldest first."""
        with self._transactions.reading() as state:
            return tuple(state.unreported())

    @property
    def conflicts(self) -> int:
        """The number of rewards that were rejected because they contradict an earlier one."""
        with self._transactions.reading() as state:
            return state.conflicts

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found when the store was opened, such as an incomplete record that was dropped."""
        return tuple(self._transactions.store.notes)

    def summary(self) -> polars.DataFrame:
        """Return a table of the arms, in the order in which they were added.

        Returns
        -------
        polars.DataFrame
            The columns are ``arm``, ``pulls`` (with a reward), ``pending``, ``mean``, ``low`` and ``high``,
            ``state`` and ``share`` of all pulls. The state is "active", "eliminated", "inactive" (not chosen
            now, but not eliminated) or "retired". The mean is that of the rewards as the policy records them:
            ``ThompsonBeta`` records a Bernoulli draw for each. The interval from low to high covers the true
            mean with probability 95% at all times simultaneously, whatever the agent chose; see docs/live.md.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.summary()["state"].to_list()
        ['active', 'active']
        """
        from lowregret.online.arm_summary import summary_table

        with self._transactions.reading() as state:
            return summary_table(state)

    def plot(self) -> altair.LayerChart:
        """Draw the mean of every arm with its interval.

        Returns
        -------
        altair.LayerChart
            The chart.

        Examples
        --------
        >>> import lowregret as lr
        >>> chart = lr.Agent(lr.UCB1(), ["red", "green"]).plot()
        >>> type(chart).__name__
        'LayerChart'
        """
        from lowregret.reporting.agent_chart import arms_chart

        return arms_chart(self.summary(), str(self.policy))

    def to_json(self) -> str:
        """Return the agent as JSON, without loss.

        Returns
        -------
        str
            The JSON, for ``from_json``.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.MOSS(), ["red", "green"], horizon=100)
        >>> lr.Agent.from_json(agent.to_json()).ask().arm == agent.ask().arm
        True
        """
        with self._transactions.reading() as state:
            return write(state)

    @classmethod
    def _of(cls, transactions: Transactions) -> Self:
        agent = cls.__new__(cls)
        agent._transactions = transactions
        return agent

    def close(self) -> None:
        """Close the store; the agent cannot be used after that.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.close()
        """
        self._transactions.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self._transactions.state
        return f"Agent({self.policy}, {count(len(state.arms), 'arm')}, {count(state.time, 'pull')})"

    def _repr_html_(self) -> str:
        """Return the arms as a table, for notebooks; a closed agent has none."""
        table = "" if self._transactions.closed else self.summary()._repr_html_()
        return f"<p>{escape(repr(self))}</p>{table}"

    def events(self) -> polars.DataFrame:
        """Return the events of the log, oldest first: what happened, when, and to which decision.

        Returns
        -------
        polars.DataFrame
            The columns are those of ``lowregret.online.decisions.Event``, with the timestamp as a date in
            UTC. An agent in memory has no log, and no rows.

        Examples
        --------
        >>> import lowregret as lr
        >>> from lowregret.online.stores.in_memory import MemoryStore
        >>> agent = lr.open_agent(MemoryStore(), lr.UCB1(), ["red", "green"])
        >>> agent.tell(agent.ask(), 1)
        True
        >>> agent.events()["kind"].to_list()
        ['asked', 'told']
        """
        from lowregret.online.event_tables import event_table

        with self._transactions.reading():
            return event_table(self._transactions.store)

    def rewards(self) -> polars.DataFrame:
        """Return the decisions whose rewards are known, as ``replay`` reads them.

        Returns
        -------
        polars.DataFrame
            The columns are ``decision`` (its number), ``time``, ``timestamp``, ``arm``, ``reward`` and
            ``propensity``. The reward is the reported one, or ``default_reward`` where the window of a
            decision ended without one.

        Examples
        --------
        >>> import lowregret as lr
        >>> from lowregret.online.stores.in_memory import MemoryStore
        >>> agent = lr.open_agent(MemoryStore(), lr.EpsilonGreedy(0.5), ["red", "green"])
        >>> agent.tell_many((choice, 1) for choice in agent.ask(3))
        3
        >>> agent.rewards()["reward"].to_list()
        [1.0, 1.0, 1.0]
        """
        from lowregret.online.event_tables import reward_table

        with self._transactions.reading():
            return reward_table(self._transactions.store)

    def verify(self) -> int:
        """Replay the log from its beginning, and compare the result with the latest snapshot and the state.

        Returns
        -------
        int
            The number of events that were replayed.

        Raises
        ------
        StoreError
            If the log is inconsistent, or another state follows from it.

        Examples
        --------
        >>> import lowregret as lr
        >>> from lowregret.online.stores.in_memory import MemoryStore
        >>> agent = lr.open_agent(MemoryStore(), lr.UCB1(), ["red", "green"])
        >>> agent.tell_many((choice, 1) for choice in agent.ask(3))
        3
        >>> agent.verify()
        6
        """
        from lowregret.online.retention import verify

        with self._transactions.reading() as state:
            return verify(state, self._transactions.store, self._transactions.position)
