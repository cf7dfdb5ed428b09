"""The methods of an agent that take rewards, or that no reward will come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lowregret.online import calls
from lowregret.online.agent_settings import reference_of, valid_decisions, valid_observation, valid_rewards
from lowregret.online.decisions import Decision, Reference

if TYPE_CHECKING:
    from lowregret.online.agent import Agent


def tell(
    self: Agent,
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
        In place of the decision: the request that made it, and no other one.

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
    return bool(self.transactions.execute(calls.tell, [(reference_of(decision, request), reward)]))


def tell_many(self: Agent, rewards: Iterable[tuple[Reference, float]]) -> int:
    """Report several rewards at once, all or none of them.

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
    ConflictError, InputError, StoreError, UnknownDecisionError
        As for `tell`. Then none of the rewards counts.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
    >>> agent.tell_many([(choice, 1) for choice in agent.ask(5)])
    5
    """
    return int(self.transactions.execute(calls.tell, valid_rewards(rewards)))


def observe(
    self: Agent, arm: str, reward: float, propensity: float | None = None, request: str | None = None
) -> bool:
    """Learn from a decision that somebody else made: it enters the log, marked, and the statistics.

    It counts as a decision and its reward do, also while the agent is paused. Its id begins with "observed".

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


def forget(self: Agent, decision: Decision | str | None = None, *, request: str | None = None) -> bool:
    """Discard a decision whose reward will never be reported: its pull no longer counts.

    Parameters
    ----------
    decision : Decision or str, optional
        The decision, or its id.
    request : str, optional
        In place of the decision: the request that made it, and no other one.

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


def forget_many(self: Agent, decisions: Iterable[Reference]) -> int:
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
