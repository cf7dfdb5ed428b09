"""ExpTS+: Thompson sampling from a distribution that the divergence defines, mixed with greedy choices."""

from __future__ import annotations

from math import log
from typing import ClassVar

from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, Random
from lowregret.special.divergences import bernoulli_kl_upper


class ExpTSPlus(Policy):
    r"""Thompson sampling that samples a share of the arms alone; for rewards 0 and 1, when time counts.

    With probability $1/K$ a sample of the density
    $|\frac{d}{dx} \exp(-(n - 1)\, \mathrm{kl}(m, x))| / 2$, else the mean $m$.

    kl is the Bernoulli divergence. Jin, Xu, Xiao and Anandkumar, "Finite-time regret of Thompson sampling
    algorithms for exponential family multi-armed bandits", NeurIPS 2022, the policy ExpTS+ for Bernoulli
    rewards. The sample is above $m$ with probability 1/2, and each arm decides by itself whether it is
    sampled. After one pull the sample is 0 or 1. Constants not verified: $n - 1$ and $1/K$; a public
    program of unknown author that plays ExpTS+ beside MOTS has both (it computes $n - 0.99$ for $n - 1$).
    Assumes rewards in [0, 1]; rewards in between enter through their mean. Needs no horizon.

    See Also
    --------
    ThompsonBeta : Choose each arm as often as it is likely to be the best.
    MOTS : Thompson sampling with samples cut at a bound.

    Examples
    --------
    >>> run = lr.trace(lr.ExpTSPlus(), "bernoulli:0.2,0.8", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Jin et al. 2022, ExpTS+"

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Return the mean of an arm or a sample."""
        if rng.uniform() * clock.arms >= 1.0:
            return arm.mean
        u = rng.uniform()
        if arm.pulls == 1:
            return 1.0 if u >= 0.5 else 0.0
        tail = 2.0 * (1.0 - u) if u >= 0.5 else 2.0 * max(u, 1e-300)
        level = -log(tail) / (arm.pulls - 1.0)
        if u >= 0.5:
            return bernoulli_kl_upper(arm.mean, level)
        return 1.0 - bernoulli_kl_upper(1.0 - arm.mean, level)
