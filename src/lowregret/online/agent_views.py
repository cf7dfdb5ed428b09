"""The methods of an agent that read its state and its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowregret._common.validation import VARIANCE, Rule, number
from lowregret.engine.prior import ArmPrior, in_words
from lowregret.online import calls

if TYPE_CHECKING:
    import altair
    import polars

    from lowregret.online.agent import Agent
    from lowregret.online.agent_state import AgentState
    from lowregret.online.decisions import Decision
    from lowregret.online.verdict import Verdict

_LEVEL = Rule("{name} must lie between 0 and 1", lambda value: 0.0 < value < 1.0)


def horizon_notes(state: AgentState) -> tuple[str, ...]:
    """Return a note of an agent that has passed the horizon that its policy was made for."""
    horizon, policy = state.settings.horizon, state.settings.policy
    if horizon is None or state.time <= horizon or "horizon" not in policy.needs:
        return ()
    remedy = "create another agent with a larger horizon"
    return (f"{state.time:,} decisions are beyond the horizon of {horizon:,} of {policy}: {remedy}",)


def prior_notes(state: AgentState) -> tuple[str, ...]:
    """Return a note of an agent whose statistics begin with a prior."""
    stated = (state.settings.prior or {}).items()
    priors = {repr(arm): ArmPrior(prior[0], int(prior[1])) for arm, prior in stated}
    return (in_words(priors),) if priors else ()


def preview(self: Agent) -> Decision:
    """Return what the next ``ask`` would choose, without a decision: nothing is stored or counted.

    An agent that is paused or retired says what it would choose if it were active.

    Returns
    -------
    Decision
        The arm, its time and its propensity; the id is "preview".

    Examples
    --------
    >>> agent = lr.Agent(lr.ThompsonBeta(), ["red", "green"])
    >>> agent.preview().arm == agent.preview().arm == agent.ask().arm
    True
    """
    decision: Decision = self.transactions.try_out(calls.preview)
    return decision


def summary(self: Agent) -> polars.DataFrame:
    """Return a table of the arms, in the order in which they were added.

    Returns
    -------
    polars.DataFrame
        The columns are ``arm``, ``pulls`` (with a reward), ``pending``, ``mean``, ``low`` and ``high``,
        ``state`` and ``share`` of all pulls; then the interval of the difference between the arm and the one
        with the largest mean, ``to_leader_low`` and ``to_leader_high``, and of that between the arm and the
        control, ``to_control_low`` and ``to_control_high``. The state is "active", "eliminated", "inactive"
        (not chosen now, but not eliminated) or "retired". The mean is that of the rewards as the policy
        records them: ``ThompsonBeta`` records a Bernoulli draw for each. The interval from low to high
        covers the true mean with probability 95% at all times simultaneously, whatever the agent chose. The
        differences of all arms hold together with probability 95%, at all times, while the arms stay the
        same. Without a ``reward_range`` both are asymptotic. See docs/live.md.
        An agent with a prior has a column ``prior``, its weight, which is in none of the others.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
    >>> agent.summary()["state"].to_list()
    ['active', 'active']
    """
    from lowregret.online.arm_summary import summary_table

    with self.transactions.reading() as state:
        return summary_table(state)


def verdict(self: Agent, error: float = 0.05, within: float = 0.0) -> Verdict:
    """Say which arm is the best, if that is known.

    However often one looks, the probability that it is ever wrong is at most ``error``, whatever the policy
    chose, while the means and the arms stay the same; with a ``period``, while the best arm does. For rewards
    without a range this is asymptotic; see docs/live.md.

    Parameters
    ----------
    error : float, default 0.05
        The probability of a false verdict, between 0 and 1.
    within : float, default 0
        A difference that does not matter: an arm that is not worse than the best by more is good enough.

    Returns
    -------
    Verdict
        The claim, in one sentence, and what else helps to decide.

    Raises
    ------
    InputError
        If ``error`` or ``within`` is not allowed, or the agent is closed.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
    >>> for _ in range(300):
    ...     choice = agent.ask()
    ...     _ = agent.tell(choice, choice.arm == "green")
    >>> agent.verdict().sentence
    'green is the best (error at most 5%, whenever you look)'
    """
    from lowregret.online.verdict import verdict_of

    error = number("verdict", "error", error, _LEVEL)
    within = number("verdict", "within", within, VARIANCE)
    with self.transactions.reading() as state:
        return verdict_of(state, error, within)


def plot(self: Agent) -> altair.LayerChart:
    """Draw the mean of every arm with its interval.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> chart = lr.Agent(lr.UCB1(), ["red", "green"]).plot()
    >>> type(chart).__name__
    'Figure'
    """
    from lowregret.reporting.agent_chart import arms_chart

    return arms_chart(self.summary(), str(self.policy))


def events(self: Agent) -> polars.DataFrame:
    """Return the events of the log, oldest first: what happened, when, and to which decision.

    Returns
    -------
    polars.DataFrame
        The columns are those of ``lowregret.online.decisions.Event``, with the timestamp as a date in
        UTC. An agent in memory has no log, and no rows.

    Examples
    --------
    >>> from lowregret.online.stores.in_memory import MemoryStore
    >>> agent = lr.open_agent(MemoryStore(), lr.UCB1(), ["red", "green"])
    >>> agent.tell(agent.ask(), 1)
    True
    >>> agent.events()["kind"].to_list()
    ['asked', 'told']
    """
    from lowregret.online.event_tables import event_table
    from lowregret.online.stores import all_events

    with self.transactions.reading():
        return event_table(all_events(self.transactions.store))


def rewards(self: Agent) -> polars.DataFrame:
    """Return the decisions whose rewards are known, as ``replay`` reads them.

    Returns
    -------
    polars.DataFrame
        The columns are ``decision`` (its number), ``time``, ``timestamp``, ``arm``, ``reward`` and
        ``propensity``. The reward is the reported one, or ``default_reward`` where the window of a
        decision ended without one.

    Examples
    --------
    >>> from lowregret.online.stores.in_memory import MemoryStore
    >>> agent = lr.open_agent(MemoryStore(), lr.EpsilonGreedy(0.5), ["red", "green"])
    >>> agent.tell_many((choice, 1) for choice in agent.ask(3))
    3
    >>> agent.rewards()["reward"].to_list()
    [1.0, 1.0, 1.0]
    """
    from lowregret.online.event_tables import reward_table
    from lowregret.online.stores import all_events

    with self.transactions.reading():
        return reward_table(lambda: all_events(self.transactions.store))


def verify(self: Agent) -> int:
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
    >>> from lowregret.online.stores.in_memory import MemoryStore
    >>> agent = lr.open_agent(MemoryStore(), lr.UCB1(), ["red", "green"])
    >>> agent.tell_many((choice, 1) for choice in agent.ask(3))
    3
    >>> agent.verify()
    6
    """
    from lowregret.online import retention

    with self.transactions.reading() as state:
        return retention.verify(state, self.transactions.store, self.transactions.position)
