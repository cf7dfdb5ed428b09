"""The agent: ask it for an arm, tell it what the arm gave."""

from __future__ import annotations

from collections.abc import Iterable
from secrets import token_hex
from typing import TYPE_CHECKING, Self, overload

from lowregret._common.validation import whole
from lowregret.errors import InputError
from lowregret.online.agent_settings import Outside, checked, listed, text
from lowregret.online.decisions import Decision
from lowregret.online.snapshot import read, write
from lowregret.online.state import Core
from lowregret.online.transactions import Ledger
from lowregret.policies import Policy

if TYPE_CHECKING:
    import altair
    import polars

MOST_AT_ONCE = 1_000_000


class Agent:
    """A policy in live use: ``ask`` which arm to pull, ``tell`` what it gave.

    With nothing pending its choices are, pull by pull, those of run 0 of ``simulate`` with the same seed.
    Rewards may come late, in any order, or never. An agent may be shared by threads.

    Parameters
    ----------
    policy : Policy
        The policy.
    arms : sequence of str
        The names of the arms.
    horizon : int, optional
        How many pulls there will be. If nobody knows, a policy that needs it plays epochs of doubling
        length; see docs/live.md. After a horizon that was given, the agent goes on as it is.
    seed : int, default 0
        Fixes ties and the policy's own random numbers.
    reward_range : (float, float) or None, default (0, 1)
        Where the rewards lie; they are scaled from there to [0, 1]. None for rewards of any size, left as
        they are.
    outside : {"refuse", "clip"}, default "refuse"
        What becomes of a reward outside that range.

    Examples
    --------
    >>> import lowregret as lr
    >>> agent = lr.Agent(lr.EUCBV(), ["red", "green", "blue"], horizon=10_000, seed=1)
    >>> choice = agent.ask()
    >>> agent.tell(choice, 1)
    True
    >>> agent.summary().filter(arm=choice.arm)["pulls"].item()
    1
    """

    def __init__(
        self,
        policy: Policy,
        arms: Iterable[str],
        horizon: int | None = None,
        seed: int = 0,
        reward_range: tuple[float, float] | None = (0, 1),
        *,
        outside: Outside = "refuse",
    ) -> None:
        settings = checked(policy, arms, horizon, seed, reward_range, outside)
        self._ledger = Ledger(Core(settings, token_hex(4)))

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self._ledger.core.settings.policy

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms that are not retired."""
        with self._ledger.reading() as core:
            return tuple(core.names)

    @property
    def time(self) -> int:
        """How many pulls were made, those that wait for their reward included."""
        with self._ledger.reading() as core:
            return core.time

    @property
    def pending(self) -> tuple[Decision, ...]:
        """The decisions whose rewards are to come, the oldest first."""
        with self._ledger.reading() as core:
            return tuple(core.pending.values())

    @property
    def conflicts(self) -> int:
        """How many rewards were refused because another had been told before."""
        with self._ledger.reading() as core:
            return core.conflicts

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found when the agent's store was opened, such as a torn end that was dropped."""
        store = self._ledger.store
        return tuple(store.notes) if store else ()

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
        """Ask which arm to pull.

        Pulls that wait for their reward count, at the mean that is known of their arm, so decisions that are
        asked for at the same time spread out.

        Parameters
        ----------
        n : int, optional
            How many decisions to make at once; they come as a list.
        only : list of str, optional
            The arms to choose from. If the policy has dropped them all, they are compared all the same.
        request : str, optional
            A name for this call. The same name again gives the same decisions again, and no new ones; they
            are refused if their arms are not in ``only``.

        Returns
        -------
        Decision, or list of Decision
            What to pull.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green", "blue"])
        >>> sorted(choice.arm for choice in agent.ask(3))
        ['blue', 'green', 'red']
        >>> agent.ask(only=["red"]).arm
        'red'
        """
        count = 1 if n is None else whole("ask", "n", n, MOST_AT_ONCE)
        if request is not None:
            text("a request", request)
        made = self._ledger.ask(count, None if only is None else listed(only), request)
        return made[0] if n is None else list(made)

    def tell(self, decision: Decision | str, reward: float) -> bool:
        """Tell the reward of a decision.

        Parameters
        ----------
        decision : Decision or str
            The decision, or its id.
        reward : float
            What the arm gave.

        Returns
        -------
        bool
            True; False where the same reward of this decision was told before, which changes nothing.
            Another reward than before is refused with an ``InputError``, and recorded.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> choice = agent.ask()
        >>> agent.tell(choice.id, 0.5), agent.tell(choice.id, 0.5)
        (True, False)
        """
        return self._ledger.tell([(decision, reward)]) == 1

    def tell_many(self, rewards: Iterable[tuple[Decision | str, float]]) -> int:
        """Tell several rewards at once, all or none of them.

        Parameters
        ----------
        rewards : iterable of (Decision or str, float)
            Decisions or their ids, each with its reward.

        Returns
        -------
        int
            How many were new.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.tell_many([(choice, 1) for choice in agent.ask(5)])
        5
        """
        try:
            pairs = [(decision, reward) for decision, reward in rewards]
        except InputError:  # from what makes the pairs
            raise
        except (TypeError, ValueError):
            raise InputError("tell_many takes pairs of a decision and its reward") from None
        return self._ledger.tell(pairs)

    def forget(self, decision: Decision | str) -> bool:
        """Give up a decision whose reward will not come: its pull no longer counts.

        Parameters
        ----------
        decision : Decision or str
            The decision, or its id.

        Returns
        -------
        bool
            True; False where it was given up before.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.forget(agent.ask()), agent.time
        (True, 0)
        """
        return self._ledger.forget(decision)

    def add_arm(self, arm: str) -> None:
        """Let a new arm join; it is pulled first, as often as the policy's warm-up says.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red"])
        >>> agent.add_arm("green")
        >>> sorted(agent.arms)
        ['green', 'red']
        """
        self._ledger.add(arm)

    def retire_arm(self, arm: str) -> None:
        """Let an arm leave for good; rewards of its pulls may still be told.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.retire_arm("red")
        >>> agent.arms
        ('green',)
        """
        self._ledger.retire(arm)

    def compile(self) -> Self:
        """Choose and learn at compiled speed from now on; the choices are the same.

        It takes some seconds the first time a policy's class is compiled on a machine and some milliseconds
        after that, when the machine code is on the disk; for a class of your own, some seconds each time.

        Examples
        --------
        >>> import lowregret as lr
        >>> lr.Agent(lr.UCB1(), ["red", "green"], seed=1).compile().ask().arm
        'red'
        """
        with self._ledger.reading() as core:
            core.compile()
        return self

    def summary(self) -> polars.DataFrame:
        """Give a table of the arms, in the order in which they came.

        The columns are ``arm``, ``pulls`` (told), ``pending``, ``mean``, ``low`` and ``high``, ``state`` and
        ``share`` of all pulls. The mean is that of the numbers the policy keeps: one that flips a coin for
        each reward (``ThompsonBeta``) keeps the coins, not the rewards. The interval from low to high covers
        the true mean with probability 95% however often one looks and whatever the agent chose; see
        docs/live.md.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
        >>> agent.summary()["state"].to_list()
        ['in play', 'in play']
        """
        from lowregret.online.arm_summary import summary_table

        with self._ledger.reading() as core:
            return summary_table(core)

    def plot(self) -> altair.LayerChart:
        """Draw the mean of every arm with its interval."""
        from lowregret.reporting.agent_chart import arms_chart

        return arms_chart(self.summary(), str(self.policy))

    def to_json(self) -> str:
        """Write the agent as JSON, from which ``from_json`` goes on exactly.

        Examples
        --------
        >>> import lowregret as lr
        >>> agent = lr.Agent(lr.MOSS(), ["red", "green"], horizon=100)
        >>> lr.Agent.from_json(agent.to_json()).ask().arm == agent.ask().arm
        True
        """
        with self._ledger.reading() as core:
            return write(core)

    @classmethod
    def from_json(cls, text: str, policy: Policy | None = None) -> Self:
        """Make an agent from what ``to_json`` wrote.

        Parameters
        ----------
        text : str
            The JSON.
        policy : Policy, optional
            The policy, where its class is not one of ours.

        Examples
        --------
        >>> import lowregret as lr
        >>> text = lr.Agent(lr.MOSS(), ["red", "green"], horizon=100).to_json()
        >>> lr.Agent.from_json(text)
        Agent(MOSS, 2 arms, 0 pulls)
        """
        return cls._of(Ledger(read(text, policy)))

    @classmethod
    def _of(cls, ledger: Ledger) -> Self:
        agent = cls.__new__(cls)
        agent._ledger = ledger
        return agent

    def close(self) -> None:
        """Let go of the store, if there is one; the agent cannot be used after that."""
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        core = self._ledger.core
        return f"Agent({self.policy}, {len(core.names)} arms, {core.time} pulls)"
