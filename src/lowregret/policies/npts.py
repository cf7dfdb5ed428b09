"""NPTS: non-parametric Thompson sampling."""

from __future__ import annotations

from math import log
from typing import ClassVar

from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, Random


class NPTS(Policy):
    r"""Thompson sampling by random weights of the rewards seen; for rewards in [0, 1] of any form.

    The mean of the rewards and of the value 1, with random weights: uniform on those that add up to 1.

    Riou and Honda, "Bandit algorithms based on Thompson sampling for bounded reward distributions", ALT
    2020, Algorithm 2: the weights are a draw from the Dirichlet distribution with $n + 1$ parameters of
    1. Assumes rewards in [0, 1]; needs no horizon. Looks at all rewards at every step.

    See Also
    --------
    EmpiricalIMED : Pull the arm with the least evidence against it.
    BESA : Compare two arms on equal numbers of their rewards.

    Examples
    --------
    >>> run = lr.trace(lr.NPTS(), "beta:a=1,4;b=4,1", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    uses_rewards = True
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Riou, Honda 2020, Algorithm 2"

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Return a mean with random weights, each an exponential variate over the sum of them."""
        weights = log(1.0 - rng.uniform())
        total = weights
        for k in range(len(arm.rewards)):
            weight = log(1.0 - rng.uniform())
            weights += weight
            total += weight * arm.rewards[k]
        return total / weights if weights < 0.0 else 1.0
