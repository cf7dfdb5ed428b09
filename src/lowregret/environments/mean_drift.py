"""How means change with time: their values at every step."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowregret._common.arrays import Floats
from lowregret._common.validation import scale_interval

PIECEWISE, LINEAR, SINUSOIDAL, CYCLIC = range(4)
"""How means change, for the engine."""


@dataclass(frozen=True)
class Drift:
    """How the means of the arms change; every row has a number for each arm.

    ``PIECEWISE``: row j holds from step ``times[j]`` on. ``LINEAR``: from the first row at step 1 to the
    second at step ``times[0]``, and constant from there. ``SINUSOIDAL``: the first row plus the second times
    sin(2 pi ((t - 1) / period + the third)). ``CYCLIC``: each row holds for ``times[0]`` steps, and after the
    last comes the first.
    """

    kind: int
    times: tuple[int, ...]
    rows: tuple[tuple[float, ...], ...]
    period: float = 1.0

    @cached_property
    def table(self) -> Floats:
        """The rows as an array."""
        return np.array(self.rows, np.float64)

    def means_at(self, t: NDArray[Any]) -> Floats:
        """Return the means at some steps, a row for each."""
        if self.kind == PIECEWISE:
            return np.asarray(self.table[np.searchsorted(self.times, t, side="right") - 1])
        if self.kind == CYCLIC:
            return np.asarray(self.table[(t - 1) // self.times[0] % len(self.table)])
        first, second = self.table[0], self.table[1]
        if self.kind == LINEAR:
            share = np.minimum((t - 1) / (self.times[0] - 1), 1.0)
            return np.asarray(first + (second - first) * share[:, None])
        angle = 2.0 * np.pi * (((t - 1) / self.period)[:, None] + self.table[2])
        return np.asarray(first + second * np.sin(angle))

    @property
    def extremes(self) -> tuple[Floats, Floats]:
        """Bounds on the mean of every arm."""
        if self.kind == SINUSOIDAL:
            width = np.abs(self.table[1])
            return self.table[0] - width, self.table[0] + width
        return self.table.min(axis=0), self.table.max(axis=0)

    def scaled(self, low: float, high: float) -> "Drift":
        """Return the drift of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        table = self.table.copy()
        shifted = slice(0, 1) if self.kind == SINUSOIDAL else slice(None)
        table[shifted] -= low
        table[: 2 if self.kind == SINUSOIDAL else None] /= width
        return replace(self, rows=tuple(map(tuple, table.tolist())))
