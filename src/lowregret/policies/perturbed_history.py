"""PHE: perturbed-history exploration."""

from __future__ import annotations

from math import ceil
from typing import ClassVar

from lowregret.policies.annotations import Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, Random


class PHE(Policy):
    r"""Explore by added fake rewards; simple to explain, and random without a posterior.

    $(S + U) / (n + k)$, where $S$ is the sum of the rewards and $U$ a binomial draw of
    $k = \lceil a n \rceil$ trials with $p = 1/2$.

    Kveton, Szepesvari, Ghavamzadeh and Boutilier, "Perturbed-history exploration in stochastic
    multi-armed bandits", IJCAI 2019, Algorithm 1: the mean of the $n$ rewards and of $k$ pseudo-rewards,
    which are 0 or 1 with equal probability. Constant not verified: $a$, which is 1.1 in the code of
    Baudry, Kaufmann and Maillard (2020), and exceeds 1 in the first version of the paper. Assumes rewards
    in [0, 1]; needs no horizon.

    Parameters
    ----------
    a : float, default 1.1
        The number of pseudo-rewards for each reward, positive.

    See Also
    --------
    ThompsonBeta : Choose each arm as often as it is likely to be the best.
    NPTS : Thompson sampling by random weights of the rewards seen.

    Examples
    --------
    >>> run = lr.trace(lr.PHE(), "bernoulli:0.2,0.8", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    a: Positive = 1.1

    needs = ("bounded rewards",)
    source: ClassVar[str] = "Kveton et al. 2019, PHE"

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Return the mean of an arm's perturbed history."""
        n = arm.pulls
        added = ceil(self.a * n * (1.0 - 1e-12))  # 1.1 * 10 is 11, however it is rounded
        return (arm.mean * n + rng.binomial(added, 0.5)) / (n + added)
