"""The interface of the runs of one policy: those in memory and those from tables have it."""

from __future__ import annotations

from typing import Protocol

from lowregret._common.arrays import Floats, Integers


class Runs(Protocol):
    """The runs of one policy in one environment; row r of every array is run r.

    ``regret`` is recorded at the times of ``grid``; ``pulls``, ``eliminated`` (when, 0 for never) and
    ``rewards`` (their sum) have a column for each arm. ``loss`` is what the recommended arm loses at the
    times of ``grid``, nan before any recommendation. None is what was not recorded, or a policy that
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
    def loss(self) -> Floats | None: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def threads(self) -> int | None: ...
