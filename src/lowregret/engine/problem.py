"""What every engine is given and returns: a ``Problem``, how to run it, and its ``Outcome``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret._common.other_names import RUNS, answers
from lowregret.engine.prior import ArmPrior
from lowregret.environments import Bandit, Delay, DriftingBandit, RandomBandit
from lowregret.errors import InputError
from lowregret.policies import Policy


class Record(NamedTuple):
    """A quantity that runs record on request: its type, of what there is one in a run, its column if any.

    ``of_path`` computes it from a problem and the path of one run; where it is None, the kernels write it.
    ``asked_by`` is the setting of users that asks for it; by default "record_" and its name.
    """

    dtype: type
    axis: Axis
    column: str | None
    of_path: Callable[[Problem, Integers], Any] | None = None
    asked_by: str | None = None

    def shape(self, arms: int, horizon: int, times: int) -> tuple[int, ...]:
        """Return the shape for one run."""
        return {"arm": (arms,), "time": (times,), "run": (1,), "step": (horizon, 3)}[self.axis]


Ties = Literal["pending", "first"]
Axis = Literal["arm", "time", "run", "step"]
REWARDS, PATH, RECOMMENDED, LOSS, STOPPED = "rewards", "path", "recommended", "loss", "stopped"
ANSWERS = "record_recommendations"
RECORDS = {
    REWARDS: Record(np.float64, "arm", "reward"),
    PATH: Record(np.int64, "step", None),
    RECOMMENDED: Record(np.int64, "time", RECOMMENDED, asked_by=ANSWERS),
    LOSS: Record(np.float64, "time", LOSS, asked_by=ANSWERS),
    STOPPED: Record(np.int64, "run", STOPPED, asked_by=ANSWERS),
}
"""What can be recorded: the sum of the rewards of each arm; for each step the arm that was pulled, the round
and the number of active arms after it; for each time of the grid the arm that the policy recommends, -1 for
none, and the loss of that; the time from which only one arm was pulled, 0 for never.

The loss is the gap of the recommended arm, or the number of arms that a policy with ``accepts`` takes for on
the wrong side of its threshold; nan where it cannot tell yet. A row with ``of_path`` is all that a further
quantity needs, on every engine: its arrays, the files of experiments and the tables of results follow from
it. A keyword that asks for it is written in ``simulate`` and ``Experiment``, where help and types need it.
"""


def records_asked_by(settings: Any) -> tuple[str, ...]:
    """Return the names of the records that the attributes of an object, such as an experiment, ask for."""
    asked = {name: record.asked_by or f"record_{name}" for name, record in RECORDS.items()}
    return tuple(name for name, attribute in asked.items() if getattr(settings, attribute, False))


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
    shuffle: bool = True  # whether arms get a random order in each run, by which ties are broken
    ties: Ties = "pending"  # to which arm a tie goes while rewards are pending

    def __post_init__(self) -> None:
        if unknown := self.record - set(RECORDS):
            raise InputError(f"record: choose among {', '.join(RECORDS)}, got {', '.join(sorted(unknown))}")
        changes = self.delayed or isinstance(self.bandit, DriftingBandit) or self.period is not None
        if RECOMMENDED in self.record and (changes or isinstance(self.bandit, RewardTable)):
            raise InputError(
                f"{ANSWERS}: recommendations need arms with fixed means and rewards that are known at once: "
                "leave out delays, batches, periods and drift"
            )
        if isinstance(self.bandit, RandomBandit) and (
            REWARDS in self.record or (LOSS in self.record and self.policy.overrides("accepts"))
        ):
            raise InputError(
                f"{self.bandit.name!r} has other arms in each run: rewards, and answers on a threshold, are "
                "not recorded for it"
            )

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


@answers("an outcome", RUNS)
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
        return self.records.get(REWARDS)

    @property
    def loss(self) -> Floats | None:
        """What the recommended arm loses at the times of ``grid``; None where it was not recorded."""
        return self.records.get(LOSS)

    def __repr__(self) -> str:
        return f"Outcome({self.policy!s}, regret {self.regret.shape}, pulls {self.pulls.shape})"


def eliminates(policy: Policy) -> bool:
    """Return whether a policy eliminates arms permanently."""
    by_rounds = policy.rounds_eliminate and policy.overrides("next_round")
    by_itself = policy.overrides("lower_bound") or policy.overrides("stop")
    return policy.eliminates_permanently and (by_rounds or by_itself)
