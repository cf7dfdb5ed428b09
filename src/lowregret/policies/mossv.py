"""MOSSV: MOSS with variance estimates, the successor of EUCBV."""

from __future__ import annotations

from math import log, sqrt
from typing import Any, ClassVar, Self

from lowregret.policies.base import IndexTrend, Need, Policy
from lowregret.policies.views import Arm, Clock
from lowregret.special.divergences import bernoulli_kl, bernoulli_kl_upper

AHEAD = 1.5
"""The anytime form plays at time t as if the horizon were this multiple of t, and later more."""
LATER, MORE = 25.0, 20.0
"""After so many steps an arm the anytime form adds this multiple of sqrt(K t) - sqrt(25) K."""
MANY = 20.0
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

    A policy of this package, described in docs/successor.md. Assumes rewards in [0, 1].

    Parameters
    ----------
    anytime : bool, default False
        If True, the policy needs no horizon: 3/2 t + 20 K (sqrt(t / K) - 5)+ stands in place of T, and t in
        K'.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.MOSSV(), [[1, 1, 1, 1], [0, 0, 0, 0]], horizon=5).arm.tolist()
    [0, 1, 0, 0, 0]
    >>> print(lr.MOSSV(anytime=True))
    MOSSV(anytime=True)
    """

    anytime: bool = False

    index_trend: ClassVar[IndexTrend] = "constant"
    needs: ClassVar[tuple[Need, ...]] = ("horizon", "bounded rewards")
    source: ClassVar[str] = "lowregret, docs/successor.md"

    def __new__(cls, anytime: bool = False, *_: Any, **__: Any) -> Self:
        """Select the class, from which the engine reads how the index changes with time."""
        kinds: Any = MOSSV, _Anytime
        selected: type[Self] = kinds[anytime is True] if cls in kinds else cls
        return super().__new__(selected)

    def score(self, arm: Arm, clock: Clock) -> float:
        """Return the upper confidence bound of an arm."""
        return _upper_bound(arm, float(clock.horizon), float(clock.horizon), clock.arms)


class _Anytime(MOSSV):
    index_trend = "increasing"
    needs = ("bounded rewards",)

    def score(self, arm: Arm, clock: Clock) -> float:
        """Return the upper confidence bound of an arm."""
        t, arms = float(clock.t), clock.arms
        horizon = AHEAD * t
        if t > LATER * arms:
            horizon += MORE * (sqrt(arms * t) - sqrt(LATER) * arms)
        return _upper_bound(arm, horizon, t, arms)

    def __str__(self) -> str:
        return "MOSSV(anytime=True)"

    def __reduce__(self) -> Any:
        return MOSSV, (True,)


def _upper_bound(arm: Arm, horizon: float, least_horizon: float, arms: int) -> float:
    """Return the index of an arm; the number of arms counts more where the least horizon is short."""
    n, m, v = arm.pulls, arm.mean, arm.variance
    share = horizon / (arms * (1.0 + arms * arms / (MANY * least_horizon)) * n)
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
