"""Decisions of an agent, and the events that determine its state."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["asked", "told", "forgot", "conflict", "added", "retired"]
new_tuple = tuple.__new__
"""Creates a named tuple from all its fields, in half the time of its own constructor."""
ANSWERS = ("told", "forgot")
"""The kinds of events after which a decision is no longer pending."""


class Decision(NamedTuple):
    """An arm to pull, and the id under which its reward is reported.

    Attributes
    ----------
    id : str
        Identifies the decision among all decisions of all agents.
    arm : str
        The name of the arm to pull.
    time : int
        The number of the pull, counting from 1 and including pulls whose reward is pending.
    propensity : float or None
        The probability with which this arm was chosen, given everything before: 1 for a deterministic
        policy, None for a randomized policy that does not state it.

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
    """An event in the life of an agent, as stores hold it.

    ======== ==========================================================
    asked    decision, arm, time, propensity, drawn, optionally request
    told     decision, reward
    forgot   decision
    conflict decision, reward: contradicts an earlier reward, rejected
    added    arm
    retired  arm
    ======== ==========================================================

    ``decision`` is the number of the decision, from 1. ``drawn`` is how many random numbers the policy had
    drawn after the choice, so that a replay need not choose again. ``reward`` is in the user's units.
    """

    kind: Kind
    decision: int | None = None
    arm: str | None = None
    reward: float | None = None
    time: int | None = None
    propensity: float | None = None
    drawn: int | None = None
    request: str | None = None


def decision_id(agent: str, number: int | None) -> str:
    """Return the id of a decision."""
    return f"{agent}-{number}"


def decision_number(key: str) -> int:
    """Return the number of a decision from its id, 0 where that is no id."""
    digits = key.rpartition("-")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 20 else 0


def decision_of(agent: str, event: Event) -> Decision:
    """Return the decision of an event of kind ``asked``."""
    _, number, arm, _, time, propensity, _, _ = event
    return new_tuple(Decision, (f"{agent}-{number}", arm, time, propensity))
