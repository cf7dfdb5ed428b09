"""MOSSV: MOSS with variance estimates, the successor of EUCBV."""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar

from lowregret.policies.annotations import NonNegative, Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock
from lowregret.special.divergences import bernoulli_kl, bernoulli_kl_upper

STRETCHED_FROM = 0.8
"""An index of rewards in [0, 1] above this number is stretched, which changes the order of no two of them."""


class MOSSV(Policy):
    """The smallest of Bernstein's, Hoeffding's and Chernoff's upper confidence bound, at the level of MOSS.

    With l = log+(T / (K' n)) and L = l (1 + caution (l / log(T / K'))^2) the index is the smallest of

    - m + sqrt(a v L / n) + c L / n, Bernstein's bound with the empirical variance v,
    - m + sqrt(l / n), Hoeffding's bound as in `MOSS`,
    - the largest q with n kl(m, q) <= L, Chernoff's bound, kl the Bernoulli divergence.

    K' is K where K^2 <= 4 T; with more arms it is K^3 / (4 T), but at most 2 K. An arm with v > m (1 - m)
    has rewards outside [0, 1], and Chernoff's bound does not count. For other arms an index q > 0.8 is
    replaced by 0.8 + 0.2 (q - 0.8) / (1 - q), which changes no choice if all rewards are in [0, 1];
    elsewhere no bound of 1 then excludes an arm whose first rewards are 0 and 1.

    For independent rewards in [0, 1], a > 1 and c > 7/6 the mean regret is at most of order sqrt(K T), with
    a smaller bound where variances are small. A policy of this package; docs/successor.md has the theorem and
    its proof. Needs the horizon T.

    Parameters
    ----------
    a : float, default 1.2
        Weight of the variance in Bernstein's bound, positive.
    c : float, default 1.4
        Weight of the range of the rewards in Bernstein's bound, positive.
    caution : float, default 0
        How much higher the level of the first pulls is, at least 0: L = (1 + caution) l for the first, and
        near l for the last. Runs that never find the best arm become rarer, and the mean regret larger.

    Examples
    --------
    >>> lr.trace(lr.MOSSV(), [[1, 1, 1, 1], [0, 0, 0, 0]], horizon=5).arm.tolist()
    [0, 1, 0, 0, 0]
    """

    a: Positive = 1.2
    c: Positive = 1.4
    caution: NonNegative = 0.0

    index_trend = "constant"
    family = "Bernoulli"
    needs = ("horizon", "bounded rewards")
    source: ClassVar[str] = "lowregret, docs/successor.md"

    def score(self, arm: Arm, clock: Clock) -> float:
        pulls = clock.horizon / clock.arms
        pulls /= min(max(clock.arms / (4.0 * pulls), 1.0), 2.0)
        return _upper_bound(arm, pulls, self.a, self.c, self.caution)


class MOSSVAnytime(Policy):
    """The index of MOSSV with 3/2 t in place of T, and K' = K.

    The bound on the order of the regret of `MOSSV` holds for it, too, with another constant. A policy of
    this package; docs/successor.md has the proof. Needs no horizon.

    Parameters
    ----------
    a, c, caution : float, default 1.2, 1.4, 0
        As for `MOSSV`.

    Examples
    --------
    >>> lr.trace(lr.MOSSVAnytime(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    a: Positive = 1.2
    c: Positive = 1.4
    caution: NonNegative = 0.0

    index_trend = "increasing"
    family = "Bernoulli"
    needs = ("bounded rewards",)
    source: ClassVar[str] = "lowregret, docs/successor.md"

    def score(self, arm: Arm, clock: Clock) -> float:
        return _upper_bound(arm, 1.5 * clock.t / clock.arms, self.a, self.c, self.caution)


def _upper_bound(arm: Arm, pulls: float, a: float, c: float, caution: float) -> float:
    """Return the index of an arm, where ``pulls`` is the horizon divided by K'."""
    n, m, v = arm.pulls, arm.mean, arm.variance
    unit = v <= m * (1.0 - m) + 1e-9
    upper = m
    if pulls > n:
        log_share = log(pulls / n)
        level = log_share / n
        upper += sqrt(level)
        if caution > 0.0:
            part = log_share / log(pulls)
            level *= 1.0 + caution * part * part
        upper = min(upper, m + sqrt(a * v * level) + c * level)
        if unit and (upper >= 1.0 or bernoulli_kl(m, upper) > level):
            upper = min(upper, bernoulli_kl_upper(m, level))
    if upper <= STRETCHED_FROM or not unit:
        return upper
    above = (upper - STRETCHED_FROM) * (1.0 - STRETCHED_FROM)
    return STRETCHED_FROM + above / max(1.0 - upper, 1e-17)
