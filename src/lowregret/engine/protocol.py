"""One way to call every policy: what it leaves out is filled in here.

What depends on the policy exists twice, as Python for the reference and as the choice Numba makes when it
compiles; the two are the same table read in two languages.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from lowregret.engine.compile import INLINED, shared
from lowregret.engine.rng import Rng
from lowregret.engine.state import CLOSED, Rows
from lowregret.errors import InputError
from lowregret.policies import NEVER, Arm, Arms, Clock


class NoRound(NamedTuple):
    """The one round of a policy without rounds."""

    number: int
    until: int


def has(policy: Any, method: str) -> bool:
    """Say whether a policy, its compiled twin or the type of that defines a method."""
    return callable(getattr(getattr(policy, "instance_class", policy), method, None))


def begin(policy: Any, clock: Clock) -> Any:
    """Give the first round, after a check that the policy fits the problem."""
    _check_methods(policy)
    policy.fits(clock)
    if not has(policy, "begin"):
        return NoRound(0, NEVER)
    round = policy.begin(clock)
    fields = getattr(round, "_fields", ())
    if not {"number", "until"} <= set(fields):
        raise InputError(f"{policy}: begin must give a NamedTuple with number and until, got {round!r}")
    for name, part in zip(fields, round, strict=True):
        if not isinstance(part, int | float):  # an array would be shared by all runs
            raise InputError(f"{policy}: {name} of a round must be a number, got {part!r}")
    return round


def open_arms(policy: Any, rows: Rows) -> None:
    """Let those arms be in play with which the policy starts."""
    rows["active"] = [policy.opens(int(number)) for number in rows["number"]]
    rows["dropped"] = np.where(rows["active"], 0, CLOSED)
    if not rows["active"].any():
        raise InputError(f"{policy}: opens must let at least one arm be in play")


def _check_methods(policy: Any) -> None:
    """Refuse a policy whose methods the engine could not call."""
    ways = ("score", "sample", "belief", "claim")
    if not policy.in_turn and not any(has(policy, method) for method in ways):
        raise InputError(
            f"{policy}: define score(self, arm, clock), sample(self, arm, clock, rng), belief(self, arm) or "
            "claim(self, arm, clock), or set in_turn"
        )
    rounds = ", round" if has(policy, "begin") else ""
    for method, wanted in {
        "score": f"arm, clock{rounds}",
        "sample": "arm, clock, rng",
        "belief": "arm",
        "claim": "arm, clock",
        "slope": "arm, clock",
        "lower": "arm, clock, round",
        "turn": "arms, clock, round",
        "book": "reward, rng",
    }.items():
        if has(policy, method):
            given = len(signature(getattr(policy, method)).parameters)
            if given != len(wanted.split(",")):
                raise InputError(f"{policy}: write {method}(self, {wanted})")


def value(policy: Any, arm: Arm, clock: Clock, round: Any, rng: Rng) -> Any:
    """Give what the arms are compared by."""
    if policy.in_turn:
        return -float(arm.pulls)
    if has(policy, "claim"):
        return policy.claim(arm, clock)
    if has(policy, "belief"):
        return _value_of_belief(policy, arm, clock, round, rng)
    if has(policy, "sample"):
        return policy.sample(arm, clock, rng)
    if has(policy, "begin"):
        return policy.score(arm, clock, round)
    return policy.score(arm, clock)


@overload(value, strict=False, jit_options=INLINED)
def _value(policy: Any, arm: Any, clock: Any, round: Any, rng: Any) -> Any:
    if policy.instance_class.in_turn:
        return lambda policy, arm, clock, round, rng: -float(arm.pulls)
    if has(policy, "claim"):
        return lambda policy, arm, clock, round, rng: policy.claim(arm, clock)
    if has(policy, "belief"):
        return _value_of_belief
    if has(policy, "sample"):
        return lambda policy, arm, clock, round, rng: policy.sample(arm, clock, rng)
    if has(policy, "begin"):
        return lambda policy, arm, clock, round, rng: policy.score(arm, clock, round)
    return lambda policy, arm, clock, round, rng: policy.score(arm, clock)


def _value_of_belief(policy: Any, arm: Arm, clock: Clock, round: Any, rng: Rng) -> Any:
    centre, spread = belief(policy, arm)
    return centre + spread * rng.normal()


def belief(policy: Any, arm: Arm) -> Any:
    """Give the centre and the spread of the normal law from which an arm is sampled."""
    return policy.belief(arm)


@overload(belief, strict=False, jit_options=INLINED)
def _belief(policy: Any, arm: Any) -> Any:
    return lambda policy, arm: policy.belief(arm)


def lower(policy: Any, arm: Arm, clock: Clock, round: Any) -> Any:
    """Give the lower bound that removes arms whose score is below it."""
    return policy.lower(arm, clock, round) if has(policy, "lower") else -np.inf


@overload(lower, strict=False, jit_options=INLINED)
def _lower(policy: Any, arm: Any, clock: Any, round: Any) -> Any:
    if has(policy, "lower"):
        return lambda policy, arm, clock, round: policy.lower(arm, clock, round)
    return lambda policy, arm, clock, round: -np.inf


def turn(policy: Any, arms: Arms, clock: Clock, round: Any) -> Any:
    """Give the round that follows."""
    return policy.turn(arms, clock, round) if has(policy, "turn") else round


@overload(turn, strict=False, jit_options=INLINED)
def _turn(policy: Any, arms: Any, clock: Any, round: Any) -> Any:
    if has(policy, "turn"):
        return lambda policy, arms, clock, round: policy.turn(arms, clock, round)
    return lambda policy, arms, clock, round: round


@shared
def clipped(reward: float, clip: bool) -> float:
    """Give a reward, clipped to [0, 1] where that is wanted."""
    return min(max(reward, 0.0), 1.0) if clip else reward


def book(policy: Any, reward: float, clip: bool, rng: Rng) -> Any:
    """Give the reward as it enters the statistics."""
    reward = clipped(reward, clip)
    return policy.book(reward, rng) if has(policy, "book") else reward


@overload(book, strict=False, jit_options=INLINED)
def _book(policy: Any, reward: Any, clip: Any, rng: Any) -> Any:
    if has(policy, "book"):
        return lambda policy, reward, clip, rng: policy.book(clipped(reward, clip), rng)
    return lambda policy, reward, clip, rng: clipped(reward, clip)
