"""The agent: ask which arm to pull, tell its reward, and everything else that users call.

A method validates its arguments and makes one call: a function of ``calls`` in a transaction, or a view of
the state. Views, which need more of the package, are imported where they are used, so that an agent starts
quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from html import escape
from secrets import token_hex
from time import time
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from lowregret._common.other_names import AGENT, answers
from lowregret._common.text import count
from lowregret._common.user_calls import user_call
from lowregret._common.validation import VARIANCE, Rule, integer, number, short_repr
from lowregret.engine.prior import ArmPrior, describe
from lowregret.errors import InputError
from lowregret.online import calls
from lowregret.online.agent_settings import (
    Options,
    reference_of,
    takes_options,
    valid_decisions,
    valid_observation,
    valid_only,
    valid_request,
    valid_rewards,
    valid_settings,
)
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import Decision, Reference, Status
from lowregret.online.event_replay import latest_requests
from lowregret.online.snapshot import check_playable, read, write
from lowregret.online.stores import all_events, retry_if_changed
from lowregret.online.stores.in_memory import MemoryStore
from lowregret.online.transactions import Transactions
from lowregret.policies import Policy

if TYPE_CHECKING:
    import altair
    import polars

    from lowregret.online.verdict import Verdict

MAX_DECISIONS = 1_000_000

_LEVEL = Rule("{name} must lie between 0 and 1", lambda value: 0.0 < value < 1.0)

AgentKind = TypeVar("AgentKind", bound="Agent")


@answers("an agent", AGENT)
class Agent:
    """A policy in live use: ``ask`` which arm to pull, ``tell`` its reward.

    While no reward is pending, it makes the choices of run 0 of ``simulate`` with the same seed, pull by
    pull. Rewards may be delayed, come in any order, or never. Several threads may share an agent.

    Parameters
    ----------
    policy : Policy or str
        The policy, or its name, such as ``"EUCBV(rho=0.5)"`` or ``"my_policies:Mine"``.
    arms : sequence of str
        The names of the arms.
    horizon : int, optional
        The number of pulls. If it is unknown, a policy that needs it plays epochs of doubling length; see
        docs/live/live.md. After a given horizon the agent continues unchanged.
    seed : int, default 0
        Determines how ties are broken, and the random numbers of the policy.
    reward_range : (float, float) or None, default (0, 1)
        The range of the rewards, from which they are scaled to [0, 1]. None for rewards of any size, which
        are not scaled.
    outside : {"refuse", "clip"}, default "refuse"
        Whether a reward outside the range is rejected or clipped.
    matures_after : int or datetime.timedelta, optional
        The window of a decision, as a number of decisions or a time. Rewards count when the window of their
        decision ends, so that rewards that come early do not count before delayed ones.
    expires_after : int or datetime.timedelta, optional
        How long a decision stays pending, in the same units. Rewards count at once.
    default_reward : float, optional
        The reward of a decision whose reward was not reported in its window. Without it such a decision is
        discarded.
    clock : callable, optional
        Returns the time in seconds since 1970, for the timestamps of decisions; ``time.time`` by default.
    minimum_share : float, default 0
        The least probability of every arm in every decision, whatever the policy prefers. With it, the
        ``propensity`` of a decision of any policy of ours is positive for all arms, so that ``replay`` can
        use the log.
    control : (str, float), optional
        An arm and its share: in every decision it is chosen with exactly this probability. The policy
        neither chooses it nor learns from it.
    log_propensities : bool, optional
        Whether to compute the propensities of Thompson sampling, which takes time with many arms. By default
        they are computed with a minimum share or a control arm, and for ``open_agent`` always.
    values : dict of str to (bool, str, float or dict), optional
        The values of arms as feature flags (OpenFeature), by default their names; see docs/live/integrate.md.
    prior : dict of str to (float, int), optional
        What is known of arms before the first decision: a mean, in the units of the rewards, and its weight
        in pulls; with ``reward_range=None`` a standard deviation too. It counts in the statistics of the arm
        as so many rewards, and not in the time; see docs/live/live.md.
    period : int or datetime.timedelta, optional
        The length of a period, such as a day, as a number of decisions or a time. The policy then sees means
        that are adjusted for good and bad periods of all arms; see docs/explanation/calendar.md.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> agent = lr.Agent(lr.EUCBV(), ["red", "green", "blue"], horizon=10_000, seed=1)
    >>> choice = agent.ask()
    >>> agent.pending == (choice,), agent.time
    (True, 1)
    >>> agent.tell(choice, 1)
    True
    >>> agent.summary().filter(arm=choice.arm)["pulls"].item()
    1
    >>> str(agent.policy), sorted(agent.arms), agent.status
    ('EUCBV', ['blue', 'green', 'red'], 'active')
    >>> agent.add_arm("grey")
    >>> agent.retire_arm("red")
    >>> agent.conflicts, agent.name, agent.notes  # an agent in memory has no name, and no store to note
    (0, None, ())
    >>> agent.pause(), agent.resume(), agent.retire(), agent.status
    (True, True, True, 'retired')
    >>> agent.close()
    """

    @takes_options
    def __init__(
        self,
        policy: Policy | str,
        arms: Iterable[str],
        horizon: int | None = None,
        seed: int = 0,
        reward_range: tuple[float, float] | None = (0, 1),
        *,
        clock: Callable[[], float] = time,
        **options: Unpack[Options],
    ) -> None:
        settings = valid_settings(policy, arms, horizon, seed, reward_range, **options)
        self.transactions = _in_memory(AgentState(settings, token_hex(16)), clock)

    # What it is.

    def __reduce__(self) -> str:
        raise TypeError(
            "an agent cannot be pickled or copied: open it in each process by lr.open_agent(path)"
        )

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self.transactions.state.settings.policy

    @property
    def name(self) -> str | None:
        """The name of the agent in its store, None if it has none, as in memory."""
        return self.transactions.store.name

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms that are not retired, in the order of their addition, the control last."""
        with self.transactions.reading() as state:
            return tuple(state.arms)

    @property
    def time(self) -> int:
        """The number of pulls, including those whose reward is pending."""
        with self.transactions.reading() as state:
            return state.time

    @property
    def pending(self) -> tuple[Decision, ...]:
        """The decisions whose rewards have not been reported, oldest first."""
        with self.transactions.reading() as state:
            return tuple(state.unreported())

    @property
    def conflicts(self) -> int:
        """The number of rewards that were rejected because they contradict an earlier one."""
        with self.transactions.reading() as state:
            return state.conflicts

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted on opening, a prior, a horizon that is passed, a clock behind, rewards that move."""
        from lowregret.online.period_rewards import variation_notes

        with self.transactions.reading() as state:
            views = *prior_notes(state), *horizon_notes(state)
            clock = filter(None, [self.transactions.readings.note])
            return (*self.transactions.store.notes, *views, *clock, *variation_notes(state))

    @property
    def status(self) -> Status:
        """Whether the agent makes decisions: "active", "paused" or "retired"."""
        with self.transactions.reading() as state:
            return state.status

    # Decisions and their rewards.

    @overload
    def ask(
        self, n: None = None, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> Decision: ...

    @overload
    def ask(
        self, n: int, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> list[Decision]: ...

    @user_call
    def ask(
        self, n: int | None = None, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> Decision | list[Decision]:
        """Choose an arm to pull.

        For an index policy a pending pull counts at the current mean of its arm, so that decisions made at
        the same time spread over the arms. A sampling policy counts known rewards alone: its decisions spread
        because each is a new sample.

        Parameters
        ----------
        n : int, optional
            The number of decisions to make at once; they are returned as a list.
        only : list of str, optional
            The arms to choose from. If the policy has eliminated all of them, they are compared all the same.
        request : str, optional
            A name that makes the call idempotent: a repeated call returns the same decisions. A user's id
            makes the choice sticky, until the log is compacted or the name erased; in memory for the latest
            1,000 requests. A decision has one reward: of a second outcome of this user, ``tell`` ignores the
            same reward and rejects another one, so give each visit a name of its own if each should count.

        Returns
        -------
        Decision, or list of Decision
            The arms to pull.

        Raises
        ------
        ConflictError
            If the request was made before with another ``n``, or chose an arm that is not in ``only``; or if
            the agent is paused or retired.
        InputError
            If ``n`` is not an integer of at least 1, ``only`` is empty or names an unknown arm, the request
            is empty, or the agent is closed.
        StoreError
            If the store of the agent cannot be used, or was opened read-only.

        Examples
        --------
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green", "blue"])
        >>> sorted(choice.arm for choice in agent.ask(3))
        ['blue', 'green', 'red']
        >>> agent.ask(only=["red"]).arm
        'red'
        """
        if isinstance(n, str):
            raise InputError(f"ask: n must be an integer, got {n!r:.80}: a request is passed as request=...")
        size = 1 if n is None else integer("ask", "n", n, MAX_DECISIONS)
        if request is not None:
            valid_request(request)
        arms = None if only is None else valid_only(only)
        decisions = self.transactions.execute(calls.ask, size, arms, request)
        return decisions[0] if n is None else list(decisions)

    def tell(
        self,
        decision: Decision | str | None = None,
        reward: float | None = None,
        *,
        request: str | None = None,
    ) -> bool:
        """Report the reward of a decision.

        The call is idempotent: reporting the same reward again changes nothing.

        Parameters
        ----------
        decision : Decision or str, optional
            The decision, or its id.
        reward : float
            The reward.
        request : str, optional
            Instead of the decision: the request that made it, and no other one.

        Returns
        -------
        bool
            True if the reward is new, False if it was reported before.

        Raises
        ------
        ConflictError
            If another reward of this decision was reported before, or the decision was discarded. The
            conflict is recorded.
        InputError
            If the reward is not a finite number or lies outside ``reward_range``, or the agent is closed.
        StoreError
            If the store of the agent cannot be used, or was opened read-only.
        UnknownDecisionError
            If the agent did not make the decision, or no longer remembers it or its request.

        Examples
        --------
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> choice = agent.ask(request="visit 17")
        >>> agent.tell(choice.id, 0.5), agent.tell(request="visit 17", reward=0.5)
        (True, False)
        """
        if reward is None:
            raise InputError("tell: pass the reward as well, as in tell(decision, 1)")
        return bool(self.transactions.execute(calls.tell, [(reference_of(decision, request), reward)]))

    @user_call
    def tell_many(self, rewards: Iterable[tuple[Reference, float]]) -> int:
        """Report several rewards at once.

        A reward that contradicts another one, or whose decision is unknown, is rejected alone. The others are
        recorded, in one transaction, before the error is raised; its attribute ``rejected`` lists what was
        not.

        Parameters
        ----------
        rewards : iterable of (Decision, str or Request, float)
            Decisions, their ids or their requests, each with its reward.

        Returns
        -------
        int
            The number of rewards that were not reported before.

        Raises
        ------
        ConflictError
            If some were rejected, and at least one of them as a conflict.
        UnknownDecisionError
            If some were rejected because their decisions are unknown.
        InputError, StoreError
            As for `tell`. Then none of the rewards counts.

        Examples
        --------
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> choices = agent.ask(5)
        >>> agent.tell_many([(choice, 1) for choice in choices[:3]])
        3
        >>> try:
        ...     agent.tell_many([(choice, 0) for choice in choices[2:]])
        ... except lr.ConflictError as error:
        ...     print(list(error.rejected), agent.pending)
        [0] ()
        """
        return int(self.transactions.execute(calls.tell, valid_rewards(rewards)))

    def observe(
        self, arm: str, reward: float, propensity: float | None = None, request: str | None = None
    ) -> bool:
        """Learn from a decision that somebody else made: it enters the log, marked, and the statistics.

        It counts as a decision and its reward do, also while the agent is paused. Its id begins with
        "observed".

        Parameters
        ----------
        arm : str
            The arm that was pulled.
        reward : float
            Its reward.
        propensity : float, optional
            The probability with which the other one chose this arm, for estimates from the log.
        request : str, optional
            A name that makes the call idempotent; ``ask`` with this name returns the same arm.

        Returns
        -------
        bool
            True if the decision is new, False if its request was observed before.

        Raises
        ------
        ConflictError
            If the request stands for another arm or another reward, or the agent is retired.

        Examples
        --------
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.observe("red", 1, request="visit 17"), agent.observe("red", 1, request="visit 17")
        (True, False)
        >>> agent.summary()["pulls"].to_list(), agent.preview().arm
        ([1, 0], 'green')
        """
        observation = valid_observation(arm, reward, propensity, request)
        return bool(self.transactions.execute(calls.observe, [observation]))

    def forget(self, decision: Decision | str | None = None, *, request: str | None = None) -> bool:
        """Discard a decision whose reward will never be reported: its pull no longer counts.

        Parameters
        ----------
        decision : Decision or str, optional
            The decision, or its id.
        request : str, optional
            Instead of the decision: the request that made it, and no other one.

        Returns
        -------
        bool
            True if the decision was pending, False if it was discarded before.

        Raises
        ------
        ConflictError
            If its reward was reported before.
        UnknownDecisionError
            If the agent did not make the decision, or no longer remembers it.

        Examples
        --------
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.forget(agent.ask()), agent.time
        (True, 0)
        """
        return bool(self.transactions.execute(calls.forget, [reference_of(decision, request)]))

    def forget_many(self, decisions: Iterable[Reference]) -> int:
        """Discard several decisions at once, all or none of them.

        Parameters
        ----------
        decisions : iterable of (Decision, str or Request)
            The decisions, their ids or their requests.

        Returns
        -------
        int
            The number of decisions that were pending.

        Raises
        ------
        ConflictError, InputError, StoreError, UnknownDecisionError
            As for `forget`. Then none of the decisions is discarded.

        Examples
        --------
        >>> agent = lr.Agent("UCB1", ["red", "green"])
        >>> agent.forget_many(agent.ask(3)), agent.time
        (3, 0)
        """
        return int(self.transactions.execute(calls.forget, valid_decisions(decisions)))

    def forget_expired(self) -> int:
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

    def preview(self) -> Decision:
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

    # What is known.

    def summary(self) -> polars.DataFrame:
        """Return a table of the arms, in the order in which they were added.

        Returns
        -------
        polars.DataFrame
            The columns are ``arm``, ``pulls`` (whose reward counts), ``pending`` (whose reward is not
            reported, or waits for the end of a window), ``mean``, ``low`` and ``high``, ``state`` and
            ``share`` of all pulls; then the interval of the difference between the arm and the one with the
            largest mean, ``to_leader_low`` and ``to_leader_high``, and of that between the arm and the
            control, ``to_control_low`` and ``to_control_high``. The state is "active", "eliminated",
            "inactive" (not chosen now, but not eliminated) or "retired". The mean is of the rewards as
            the policy records them: ``ThompsonBeta`` records a Bernoulli draw for each. The interval from low
            to high covers the true mean with probability 95% at all times simultaneously, whatever the agent
            chose. The differences of all arms hold together with probability 95%, at all times, while the
            arms stay the same. Without a ``reward_range`` both are asymptotic, except that ``low`` is proved
            if no reward was negative; ``high`` and the differences are then null while rewards are too few or
            too uneven. See docs/explanation/intervals.md. An agent with a prior has a column ``prior``, its
            weight, which is in none of the others.

        Examples
        --------
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.summary()["state"].to_list()
        ['active', 'active']
        """
        from lowregret.online.arm_summary import summary_table

        with self.transactions.reading() as state:
            return summary_table(state)

    def verdict(self, error: float = 0.05, within: float = 0.0) -> Verdict:
        """Say which arm is the best, if that is known.

        However often one looks, the probability that it is ever wrong is at most ``error``, whatever the
        policy chose, while the means and the arms stay the same; with a ``period``, while the best arm does.
        For rewards without a range this is asymptotic, and assumes that rewards much larger than those so far
        are too rare to matter; see docs/explanation/intervals.md.

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

    @user_call
    def plot(self) -> altair.LayerChart:
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

    def events(self) -> polars.DataFrame:
        """Return the events of the log, oldest first: what happened, when, and to which decision.

        Returns
        -------
        polars.DataFrame
            The columns are the fields of ``lowregret.online.decisions.Event``, with the timestamp as a date
            in UTC. An agent in memory has no log, and no rows.

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

        with self.transactions.reading():
            return retry_if_changed(lambda: event_table(all_events(self.transactions.store)))

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
        >>> from lowregret.online.stores.in_memory import MemoryStore
        >>> agent = lr.open_agent(MemoryStore(), lr.EpsilonGreedy(0.5), ["red", "green"])
        >>> agent.tell_many((choice, 1) for choice in agent.ask(3))
        3
        >>> agent.rewards()["reward"].to_list()
        [1.0, 1.0, 1.0]
        """
        from lowregret.online.event_tables import reward_table

        with self.transactions.reading():
            return reward_table(lambda: all_events(self.transactions.store))

    # Changes of the agent.

    def add_arm(self, arm: str, value: Any = None) -> None:
        """Add an arm; it is pulled first, as often as the warm-up of the policy requires.

        Added again, an arm stays as it is, so every start of a program may add it.

        Parameters
        ----------
        arm : str
            The name of the arm, which no retired arm has.
        value : bool, str, float or dict, optional
            Its value as a feature flag, as in ``values`` of ``Agent``.
        """
        self.transactions.execute(calls.add, arm, value)

    def retire_arm(self, arm: str) -> None:
        """Retire an arm permanently; rewards of its pulls may still be reported.

        Retired again, it stays as it is.

        Parameters
        ----------
        arm : str
            The name of the arm.
        """
        self.transactions.execute(calls.retire, arm)

    def pause(self, fallback: str | None = None) -> bool:
        """Make no decisions until ``resume``.

        A new ``ask`` raises ``PausedError``; one that repeats a request still returns its decisions.

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

    def resume(self) -> bool:
        """Make decisions again.

        Returns
        -------
        bool
            False if the agent is active already.
        """
        return bool(self.transactions.execute(calls.change_status, "resumed"))

    def retire(self) -> bool:
        """Make no decisions any more, which is final.

        Returns
        -------
        bool
            False if the agent is retired already.
        """
        return bool(self.transactions.execute(calls.change_status, "ended"))

    # Maintenance of its log.

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
        >>> from lowregret.online.stores.in_memory import MemoryStore
        >>> agent = lr.open_agent(MemoryStore(), lr.UCB1(), ["red", "green"])
        >>> agent.tell_many((choice, 1) for choice in agent.ask(3))
        3
        >>> agent.verify()
        6
        """
        from lowregret.online import retention

        return retention.verify(self.transactions)

    def forget_where(self, since: datetime | None = None, request_prefix: str | None = None) -> int:
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

        Raises
        ------
        StoreError
            If another process compacted the log meanwhile, and some of the decisions with it; the next call
            takes out the others.

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

    def compact(self, older_than: timedelta = timedelta(0)) -> int:
        """Replace the events that are older than a time by a snapshot, from which the rest still follows.

        Pending decisions stay. The rewards and requests among the dropped events are forgotten, by all
        processes, so that a repeated call with one of them is an error or makes a new decision.

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
        from lowregret.online.retention import compact as compact_log

        if not isinstance(older_than, timedelta) or older_than < timedelta(0):
            raise InputError(
                f"older_than must be a datetime.timedelta of at least 0, got {short_repr(older_than)}"
            )
        return compact_log(self.transactions, older_than.total_seconds())

    def erase_request(self, request: str) -> int:
        """Remove the name of a request from the store, and so from all processes; its decisions stay.

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
            with transactions.store.session(transactions.timeout):
                events = transactions.store.events_of_request(request)
                transactions.store.erase(request)
            remembered = state.requests.pop(request, {})
            state.requested -= len(remembered)
        return len(events or remembered)

    # The object itself.

    def compile(self) -> Self:
        """Compile the policy; the choices stay the same.

        It takes some seconds the first time the class of a policy is compiled on a machine, and some
        milliseconds after that.

        Returns
        -------
        Agent
            The agent itself.

        Examples
        --------
        >>> lr.Agent(lr.UCB1(), ["red", "green"], seed=1).compile().ask().arm
        'red'
        """
        with self.transactions.reading() as state:
            state.compile()
        return self

    def to_json(self) -> str:
        """Return the agent as JSON, without loss.

        Examples
        --------
        >>> agent = lr.Agent(lr.MOSS(), ["red", "green"], horizon=100)
        >>> lr.Agent.from_json(agent.to_json()).ask().arm == agent.ask().arm
        True
        """
        transactions = self.transactions
        with transactions.reading() as state:
            if not transactions.store.history:
                return write(state)
            read_requests = partial(latest_requests, transactions.store, transactions.position)
            return write(state, requests=retry_if_changed(read_requests))

    @classmethod
    def from_json(cls, text: str, policy: Policy | None = None) -> Self:
        """Return the agent that ``to_json`` wrote, in memory; it continues exactly where the other one was.

        Parameters
        ----------
        text : str
            The JSON.
        policy : Policy, optional
            The policy, if its class is not part of lowregret.

        Examples
        --------
        >>> text = lr.Agent(lr.MOSS(), ["red", "green"], horizon=100).to_json()
        >>> lr.Agent.from_json(text)
        Agent(MOSS, 2 arms, 0 pulls)
        """
        state = read(text, policy)
        check_playable(state)
        return agent_of(_in_memory(state), cls)

    def close(self) -> None:
        """Close the store; the agent cannot be used after that."""
        self.transactions.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self.transactions.state
        return f"Agent({self.policy}, {count(len(state.arms), 'arm')}, {count(state.time, 'pull')})"

    def __str__(self) -> str:
        """Return an overview and the table of the arms; of a closed agent only its name and size."""
        if self.transactions.closed:
            return repr(self)
        from lowregret.online.agent_text import agent_text

        return agent_text(self)

    def _repr_html_(self) -> str:
        """Return the arms as a table with rounded numbers, for notebooks; a closed agent has none."""
        title = f"<p>{escape(repr(self))}</p>"
        if self.transactions.closed:
            return title
        from lowregret.reporting.html_tables import html_table

        return title + html_table(self.summary())


def agent_of(transactions: Transactions, kind: type[AgentKind]) -> AgentKind:
    agent = kind.__new__(kind)
    agent.transactions = transactions
    return agent


def _in_memory(state: AgentState, clock: Callable[[], float] = time) -> Transactions:
    state.remembers_requests = True
    return Transactions(state, MemoryStore(history=False), clock=clock)


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
    return (describe(priors),) if priors else ()
