"""Upper confidence bounds of Auer, Cesa-Bianchi and Fischer."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import ClassVar

from lowregret.policies.annotations import NonNegative, Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock


class UCB1(Policy):
    r"""Optimism: the mean and a bonus that shrinks with pulls; a safe default, and slower than MOSS.

    $m + \sqrt{\alpha \log(t - 1) / n}$.

    Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine
    Learning 47, 2002, Figure 1, where $\alpha$ is 2. The logarithm is of the pulls so far, $t - 1$.
    Assumes rewards in [0, 1]; needs no horizon.

    Parameters
    ----------
    alpha : float, default 2
        How much the policy explores, positive.

    See Also
    --------
    MOSS : Optimism for a known horizon that explores less than UCB1.
    KLUCB : Optimism by the tightest bound for rewards 0 and 1.
    UCBTuned : UCB1 with a bonus that uses the variance.

    Examples
    --------
    >>> lr.trace(lr.UCB1(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 1, 0, 0]
    """

    alpha: Positive = 2.0

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    separable_width = True
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Auer, Cesa-Bianchi, Fischer 2002, Figure 1"

    def score(self, arm: Arm, clock: Clock) -> float:
        return arm.mean + sqrt(self.alpha * log(clock.t - 1) / arm.pulls)


class UCBTuned(Policy):
    r"""UCB1 with a bonus that uses the variance; better than UCB1 in practice, without a proof.

    $m + \sqrt{\frac{\log(t - 1)}{n} \min(\frac{1}{4}, v + \sqrt{2 \log(t - 1) / n})}$.

    Auer, Cesa-Bianchi and Fischer 2002, section 4, where it is proposed for experiments, without a proof.
    $v$ is the empirical variance; the logarithm is of the pulls so far, $t - 1$. Assumes rewards in
    [0, 1]; needs no horizon.

    See Also
    --------
    UCB1 : Optimism: the mean and a bonus that shrinks with pulls.
    UCBV : Optimism by variances, with a proof.
    MOSSV : Optimism that uses variances and a known horizon.

    Examples
    --------
    >>> lr.trace(lr.UCBTuned(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean", "variance")
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Auer, Cesa-Bianchi, Fischer 2002, section 4"

    def score(self, arm: Arm, clock: Clock) -> float:
        rate = log(clock.t - 1) / arm.pulls
        return arm.mean + sqrt(rate * min(0.25, arm.variance + sqrt(2.0 * rate)))


class UCBV(Policy):
    r"""Optimism by variances, with a proof; good where the best arms vary little.

    $m + \sqrt{2 v E / n} + 3 c b E / n$, with $E = \zeta \log t$.

    Audibert, Munos and Szepesvari, "Exploration-exploitation tradeoff using variance estimates in multi-
    armed bandits", Theoretical Computer Science 410, 2009, the UCB-V policy with exploration function
    $E$; the paper proves logarithmic regret for $\zeta > 1$ and $c = 1$. Assumes rewards in [0, b]; needs
    no horizon.

    Parameters
    ----------
    zeta : float, default 1.2
        Exploration rate, positive.
    c : float, default 1
        Weight of the last term, at least 0.
    b : float, default 1
        Length of the range of the rewards, positive.

    See Also
    --------
    UCBTuned : UCB1 with a bonus that uses the variance.
    MOSSV : Optimism that uses variances and a known horizon.

    Examples
    --------
    >>> lr.trace(lr.UCBV(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 1, 0, 1, 0, 0, 1]
    """

    zeta: Positive = 1.2
    c: NonNegative = 1.0
    b: Positive = 1.0

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean", "variance")
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Audibert, Munos, Szepesvari 2009, UCB-V"

    def score(self, arm: Arm, clock: Clock) -> float:
        rate = self.zeta * clock.log_t / arm.pulls
        return arm.mean + sqrt(2.0 * arm.variance * rate) + 3.0 * self.c * self.b * rate


class UCBNormal(Policy):
    r"""Optimism for Gaussian rewards of unknown variance; explores much, for comparisons.

    $m + \sqrt{16 s^2 \log(t - 1) / n}$, where $s^2$ is the unbiased variance; first any arm with
    $n < 8 \log t$.

    Auer, Cesa-Bianchi and Fischer 2002, the policy UCB1-NORMAL, for Gaussian rewards of unknown mean and
    variance. Every arm is pulled twice first. Needs no horizon.

    See Also
    --------
    ThompsonNormal : Thompson sampling for rewards of unknown scale, such as revenue.
    BayesUCBStudent : Optimism by a quantile of the posterior.

    Examples
    --------
    >>> rewards = [[1, 0.9] * 40, [0, 0.1] * 40]
    >>> lr.trace(lr.UCBNormal(), rewards, horizon=80, engine="reference").arm[-9:].tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 1]
    """

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean", "variance")
    warmup = 2
    family = "Gaussian"
    source: ClassVar[str] = "Auer, Cesa-Bianchi, Fischer 2002, UCB1-NORMAL"

    def score(self, arm: Arm, clock: Clock) -> float:
        """Return the upper confidence bound of an arm, infinite where it has too few pulls."""
        n = arm.pulls
        if n < 8.0 * clock.log_t:
            return inf
        return arm.mean + sqrt(16.0 * arm.variance / (n - 1.0) * log(clock.t - 1.0))
