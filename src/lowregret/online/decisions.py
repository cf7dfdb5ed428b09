"""What an agent decides, and what can happen to it: the events of which its state is the sum."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["asked", "told", "forgot", "conflict", "added", "retired"]


class Decision(NamedTuple):
    """An arm to pull, and the id by which its reward is told.

    Attributes
    ----------
    id : str
        Names the decision among all decisions of all agents.
    arm : str
        The name of the arm to pull.
    time : int
        The how-many-th pull it is, those that wait for their reward included; the first is 1.
    propensity : float or None
        The probability with which this arm was chosen, given all that came before: 1 for a policy that
        draws no random numbers, None for one that does and cannot say.

    Examples
    --------
    >>> import lowregret as lr
    >>> choice = lr.Agent(lr.UCB1(), ["red", "green"], seed=1).ask()
    >>> choice.arm, choice.time, choice.propensity
    ('red', 1, 1.0)
    """

    id: str
    arm: str
    time: int
    propensity: float | None = None


class Event(NamedTuple):
    """One thing that happened to an agent.

    ======== ==========================================================
    asked    decision, arm, time, propensity, drawn, perhaps request
    told     decision, reward
    forgot   decision
    conflict decision, reward: told again with another value, refused
    added    arm
    retired  arm
    ======== ==========================================================

    ``decision`` is the number of the decision, from 1. ``drawn`` is how many random numbers the policy had
    drawn after the choice: so a replay need not choose again. ``reward`` is what the user gave.
    """

    kind: Kind
    decision: int | None = None
    arm: str | None = None
    reward: float | None = None
    time: int | None = None
    propensity: float | None = None
    drawn: int | None = None
    request: str | None = None


def decision_id(agent: str, number: int) -> str:
    """Write the id of a decision."""
    return f"{agent}-{number}"


def decision_of(agent: str, event: Event) -> Decision:
    """Give the decision that an event of the kind ``asked`` tells of."""
    _, number, arm, _, time, propensity, _, _ = event
    assert number is not None and arm is not None and time is not None
    return Decision(decision_id(agent, number), arm, time, propensity)
