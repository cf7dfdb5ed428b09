"""MOTS: Thompson sampling with samples that are clipped at MOSS's index."""

from __future__ import annotations

from math import log, sqrt
from typing import Annotated, ClassVar

from lowregret.policies.annotations import Positive, Rule
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, Random


class MOTS(Policy):
    r"""Thompson sampling with samples cut at a bound; for Gaussian rewards where the worst case matters.

    The smaller of a sample of $\mathcal{N}(m, \sigma^2 / (\rho n))$ and
    $m + \sqrt{\alpha \sigma^2 \log^+(T / (K n)) / n}$, where $\sigma^2$ is ``variance``.

    Jin, Xu, Shi, Xiao and Gu, "MOTS: minimax optimal Thompson sampling", ICML 2021, Algorithm 1, where
    the noise is subgaussian with variance factor 1. Needs the horizon $T$. Constants not verified: $\rho$
    and $\alpha$, for which the paper's bounds need certain values; a public program of unknown author has
    $\rho = 0.9$.

    Parameters
    ----------
    rho : float, default 0.9999
        By how much the samples are less spread than the posterior, in (0, 1].
    alpha : float, default 2
        How far from the mean samples are clipped, positive.
    variance : float, default 0.25
        The variance of the rewards, positive; 1/4 is the largest for rewards in [0, 1].

    See Also
    --------
    ThompsonGauss : Thompson sampling for Gaussian rewards of known variance.
    ExpTSPlus : Thompson sampling that samples a share of the arms alone.

    Examples
    --------
    >>> run = lr.trace(lr.MOTS(), "bernoulli:0.2,0.8", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    rho: Annotated[float, Rule("above 0 and at most 1", lambda value: 0 < value <= 1)] = 0.9999
    alpha: Positive = 2.0
    variance: Positive = 0.25

    family = "Gaussian"
    needs = ("horizon", "known variance")
    source: ClassVar[str] = "Jin et al. 2021, Algorithm 1"

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Sample the mean of an arm, and clip it."""
        share = clock.horizon / (clock.arms * arm.pulls)
        unit = self.variance / arm.pulls
        drawn = sqrt(unit / self.rho) * rng.normal()
        return arm.mean + min(drawn, sqrt(self.alpha * unit * max(log(share), 0.0)))
