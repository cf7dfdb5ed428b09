"""MOSSV: MOSS with variance estimates, the successor of EUCBV."""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar

from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock
from lowregret.special.divergences import bernoulli_kl, bernoulli_kl_upper

HORIZON_FACTOR = 1.5
"""The anytime form plays at time t as if the horizon were this multiple of t, and later more."""
EXTRA_AFTER_PULLS, EXTRA_FACTOR = 25.0, 20.0
"""After so many pulls an arm the anytime form adds this multiple of sqrt(K t) - sqrt(25) K to its horizon."""
MANY_ARMS_FACTOR = 20.0
"""Where K^2 exceeds this multiple of the horizon, the number of arms counts more than double."""


class MOSSV(Policy):
    """MOSS with the smaller of Bernstein's and Chernoff's bound, with variance estimates.

    The index is min(B, C), with

    - l = log+(T / (K' n)), K' = K (1 + K^2 / (20 T)), and L = l + log(1 + l^2) / 4,
    - w = (n v + r^2) / (n + 2), r^2 = m^2 + (1 - m)^2: the mean squared distance from m of the rewards and of
      two more, one 0 and one 1,
    - B = m + min(sqrt(3 w L / (2 n)) + r L / (3 n), sqrt(l / n)): Bernstein's form, never wider than MOSS,
    - C the largest q with n kl(m, q) <= L, kl the Bernoulli divergence: smaller where means are near 0 or 1.

    An arm with v > m (1 - m) has rewards outside [0, 1], and its index is B.

    A policy of this package, described in docs/successor.md. Assumes rewards in [0, 1]; needs the horizon T.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.MOSSV(), [[1, 1, 1, 1], [0, 0, 0, 0]], horizon=5).arm.tolist()
    [0, 1, 0, 0, 0]
    """

    index_trend = "constant"
    family = "Bernoulli"
    needs = ("horizon", "bounded rewards")
    source: ClassVar[str] = "lowregret, docs/successor.md"

    def score(self, arm: Arm, clock: Clock) -> float:
        """Return the upper confidence bound of an arm."""
        return _upper_bound(arm, float(clock.horizon), float(clock.horizon), clock.arms)


class MOSSVAnytime(Policy):
    """The index of MOSSV with 3/2 t + 20 K (sqrt(t / K) - 5)+ in place of T, and t in K'.

    A policy of this package, described in docs/successor.md. Assumes rewards in [0, 1]; needs no horizon.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.MOSSVAnytime(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    index_trend = "increasing"
    family = "Bernoulli"
    needs = ("bounded rewards",)
    source: ClassVar[str] = "lowregret, docs/successor.md"

    def score(self, arm: Arm, clock: Clock) -> float:
        """Return the upper confidence bound of an arm."""
        t, arms = float(clock.t), clock.arms
        horizon = HORIZON_FACTOR * t
        if t > EXTRA_AFTER_PULLS * arms:
            horizon += EXTRA_FACTOR * (sqrt(arms * t) - sqrt(EXTRA_AFTER_PULLS) * arms)
        return _upper_bound(arm, horizon, t, arms)


def _upper_bound(arm: Arm, horizon: float, least_horizon: float, arms: int) -> float:
    """Return the index of an arm; the number of arms counts more where the least horizon is short."""
    n, m, v = arm.pulls, arm.mean, arm.variance
    share = horizon / (arms * (1.0 + arms * arms / (MANY_ARMS_FACTOR * least_horizon)) * n)
    if share <= 1.0:
        return m
    log_share = log(share)
    level = (log_share + 0.25 * log(1.0 + log_share * log_share)) / n
    r2 = m * m + (1.0 - m) * (1.0 - m)
    w = (n * v + r2) / (n + 2.0)
    bernstein = m + min(sqrt(1.5 * w * level) + sqrt(r2) * level / 3.0, sqrt(log_share / n))
    if v > m * (1.0 - m) + 1e-9:
        return bernstein
    if bernstein < 1.0 and bernoulli_kl(m, bernstein) <= level:
        return bernstein
    return min(bernstein, bernoulli_kl_upper(m, level))
