"""What an engine returns: the outcome of many runs, or the trace of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lowregret.engine.state import Floats, Integers
from lowregret.policies import Policy


@dataclass(frozen=True, repr=False)
class Outcome:
    """The runs of one policy; row r of every array is run r.

    Attributes
    ----------
    policy : Policy
        The policy.
    grid : array (times,)
        The times at which the regret is recorded.
    regret : array (runs, times)
        Pseudo-regret at those times.
    pulls : array (runs, arms)
        Pulls of every arm at the horizon.
    eliminated : array (runs, arms), or None
        When an arm was eliminated, 0 for never; None for a policy that eliminates none permanently.
    seconds : float
        Wall time of the simulation, compilation excluded.
    threads : int
        How many threads shared the runs.
    rewards : array (runs, arms), or None
        The sum of the rewards of every arm; None where they were not recorded.
    """

    policy: Policy
    grid: Integers
    regret: Floats
    pulls: Integers
    eliminated: Integers | None
    seconds: float
    threads: int
    rewards: Floats | None = None

    def __repr__(self) -> str:
        return f"Outcome({self.policy!s}, regret {self.regret.shape}, pulls {self.pulls.shape})"


class Trace(NamedTuple):
    """One run, step by step.

    Attributes
    ----------
    arm : array of int
        The arm that was pulled.
    reward : array of float
        Its reward.
    round, active : array of int, or None
        The round and the number of active arms after the step; None for a policy that eliminates no arms
        permanently.
    delay : array of int, or None
        How many decisions later the reward is known, -1 for never; None where each is known before the next
        decision.
    """

    arm: Integers
    reward: Floats
    round: Integers | None
    active: Integers | None
    delay: Integers | None = None


def new_trace(
    policy: Policy,
    arm: Integers,
    reward: Floats,
    round: Integers,
    active: Integers,
    delay: Integers | None = None,
) -> Trace:
    """Return a trace, without rounds and active arms for a policy that has none."""
    if eliminates(policy):
        return Trace(arm, reward, round, active, delay)
    return Trace(arm, reward, None, None, delay)


def eliminates(policy: Policy) -> bool:
    """Return whether a policy eliminates arms permanently."""
    return policy.eliminates_permanently and any(map(policy.overrides, ("lower_bound", "next_round")))
