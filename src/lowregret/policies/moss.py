"""MOSS: minimax optimal strategy in the stochastic case."""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar

from lowregret.policies.annotations import Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock


class MOSS(Policy):
    r"""Optimism for a known horizon that explores less than UCB1; a strong and simple default in [0, 1].

    $m + \sqrt{\log^+(T / (K n)) / n}$, with $\log^+ x = \max(\log x, 0)$.

    Audibert and Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009, the policy
    MOSS. Assumes rewards in [0, 1]; needs the horizon $T$.

    See Also
    --------
    MOSSV : Optimism that uses variances and a known horizon.
    MOSSAnytime : MOSS where no horizon is known.
    UCB1 : Optimism: the mean and a bonus that shrinks with pulls.

    Examples
    --------
    >>> trace = lr.trace(lr.MOSS(), [[1, 1, 1, 1], [0, 0, 0, 0]], horizon=5, engine="reference")
    >>> trace.arm.tolist()
    [0, 1, 0, 0, 0]
    """

    index_trend = "constant"
    needs = ("horizon", "bounded rewards")
    source: ClassVar[str] = "Audibert, Bubeck 2009, MOSS"

    def score(self, arm: Arm, clock: Clock) -> float:
        share = clock.horizon / (clock.arms * arm.pulls)
        return arm.mean + sqrt(max(log(share), 0.0) / arm.pulls)


class MOSSAnytime(Policy):
    r"""MOSS where no horizon is known.

    $m + \sqrt{\frac{1 + \alpha}{2} \log^+(t / (K n)) / n}$, with $\log^+ x = \max(\log x, 0)$.

    Degenne and Perchet, "Anytime optimal algorithms in stochastic multi-armed bandits", ICML 2016,
    MOSS-anytime. Assumes rewards in [0, 1]; needs no horizon.

    Parameters
    ----------
    alpha : float, default 1.35
        How much the policy explores, positive.

    See Also
    --------
    MOSS : Optimism for a known horizon that explores less than UCB1.
    MOSSVAnytime : MOSSV where no horizon is known.

    Examples
    --------
    >>> lr.trace(lr.MOSSAnytime(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 1, 0, 0, 0, 0]
    """

    alpha: Positive = 1.35

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Degenne, Perchet 2016, MOSS-anytime"

    def score(self, arm: Arm, clock: Clock) -> float:
        share = clock.t / (clock.arms * arm.pulls)
        return arm.mean + sqrt((1.0 + self.alpha) / 2.0 * max(log(share), 0.0) / arm.pulls)
