"""The agent: ask which arm to pull, tell its reward."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from secrets import token_hex
from time import time
from typing import Self, TypeVar, Unpack, overload

from lowregret._common.text import count
from lowregret._common.validation import integer
from lowregret.online import agent_changes, agent_rewards, agent_views, calls
from lowregret.online.agent_settings import (
    Options,
    takes_options,
    valid_only,
    valid_request,
    valid_settings,
)
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import Decision, Status
from lowregret.online.snapshot import check_playable, read, write
from lowregret.online.stores.in_memory import MemoryStore
from lowregret.online.transactions import Transactions
from lowregret.policies import Policy

MAX_DECISIONS = 1_000_000

AgentKind = TypeVar("AgentKind", bound="Agent")


class Agent:
    """A policy in live use: ``ask`` which arm to pull, ``tell`` its reward.

    While no reward is pending, its choices are those of run 0 of ``simulate`` with the same seed, pull by
    pull. Rewards may be delayed, come in any order, or never. Several threads may share an agent.

    Parameters
    ----------
    policy : Policy or str
        The policy, or its name, such as ``"EUCBV(rho=0.5)"`` or ``"my_policies:Mine"``.
    arms : sequence of str
        The names of the arms.
    horizon : int, optional
        The number of pulls. If it is unknown, a policy that needs it plays epochs of doubling length; see
        docs/live.md. After a given horizon the agent continues unchanged.
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
        The values of arms as feature flags (OpenFeature), by default their names; see docs/integrate.md.
    prior : dict of str to (float, int), optional
        What is known of arms before the first decision: a mean, in the units of the rewards, and its weight
        in pulls; with ``reward_range=None`` a standard deviation too. It counts in the statistics of the arm
        as so many rewards, and not in the time; see docs/live.md.
    period : int or datetime.timedelta, optional
        The length of a period, such as a day, as a number of decisions or a time. The policy then sees means
        that are adjusted for good and bad periods of all arms; see docs/calendar.md.

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

    tell = agent_rewards.tell
    tell_many = agent_rewards.tell_many
    observe = agent_rewards.observe
    forget = agent_rewards.forget
    forget_many = agent_rewards.forget_many
    forget_expired = agent_changes.forget_expired
    forget_where = agent_changes.forget_where
    pause = agent_changes.pause
    resume = agent_changes.resume
    retire = agent_changes.retire
    add_arm = agent_changes.add_arm
    retire_arm = agent_changes.retire_arm
    preview = agent_views.preview
    summary = agent_views.summary
    verdict = agent_views.verdict
    plot = agent_views.plot
    events = agent_views.events
    rewards = agent_views.rewards
    verify = agent_views.verify
    compact = agent_changes.compact
    erase_request = agent_changes.erase_request

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
        """What was noted when the store was opened, a prior, a horizon that is passed, rewards that move."""
        from lowregret.online.period_rewards import variation_notes

        with self.transactions.reading() as state:
            views = *agent_views.prior_notes(state), *agent_views.horizon_notes(state)
            return (*self.transactions.store.notes, *views, *variation_notes(state))

    @property
    def status(self) -> Status:
        """Whether the agent makes decisions: "active", "paused" or "retired"."""
        with self.transactions.reading() as state:
            return state.status

    @overload
    def ask(
        self, n: None = None, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> Decision: ...

    @overload
    def ask(
        self, n: int, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> list[Decision]: ...

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
        number = 1 if n is None else integer("ask", "n", n, MAX_DECISIONS)
        if request is not None:
            valid_request(request)
        arms = None if only is None else valid_only(only)
        decisions = self.transactions.execute(calls.ask, number, arms, request)
        return decisions[0] if n is None else list(decisions)

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
        with self.transactions.reading() as state:
            return write(state)

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

    def _repr_html_(self) -> str:
        """Return the arms as a table, for notebooks; a closed agent has none."""
        table = "" if self.transactions.closed else self.summary()._repr_html_()
        return f"<p>{escape(repr(self))}</p>{table}"


def agent_of(transactions: Transactions, kind: type[AgentKind]) -> AgentKind:
    agent = kind.__new__(kind)
    agent.transactions = transactions
    return agent


def _in_memory(state: AgentState, clock: Callable[[], float] = time) -> Transactions:
    return Transactions(state, MemoryStore(history=False), clock=clock)
