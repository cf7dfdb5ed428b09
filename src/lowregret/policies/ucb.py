"""Upper confidence bounds of Auer, Cesa-Bianchi and Fischer."""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar

from lowregret.policies.base import Arm, Clock, Policy


class UCB1(Policy):
    """m + sqrt(alpha log(t) / n).

    Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine
    Learning 47, 2002, Figure 1, where alpha is 2. Assumes rewards in [0, 1]; needs no horizon.

    Parameters
    ----------
    alpha : float, default 2
        How much the policy explores, positive.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.UCB1(), [[1] * 9, [0] * 9], horizon=9).arm.tolist()
    [0, 1, 0, 0, 0, 0, 1, 0, 0]
    """

    alpha: float = 2.0

    moves = "rising"
    source: ClassVar[str] = "Auer, Cesa-Bianchi, Fischer 2002, Figure 1"

    def check(self) -> None:
        """Refuse parameters outside their range."""
        self.require("alpha", "positive", self.alpha > 0)

    def score(self, arm: Arm, clock: Clock) -> float:
        """Give the upper confidence bound of an arm."""
        return arm.mean + sqrt(self.alpha * log(clock.t) / arm.pulls)
