"""What the analysis reads: five tables of results, and the runs of one policy as arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

COLUMNS = {
    "finals": ("environment", "policy", "run", "regret"),
    "curves": ("environment", "policy", "run", "t", "regret"),
    "pulls": ("environment", "policy", "run", "arm", "pulls"),
    "events": ("environment", "policy", "run", "t", "arm", "event"),
    "arms": ("environment", "arm", "mean", "variance", "gap", "optimal"),
}
"""The tables and their columns. In one environment, run r of every policy sees the same rewards."""


class Runs(Protocol):
    """The runs of one policy in one environment; row r of every array is run r.

    Attributes
    ----------
    grid : array (times,)
        The times at which the regret is recorded.
    regret : array (runs, times)
        Pseudo-regret at those times.
    pulls : array (runs, arms)
        Pulls of every arm at the horizon.
    eliminated : array (runs, arms), or None
        When an arm was eliminated, 0 for never; None for a policy that eliminates no arms.
    rewards : array (runs, arms), or None
        The sum of the rewards of every arm; None where they were not recorded.
    seconds : float or None
        Wall time of the simulation, compilation excluded; None where it was not recorded.
    threads : int or None
        The number of threads that shared the runs; None where it was not recorded.
    """

    @property
    def grid(self) -> Integers: ...  # noqa: D102  # described above
    @property
    def regret(self) -> Floats: ...  # noqa: D102
    @property
    def pulls(self) -> Integers: ...  # noqa: D102
    @property
    def eliminated(self) -> Integers | None: ...  # noqa: D102
    @property
    def rewards(self) -> Floats | None: ...  # noqa: D102
    @property
    def seconds(self) -> float | None: ...  # noqa: D102
    @property
    def threads(self) -> int | None: ...  # noqa: D102


class Tables(Protocol):
    """What analysis and reports need of results; `lowregret.results.Results` provides it."""

    @property
    def name(self) -> str:
        """The name of the experiment."""

    @property
    def seed(self) -> int | None:
        """The seed of the rewards; None where parts of the results have different seeds."""

    @property
    def horizons(self) -> Mapping[str, int]:
        """The horizon of every environment."""

    @property
    def lateness(self) -> Mapping[str, str]:
        """The delay and the batches in words, of environments whose rewards are late."""

    @property
    def drifting(self) -> Collection[str]:
        """The environments whose means change, as far as they are recorded."""

    @property
    def planned_runs(self) -> int | None:
        """The number of runs of all pairs of an unfinished experiment; None of a finished one."""

    @property
    def parameters(self) -> Mapping[str, pl.DataFrame]:
        """The parameters of a sweep: a table with a column each, by environment and by policy."""

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """Every environment and policy that have runs, in the order of the results."""

    @property
    def finals(self) -> pl.DataFrame:
        """The regret of every run at the horizon."""

    @property
    def pulls(self) -> pl.DataFrame:
        """The pulls of every arm in every run."""

    @property
    def events(self) -> pl.DataFrame:
        """Which arm was eliminated in which run, and when."""

    @property
    def arms(self) -> pl.DataFrame:
        """The arms of every environment."""

    def add_metrics(self, summary: pl.DataFrame) -> pl.DataFrame:
        """Add the means of recorded rewards, and of metrics of the user's own, to a summary."""

    def outcome(self, policy: str, environment: str) -> Runs:
        """Return the runs of a policy in an environment as arrays."""


def largest_regrets(tables: Tables) -> dict[str, float]:
    """Return a bound on the regret of a run, by environment: the horizon times the largest gap.

    Where means change, gaps are averages over time, and the bound is the horizon times their sum. Results of
    earlier versions do not say where; there means change if gaps are not those of the means.
    """
    gap, mean = pl.col("gap"), pl.col("mean")
    stationary = ((mean.max() - mean - gap).abs() <= 1e-9 * (1.0 + mean.abs().max())).all()
    recorded = pl.col("environment").first().is_in(list(tables.drifting))
    bound = pl.when(stationary & ~recorded).then(gap.max()).otherwise(gap.sum())
    found = tables.arms.group_by("environment").agg(bound.alias("bound")).iter_rows()
    return {name: tables.horizons[name] * most for name, most in found}
