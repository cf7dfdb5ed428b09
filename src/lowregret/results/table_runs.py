"""Arrays of the runs of one policy from long tables, and the table of the arms of a bandit."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from lowregret.analysis.tables import Floats, Integers
from lowregret.environments import DriftingBandit
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.environments import Bandit
    from lowregret.results.tabulated_results import TabulatedResults


class TableRuns:
    """The runs of one policy in one environment, from the tables; each array is made when it is first used.

    See `lowregret.analysis.tables.Runs` for the attributes.
    """

    seconds: float | None = None
    threads: int | None = None

    def __init__(self, results: TabulatedResults, environment: str, policy: str) -> None:
        self._results = results
        self._pair = environment, policy

    def __repr__(self) -> str:
        environment, policy = self._pair
        return f"TableRuns({policy} in {environment!r})"

    @cached_property
    def grid(self) -> Integers:
        """The recorded times."""
        part = self._results.slice("paths", *self._pair)
        return part["t"].unique().sort().to_numpy()

    @cached_property
    def regret(self) -> Floats:
        """Pseudo-regret, one row per run and one column per time."""
        part = self._results.slice("paths", *self._pair)
        if len(part) != part["run"].n_unique() * len(self.grid):
            environment, policy = self._pair
            raise InputError(f"the paths of {policy} on {environment} must have every run at every time")
        return part["regret"].to_numpy().reshape(-1, len(self.grid))

    @cached_property
    def pulls(self) -> Integers:
        """Pulls of every arm at the horizon, one row per run."""
        part = self._results.slice("pulls", *self._pair)
        return part["pulls"].to_numpy().reshape(part["run"].n_unique(), -1)

    @cached_property
    def eliminated(self) -> Integers | None:
        """When an arm was eliminated, 0 for never; None for a policy that eliminates no arms."""
        part = self._results.slice("events", *self._pair)
        known = self._results.description.eliminating
        if part.is_empty() if known is None else self._pair[1] not in known:
            return None
        found = np.zeros_like(self.pulls)
        runs = self._results.slice("pulls", *self._pair)["run"].unique().sort().to_numpy()
        rows = np.searchsorted(runs, part["run"].to_numpy())
        found[rows, part["arm"].to_numpy()] = part["t"].to_numpy()
        return found

    @cached_property
    def rewards(self) -> Floats | None:
        """The sum of the rewards of every arm, one row per run; None where they were not recorded."""
        part = self._results.slice("pulls", *self._pair)
        if "reward" not in part.columns:
            return None
        return part["reward"].to_numpy().reshape(self.pulls.shape)


def arm_table(bandit: Bandit, name: str, horizon: int) -> pl.DataFrame:
    """Return the arms of a bandit as a table, under the name of its environment.

    Where means change, the mean and the gap of an arm are averages over the steps up to the horizon, and the
    arms of the best average are marked as optimal.
    """
    means, gaps, optimal = bandit.means, bandit.gaps, bandit.optimal
    if isinstance(bandit, DriftingBandit):
        means, best = bandit.averages(horizon)
        gaps, optimal = best - means, means == means.max()
    columns = {
        "arm": np.arange(len(bandit)),
        "mean": means,
        "variance": bandit.variances,
        "gap": gaps,
        "optimal": optimal,
    }
    return pl.DataFrame(columns).select(pl.lit(name).alias("environment"), pl.all())
