"""The runs of one policy as arrays: what has them, and how they are read from the tables."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.analysis.tables import Tables


class Runs(Protocol):
    """The runs of one policy in one environment; row r of every array is run r.

    ``regret`` is recorded at the times of ``grid``; ``pulls``, ``eliminated`` (when, 0 for never) and
    ``rewards`` (their sum) have a column for each arm. None is what was not recorded, or a policy that
    eliminates no arms. ``seconds`` are those of the simulation, compilation excluded, and ``threads`` shared
    the runs.
    """

    @property
    def grid(self) -> Integers: ...  # described above
    @property
    def regret(self) -> Floats: ...
    @property
    def pulls(self) -> Integers: ...
    @property
    def eliminated(self) -> Integers | None: ...
    @property
    def rewards(self) -> Floats | None: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def threads(self) -> int | None: ...


class TableRuns:
    """The runs of one policy in one environment, from the tables; an array is made when first used."""

    seconds: float | None = None
    threads: int | None = None

    def __init__(self, tables: Tables, environment: str, policy: str) -> None:
        self._tables = tables
        self._pair = environment, policy

    def __repr__(self) -> str:
        environment, policy = self._pair
        return f"TableRuns({policy} in {environment!r})"

    @cached_property
    def grid(self) -> Integers:
        part = self._tables.slice("paths", *self._pair)
        return part["t"].unique().sort().to_numpy()

    @cached_property
    def regret(self) -> Floats:
        part = self._tables.slice("paths", *self._pair)
        if len(part) != part["run"].n_unique() * len(self.grid):
            environment, policy = self._pair
            raise InputError(f"the paths of {policy} on {environment} must have every run at every time")
        return part["regret"].to_numpy().reshape(-1, len(self.grid))

    @cached_property
    def pulls(self) -> Integers:
        part = self._tables.slice("pulls", *self._pair)
        return part["pulls"].to_numpy().reshape(part["run"].n_unique(), -1)

    @cached_property
    def eliminated(self) -> Integers | None:
        part = self._tables.slice("events", *self._pair)
        eliminating = self._tables.description.eliminating
        if part.is_empty() if eliminating is None else self._pair[1] not in eliminating:
            return None
        times = np.zeros_like(self.pulls)
        runs = self._tables.slice("pulls", *self._pair)["run"].unique().sort().to_numpy()
        rows = np.searchsorted(runs, part["run"].to_numpy())
        times[rows, part["arm"].to_numpy()] = part["t"].to_numpy()
        return times

    @cached_property
    def rewards(self) -> Floats | None:
        part = self._tables.slice("pulls", *self._pair)
        if "reward" not in part.columns:
            return None
        return part["reward"].to_numpy().reshape(self.pulls.shape)
