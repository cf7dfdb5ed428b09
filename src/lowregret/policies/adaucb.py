"""AdaUCB: a confidence level that adapts to the pulls of the other arms."""

from __future__ import annotations

from math import e, log, sqrt
from typing import ClassVar

from lowregret.policies.annotations import Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock


class AdaUCB(Policy):
    r"""Optimism with a bonus that adapts to how hard the problem is; for Gaussian rewards of known variance.

    $m + \sqrt{2 \sigma^2 \log^*(T / H) / n}$, where $H = \sum_j \min(n, \sqrt{n n_j})$ over all arms $j$.

    $\log^* x = \log((x + e) \sqrt{\log(x + e)})$ and $\sigma^2$ is ``variance``. Lattimore, "Refining the
    confidence level for optimistic bandit strategies", JMLR 19, 2018, Algorithm 1, where the rewards are
    Gaussian of variance 1. $H$ is also in the author's code of an anytime OCUCB; constant not verified:
    $\log^*$, which another public implementation has as well. Needs the horizon $T$.

    Parameters
    ----------
    variance : float, default 0.25
        The variance of the rewards, positive; 1/4 is the largest for rewards in [0, 1].

    See Also
    --------
    OCUCB : Optimism that adapts to the number of rivals.
    MOSS : Optimism for a known horizon that explores less than UCB1.

    Examples
    --------
    >>> lr.trace(lr.AdaUCB(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    variance: Positive = 0.25

    index_trend = "decreasing"
    uses_arms = True
    family = "Gaussian"
    needs = ("horizon", "known variance")
    source: ClassVar[str] = "Lattimore 2018, Algorithm 1"

    def score(self, arm: Arm, clock: Clock) -> float:
        n = arm.pulls
        share = 1.0  # of the arm itself, whose latest pulls only ``n`` counts
        for j in range(clock.arms):
            other = arm.arms.at(j)
            if other.number != arm.number:
                share += sqrt(other.pulls / n) if other.pulls < n else 1.0
        x = clock.horizon / (n * share) + e
        return arm.mean + sqrt(2.0 * self.variance * log(x * sqrt(log(x))) / n)
