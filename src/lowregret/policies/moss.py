"""MOSS: minimax optimal strategy in the stochastic case."""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar

from lowregret.policies.base import Arm, Clock, Policy


class MOSS(Policy):
    """m + sqrt(log+(T / (K n)) / n), with log+ x = max(log x, 0).

    Audibert and Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009,
    section 2. Assumes rewards in [0, 1]; needs the horizon T.

    Examples
    --------
    >>> import lowregret as lr
    >>> trace = lr.trace(lr.MOSS(), [[1, 1, 1, 1], [0, 0, 0, 0]], horizon=5)
    >>> trace.arm.tolist()
    [0, 1, 0, 0, 0]
    """

    moves = "still"
    source: ClassVar[str] = "Audibert, Bubeck 2009"

    def score(self, arm: Arm, clock: Clock) -> float:
        """Give the upper confidence bound of an arm."""
        share = clock.horizon / (clock.arms * arm.pulls)
        return arm.mean + sqrt(max(log(share), 0.0) / arm.pulls)
