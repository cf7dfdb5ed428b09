"""A log of pulls: its arms as numbers, its propensities, and whether these can be right."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
import numpy.typing as npt
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret._common.log_tables import LogSource, arms_of, propensities_of, read_table, rewards_of
from lowregret.errors import InputError

UNEVEN_DEVIATIONS = 5.0
"""Standard deviations by which the counts of the arms must be uneven before a log is called not uniform."""
FALSE_ALARM_RATE = 0.001
"""The probability with which a correct log is called doubtful, at most, if it has the smallest propensity."""


@dataclass(frozen=True, repr=False)
class Log:
    """A validated log: the names of its ``arms``, and the number of the arm and the reward of every row.

    ``propensity`` is 1 / K unless the log ``has_propensities``. Rows of propensity 1 in a log of several arms
    are not ``used``: they say nothing about a policy that would have chosen another arm.
    """

    name: str
    arms: tuple[str, ...]
    arm: Integers
    reward: Floats
    propensity: Floats
    has_propensities: bool
    used: npt.NDArray[np.bool_]

    def __repr__(self) -> str:
        return f"Log({self.name!r}, {len(self.arm):,} rows, {len(self.arms):,} arms)"

    @property
    def support(self) -> tuple[float, float]:
        return float(self.reward.min()), float(self.reward.max())

    @property
    def least(self) -> float:
        """The smallest propensity of a row that is used."""
        return float(self.propensity[self.used].min())

    def inverse_means(self) -> Floats:
        """Compute the mean of 1{arm = a} / propensity for every arm a; it should be about 1."""
        weights = 1.0 / self.propensity[self.used]
        return np.bincount(self.arm[self.used], weights, len(self.arms)) / len(weights)

    def doubtful(self) -> int | None:
        """Return the arm whose propensities are the most doubtful, None if none are.

        If the propensities are correct, the terms w of ``inverse_means`` have mean 1 given the rows before,
        and if no arm had a smaller one than ``least``, c, their squares have a mean of at most 1 / c. A mean
        of n terms is then at most 1 - d with probability exp(-n c d^2 / 2) or less, since w is not negative,
        and at least 1 + d with exp(-n c d^2 / (2 + 2 d / 3)) or less (Freedman 1975). An arm is doubtful if
        that is below ``FALSE_ALARM_RATE`` / 2K, so that a correct log of K arms is called doubtful with
        probability ``FALSE_ALARM_RATE`` at most. A policy that learns may give an arm a smaller propensity in
        rows in which it does not choose the arm. No row shows it, and the log is called doubtful more often.
        """
        distance = self.inverse_means() - 1.0
        spread = np.where(distance < 0.0, 2.0, 2.0 + 2.0 / 3.0 * distance)
        evidence = self.used.sum() * self.least * distance**2 / spread
        worst = int(evidence.argmax())
        return worst if evidence[worst] > log(2 * len(self.arms) / FALSE_ALARM_RATE) else None

    def counts(self) -> Integers:
        return np.bincount(self.arm, minlength=len(self.arms))

    def uneven(self) -> bool:
        """Return whether the counts of the arms are almost surely not those of a uniform choice."""
        degrees = len(self.arms) - 1
        if degrees == 0:
            return False
        expected = len(self.arm) / len(self.arms)
        statistic = float(((self.counts() - expected) ** 2).sum() / expected)
        spread = 2.0 / (9.0 * degrees)
        return bool((np.cbrt(statistic / degrees) - (1.0 - spread)) / sqrt(spread) > UNEVEN_DEVIATIONS)


def read_log(source: LogSource) -> Log:
    """Read a log from a CSV or Parquet file, a polars table or a mapping of columns, and validate it."""
    name, table = read_table(source)
    arms, arm = _numbered_arms(arms_of(name, table))
    reward, stated = rewards_of(name, table), propensities_of(name, table)
    propensity = np.full(len(arm), 1.0 / len(arms)) if stated is None else stated
    used = propensity < 1.0 - 1e-12 if len(arms) > 1 else np.ones(len(arm), np.bool_)
    if not used.any():
        raise InputError(
            f"every row of {name} has propensity 1, as a deterministic policy logs, so nothing shows what "
            "other arms would have earned: log an agent with a minimum_share, or leave out the column if the "
            "arms were chosen uniformly at random"
        )
    for values in (arm, reward, propensity, used):
        values.flags.writeable = False
    return Log(name, arms, arm, reward, propensity, stated is not None, used)


def _numbered_arms(text: pl.Series) -> tuple[tuple[str, ...], Integers]:
    """Return the arms, in numerical order if all are numbers, and the arm of each row."""
    names = text.unique()
    order = names.cast(pl.Float64, strict=False)
    if order.null_count() or order.is_nan().any():
        names = names.sort()
    else:
        names = pl.DataFrame({"number": order, "text": names}).sort("number", "text")["text"]
    numbers = text.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64)
    return tuple(names.to_list()), np.array(numbers.to_numpy(), np.int64)
