"""Decisions of an agent, and the events that determine its state."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple, TypeAlias

from lowregret._common.other_names import DECISION, answers
from lowregret._common.validation import short_repr
from lowregret.errors import InputError

Kind = Literal[
    "asked", "told", "forgot", "withdrew", "conflict", "matured",
    "added", "retired", "paused", "resumed", "ended",
]  # fmt: skip
Status = Literal["active", "paused", "retired"]
"""Whether an agent makes decisions: yes, not now, or never again."""
STATUS_EVENTS: dict[Kind, Status] = {"paused": "paused", "resumed": "active", "ended": "retired"}
"""The kinds of events that change the status, and what it is after them."""
new_tuple = tuple.__new__
"""Creates a named tuple from all its fields, in half the time of its own constructor."""
FALLBACK = "fallback"
"""The id of a decision that was not recorded: its reward counts nowhere."""
PREVIEW = "preview"
"""The id of a decision that was not made, but would be."""
OBSERVED = "observed"
"""What the key and the id of a decision begin with that somebody else made."""
VISITOR = "visitor"
"""The same for a decision that a visitor asked for, whose request anybody may have chosen."""
ANSWERS = ("told", "forgot")
"""The kinds of events that answer one decision."""
KEY = 32
"""The number of hexadecimal digits of the random part of an id: 128 bits."""


@answers("a decision", DECISION)
class Decision(NamedTuple):
    """An arm to pull, and the id under which its reward is reported.

    Attributes
    ----------
    id : str
        Identifies the decision among all decisions of all agents. It has 128 random bits, so nobody can
        guess it, and a decision that is made again after a backup was restored has another id. "fallback"
        for an arm that is shown instead of a decision; its reward is ignored. "by-request" where a service
        answers a visitor whose request others can guess: only the server reports the reward, by request.
    arm : str
        The name of the arm to pull.
    time : int
        The number of the pull, counting from 1 and including pulls whose reward is pending.
    propensity : float or None
        The probability with which this arm was chosen, given everything before: 1 for a deterministic
        policy, None for a randomized policy that does not state it.
    timestamp : float or None
        When the decision was made, in seconds since 1970 (UTC). None if it was not recorded.

    Examples
    --------
    >>> choice = lr.Agent(lr.UCB1(), ["red", "green"], seed=1).ask()
    >>> choice.arm, choice.time, choice.propensity
    ('red', 1, 1.0)
    """

    id: str
    arm: str
    time: int
    propensity: float | None = None
    timestamp: float | None = None


class Request(NamedTuple):
    """A decision by the request that made it, for ``tell_many`` and ``forget_many``, instead of its id.

    Attributes
    ----------
    name : str
        The name, as it was passed to ``ask``.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
    >>> choices = [agent.ask(request=name) for name in ("visit 17", "visit 18")]
    >>> agent.tell_many([(lr.Request("visit 17"), 1), (lr.Request("visit 18"), 0)])
    2
    """

    name: str


Reference: TypeAlias = Decision | str | Request
"""What names a decision: the decision, its id, or its request."""


class Observation(NamedTuple):
    """A decision that somebody else made, and its reward; see ``Agent.observe``."""

    arm: str
    reward: float
    propensity: float | None = None
    request: str | None = None


class Event(NamedTuple):
    """An event in the life of an agent, as stores hold it.

    ======== ==========================================================================================
    asked    decision, arm, time, propensity, drawn, key, optionally request
    told     decision, reward
    forgot   decision
    withdrew decision: it counts as if it had been forgotten at once
    conflict decision, reward: contradicts an earlier reward, rejected
    added    arm, optionally key: the JSON of its value as a flag
    retired  arm
    paused   no decisions are made from here on; optionally arm, which is shown meanwhile
    resumed  decisions are made again
    ended    no decisions are made any more
    matured  decision, reward: the window of this and all earlier decisions has ended; the reward is that
             of decisions without one, None if they are discarded
    ======== ==========================================================================================

    ``decision`` is the number of the decision, from 1. ``drawn`` is how many random numbers the policy had
    drawn after the choice, so that a replay need not choose again. ``reward`` is in the user's units. ``key``
    is the random part of the id; it begins with "observed" if somebody else made the decision, and with
    "visitor" if a visitor asked for it by a service. ``timestamp`` is in seconds since 1970 (UTC), None if it
    was not recorded.
    """

    kind: Kind
    decision: int | None = None
    arm: str | None = None
    reward: float | None = None
    time: int | None = None
    propensity: float | None = None
    drawn: int | None = None
    request: str | None = None
    key: str | None = None
    timestamp: float | None = None


def decision_id(decision: object) -> str:
    """Return the id of a decision, which may be the id itself."""
    if isinstance(decision, Decision):
        decision = decision[0]
    if isinstance(decision, str):
        return decision
    raise InputError(f"a decision must be a Decision or its id, got {short_repr(decision)}")


def decision_number(key: str) -> int:
    """Return the number of a decision from its id, 0 where that is no id."""
    digits = key.rpartition("-")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 20 else 0


def decision_of(event: Event) -> Decision:
    _, number, arm, _, time, propensity, _, _, key, timestamp = event
    return new_tuple(Decision, (f"{key}-{number}", arm, time, propensity, timestamp))


_keys: list[str] = []
"""Random keys that are drawn in advance, since the operating system takes a microsecond for each call."""


def new_key() -> str:
    while True:
        try:
            return _keys.pop()
        except IndexError:
            digits = os.urandom(64 * KEY // 2).hex()
            _keys.extend([digits[start : start + KEY] for start in range(0, len(digits), KEY)])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keys.clear)  # else both processes would use the same keys
