"""Divergences of the distribution of all rewards of an arm, not of their mean alone."""

from __future__ import annotations

from math import log
from typing import ClassVar

from lowregret.policies.annotations import NonNegative
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock
from lowregret.special.empirical_divergences import empirical_kl_free, empirical_kl_upper


class EmpiricalKLUCB(Policy):
    r"""Optimism for any rewards in [0, 1], from all rewards seen; tight, and slow in long runs.

    The largest $q$ with $n\, K_{\inf}(q) \le \log t + c \log\log t$.

    $K_{\inf}(q)$ is the least divergence from the empirical distribution of the arm's rewards to a
    distribution on [0, 1] of mean $q$. Cappe, Garivier, Maillard, Munos and Stoltz, "Kullback-Leibler
    upper confidence bounds for optimal sequential allocation", Annals of Statistics 41, 2013, the
    empirical KL-UCB algorithm, with $c = 1$ in Theorem 2, by a restatement of it in Lean
    (CappeKLUCB.Empirical). The code of the first two authors, as SMPyBandits has it, has $\log t$ alone,
    which is the default. For rewards of 0 and 1 the policy is ``KLUCB``. Assumes rewards in [0, 1]; needs
    no horizon. Looks at all rewards at every step.

    Parameters
    ----------
    c : float, default 0
        Weight of $\log\log t$, at least 0.

    See Also
    --------
    KLUCB : Optimism by the tightest bound for rewards 0 and 1.
    EmpiricalIMED : Pull the arm with the least evidence against it.

    Examples
    --------
    >>> lr.trace(lr.EmpiricalKLUCB(), [[0.9] * 9, [0.1] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    c: NonNegative = 0.0

    index_trend = "increasing"
    uses_rewards = True
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Cappe et al. 2013, empirical KL-UCB"

    def score(self, arm: Arm, clock: Clock) -> float:
        level = clock.log_t
        if self.c > 0.0 and level > 0.0:
            level += self.c * log(level)
        return empirical_kl_upper(arm.rewards, arm.mean, level / arm.pulls)


class EmpiricalIMED(Policy):
    r"""Pull the arm with the least evidence against it; for rewards in [0, 1] that are not only 0 and 1.

    The arm of least $n\, K_{\inf}(m^*) + \log n$, where $m^*$ is the best mean.

    $K_{\inf}(q)$ is the least divergence from the empirical distribution of the arm's rewards to a
    distribution on [0, 1] of mean $q$. Honda and Takemura, "Non-asymptotic analysis of a new bandit
    algorithm for semi-bounded rewards", JMLR 16, 2015, the policy IMED. For rewards of 0 and 1 it is
    ``IMED``. Assumes rewards in [0, 1]; needs no horizon. Looks at all rewards at every step.

    See Also
    --------
    IMED : Pull the arm with the least evidence against it.
    EmpiricalKLUCB : Optimism for any rewards in [0, 1], from all rewards seen.

    Examples
    --------
    >>> lr.trace(lr.EmpiricalIMED(), [[0.9] * 9, [0.1] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    index_trend = "constant"
    uses_best = True
    uses_rewards = True
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Honda, Takemura 2015, IMED"

    def score(self, arm: Arm, clock: Clock) -> float:
        """Return the negated index, so that the least becomes the largest."""
        divergence = empirical_kl_free(arm.rewards, clock.best) if arm.mean < clock.best else 0.0
        return -(arm.pulls * divergence + log(arm.pulls))
