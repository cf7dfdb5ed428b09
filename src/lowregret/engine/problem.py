"""What every engine is given and returns: a ``Problem``, how to run it, and its ``Outcome``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.prior import ArmPrior
from lowregret.environments import Bandit, Delay
from lowregret.errors import InputError
from lowregret.policies import Policy


class Record(NamedTuple):
    """A quantity that runs record on request: its type, its shape for one run, its column if any."""

    dtype: type
    shape: Callable[[int, int], tuple[int, ...]]
    column: str | None


RECORDS = {
    "rewards": Record(np.float64, lambda arms, horizon: (arms,), "reward"),
    "path": Record(np.int64, lambda arms, horizon: (horizon, 3), None),
}
"""What can be recorded: the sum of the rewards of each arm; for each step the arm that was pulled, the round
and the number of active arms after it."""


@dataclass(frozen=True)
class RewardTable:
    """Arms whose rewards are given, one row each, in place of a bandit; they keep their order."""

    rewards: tuple[Floats, ...]

    def __len__(self) -> int:
        return len(self.rewards)


@dataclass(frozen=True, eq=False)
class Problem:
    """Runs of one policy on one bandit."""

    policy: Policy
    bandit: Bandit | RewardTable  # what it plays on
    horizon: int  # the number of steps of a run
    seed: int = 0
    first_run: int = 0  # run r depends on the seed and r alone
    runs: int = 1  # how many, from the first on
    grid: Integers = field(default_factory=lambda: np.zeros(0, np.int64))  # increasing times
    clip: bool = False  # whether the policy sees rewards clipped to [0, 1]
    delay: Delay | None = None  # how many decisions later a reward is known; None for before the next
    batch: int = 1  # the number of decisions made at once
    record: frozenset[str] = frozenset()  # besides regret, pulls and eliminations: names of RECORDS
    prior: Mapping[int, ArmPrior] = field(default_factory=dict)  # what is known of arms, by their numbers
    period: int | None = None  # the number of decisions of a period for which means are adjusted, if any

    def __post_init__(self) -> None:
        if unknown := self.record - set(RECORDS):
            raise InputError(f"record: choose among {', '.join(RECORDS)}, got {', '.join(sorted(unknown))}")

    @property
    def delayed(self) -> bool:
        """Whether a reward may become known after the next decision."""
        return self.batch > 1 or not (self.delay is None or self.delay.is_zero)


@dataclass(frozen=True)
class Control:
    """How an engine runs a problem, on which no result depends.

    ``threads`` is one per core by default. ``progress`` is called with the number of runs just finished.
    ``halt`` is one integer: another thread that sets it to 1 stops the runs, which then raise ``Stopped``.
    """

    threads: int | None = None
    progress: Callable[[int], None] | None = None
    halt: Integers = field(default_factory=lambda: np.zeros(1, np.int64))


@dataclass(frozen=True, repr=False)
class Outcome:
    """The runs of one policy; row r of every array is run r."""

    policy: Policy
    grid: Integers  # the times at which the regret is recorded
    regret: Floats  # pseudo-regret at those times
    pulls: Integers  # of every arm at the horizon
    eliminated: Integers | None  # when an arm was, 0 for never; None if none is eliminated permanently
    records: Mapping[str, Any]  # what else was recorded, by the names of RECORDS
    seconds: float  # wall time, compilation excluded
    threads: int  # how many shared the runs

    @property
    def rewards(self) -> Floats | None:
        """The sum of the rewards of every arm, one row per run; None where they were not recorded."""
        return self.records.get("rewards")

    def __repr__(self) -> str:
        return f"Outcome({self.policy!s}, regret {self.regret.shape}, pulls {self.pulls.shape})"


def eliminates(policy: Policy) -> bool:
    """Return whether a policy eliminates arms permanently."""
    return policy.eliminates_permanently and any(map(policy.overrides, ("lower_bound", "next_round")))
