"""OCUCB: optimally confident UCB."""

from __future__ import annotations

from math import log, sqrt
from typing import Annotated, ClassVar

from lowregret.policies.annotations import Positive, Rule
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock


class OCUCB(Policy):
    r"""Optimism that adapts to the number of rivals; for Gaussian rewards and a known horizon.

    $m + \sqrt{\alpha \log(\psi T / t) / n}$.

    Lattimore, "Optimally confident UCB: improved regret for finite-armed bandits", 2015, Algorithm 1.
    Assumes rewards with subgaussian noise; needs the horizon $T$. The analysis takes $\alpha > 2$ and
    $\psi \ge 2$.

    Parameters
    ----------
    alpha : float, default 3
        How much the policy explores, positive.
    psi : float, default 2
        At least 1, so that the logarithm is never negative.

    See Also
    --------
    AdaUCB : Optimism with a bonus that adapts to how hard the problem is.
    MOSS : Optimism for a known horizon that explores less than UCB1.

    Examples
    --------
    >>> lr.trace(lr.OCUCB(), [[1] * 20, [0] * 9], horizon=20, engine="reference").arm[:9].tolist()
    [0, 1, 0, 0, 1, 0, 0, 0, 0]
    """

    alpha: Positive = 3.0
    psi: Annotated[float, Rule("at least 1", lambda value: value >= 1)] = 2.0

    index_trend = "decreasing"
    index_depends_on = ("pulls", "mean")
    separable_width = True
    needs = ("horizon",)
    source: ClassVar[str] = "Lattimore 2015, Algorithm 1"

    def score(self, arm: Arm, clock: Clock) -> float:
        return arm.mean + sqrt(self.alpha * log(self.psi * clock.horizon / clock.t) / arm.pulls)
