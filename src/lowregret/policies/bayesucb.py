"""Bayes-UCB: upper quantiles of the posterior of an arm's mean."""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar

from lowregret.policies.annotations import NonNegative, Positive
from lowregret.policies.base import Policy
from lowregret.policies.thompson import success_or_failure
from lowregret.policies.views import Arm, Clock
from lowregret.special.quantiles import beta_upper, normal_upper, student_upper


class BayesUCBBeta(Policy):
    r"""Optimism by a quantile of the posterior; for rewards 0 and 1 where choices need not be random.

    The quantile $1 - 1/t$ of $\mathrm{Beta}(1 + S, 1 + F)$, for $S$ successes and $F$ failures.

    Kaufmann, Cappe and Garivier, "On Bayesian upper confidence bounds for bandit problems", AISTATS 2012,
    Algorithm 1 with the uniform prior and $c = 0$, which the authors recommend in practice; there are no
    initial pulls. Assumes rewards in [0, 1]; a reward in between counts as a success with that
    probability. Needs no horizon.

    See Also
    --------
    ThompsonBeta : Choose each arm as often as it is likely to be the best.
    KLUCB : Optimism by the tightest bound for rewards 0 and 1.

    Examples
    --------
    >>> lr.trace(lr.BayesUCBBeta(), [[0] * 9, [1] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    warmup = 0
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Kaufmann, Cappe, Garivier 2012, Algorithm 1"

    transform_reward = success_or_failure

    def score(self, arm: Arm, clock: Clock) -> float:
        return _upper_quantile(arm, 1.0 / clock.t)


class BayesUCBBetaHorizon(Policy):
    r"""BayesUCBBeta with a cautious quantile for a known horizon; for comparisons with its paper.

    The quantile $1 - 1/(t \log(T)^c)$ of $\mathrm{Beta}(1 + S, 1 + F)$, for $S$ successes and $F$
    failures.

    As ``BayesUCBBeta``, with the factor $\log(T)^c$ of the analysis, which takes $c \ge 5$; $\log T$
    counts as at least 1. Needs the horizon $T$.

    Parameters
    ----------
    c : float, default 5
        Power of $\log T$, at least 0.

    See Also
    --------
    BayesUCBBeta : Optimism by a quantile of the posterior.

    Examples
    --------
    >>> lr.trace(lr.BayesUCBBetaHorizon(), [[0] * 9, [1] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    c: NonNegative = 5.0

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    warmup = 0
    family = "Bernoulli"
    needs = ("horizon", "rewards in [0, 1]")
    source: ClassVar[str] = "Kaufmann, Cappe, Garivier 2012, Algorithm 1"

    transform_reward = success_or_failure

    def score(self, arm: Arm, clock: Clock) -> float:
        return _upper_quantile(arm, 1.0 / clock.t / max(log(clock.horizon), 1.0) ** self.c)


def _upper_quantile(arm: Arm, tail: float) -> float:
    successes = arm.mean * arm.pulls
    return beta_upper(1.0 + successes, 1.0 + (arm.pulls - successes), tail)


class BayesUCBGauss(Policy):
    r"""Optimism by a quantile of the posterior; for Gaussian rewards of known variance.

    $m + \sqrt{\sigma^2 / n}\, \Phi^{-1}(1 - 1/t)$, where $\Phi$ is the standard normal distribution and
    $\sigma^2$ is ``variance``.

    Kaufmann, Cappe and Garivier 2012 with $c = 0$, for Gaussian rewards of known variance under the flat
    prior. Needs no horizon.

    Parameters
    ----------
    variance : float, default 0.25
        The variance of the rewards, positive.

    See Also
    --------
    BayesUCBStudent : Optimism by a quantile of the posterior.
    ThompsonGauss : Thompson sampling for Gaussian rewards of known variance.

    Examples
    --------
    >>> lr.trace(lr.BayesUCBGauss(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    variance: Positive = 0.25

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    separable_width = True
    family = "Gaussian"
    needs = ("known variance",)
    source: ClassVar[str] = "Kaufmann, Cappe, Garivier 2012, Gaussian case"

    def score(self, arm: Arm, clock: Clock) -> float:
        return arm.mean + sqrt(self.variance / arm.pulls) * normal_upper(1.0 / clock.t)


class BayesUCBStudent(Policy):
    r"""Optimism by a quantile of the posterior; for Gaussian rewards of unknown variance.

    $m + (s / \sqrt{n})\, q$, where $q$ is the quantile $1 - 1/t$ of Student's distribution with $n - 1$
    degrees of freedom.

    Kaufmann, Cappe and Garivier 2012 with $c = 0$, for Gaussian rewards of unknown mean and variance
    under the prior $1/\sigma^2$; $s^2$ is the unbiased variance. Every arm is pulled twice first. Needs
    no horizon.

    See Also
    --------
    ThompsonNormal : Thompson sampling for rewards of unknown scale, such as revenue.
    BayesUCBGauss : Optimism by a quantile of the posterior.

    Examples
    --------
    >>> rewards = [[1, 0.9] * 4, [0, 0.1] * 4]
    >>> lr.trace(lr.BayesUCBStudent(), rewards, horizon=8, engine="reference").arm.tolist()
    [0, 1, 0, 1, 0, 0, 0, 0]
    """

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean", "variance")
    warmup = 2
    family = "Gaussian"
    source: ClassVar[str] = "Kaufmann, Cappe, Garivier 2012, Gaussian case"

    def score(self, arm: Arm, clock: Clock) -> float:
        degrees = arm.pulls - 1.0
        return arm.mean + sqrt(arm.variance / degrees) * student_upper(degrees, 1.0 / clock.t)
