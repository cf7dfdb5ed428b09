"""Thompson sampling: pull the arm whose sampled mean is largest."""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar

from lowregret.policies.annotations import Positive, Probability
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, Random


def success_or_failure(self: Policy, reward: float, rng: Random) -> float:
    """Turn a reward between 0 and 1 into a success or a failure."""
    if 0.0 < reward < 1.0:
        return 1.0 if rng.uniform() < reward else 0.0
    return reward


class ThompsonBeta(Policy):
    r"""Choose each arm as often as it is likely to be the best; our default for rewards 0 and 1 live.

    A sample of $\mathrm{Beta}(1 + S, 1 + F)$, for $S$ successes and $F$ failures.

    Agrawal and Goyal, "Analysis of Thompson sampling for the multi-armed bandit problem", COLT 2012,
    Algorithm 1, and Algorithm 2 for rewards between 0 and 1: such a reward counts as a success with that
    probability. Assumes rewards in [0, 1]; needs no horizon.

    See Also
    --------
    BayesUCBBeta : Optimism by a quantile of the posterior.
    KLMS : Choose at random with known probabilities.

    Examples
    --------
    >>> import lowregret as lr
    >>> run = lr.trace(lr.ThompsonBeta(), "bernoulli:0.2,0.8", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    warmup = 0
    slow_propensities = True
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Agrawal, Goyal 2012, Algorithms 1 and 2"

    transform_reward = success_or_failure

    def beta_posterior(self, arm: Arm) -> tuple[float, float]:
        """Return the parameters of the beta distribution of what is sampled."""
        successes = arm.mean * arm.pulls
        return 1.0 + successes, 1.0 + (arm.pulls - successes)


class ThompsonGauss(Policy):
    r"""Thompson sampling for Gaussian rewards of known variance.

    A sample of $\mathcal{N}(S / (n + 1), \sigma^2 / (n + 1))$, where $S$ is the sum of the rewards and
    $\sigma^2$ is ``variance``.

    Agrawal and Goyal, "Further optimal regret bounds for Thompson sampling", AISTATS 2013, Algorithm 2,
    where the variance is 1. The second parameter of $\mathcal{N}$ is a variance: the standard deviation
    falls as $1/\sqrt{n + 1}$. Needs no horizon.

    Parameters
    ----------
    variance : float, default 1
        The variance of one reward under the model, positive.

    See Also
    --------
    ThompsonNormal : Thompson sampling for rewards of unknown scale, such as revenue.
    MOTS : Thompson sampling with samples cut at a bound.

    Examples
    --------
    >>> import lowregret as lr
    >>> run = lr.trace(lr.ThompsonGauss(), "bernoulli:0.2,0.8", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    variance: Positive = 1.0

    warmup = 0
    slow_propensities = True
    family = "Gaussian"
    source: ClassVar[str] = "Agrawal, Goyal 2013, Algorithm 2"

    def normal_posterior(self, arm: Arm) -> tuple[float, float]:
        """Return the mean and the standard deviation of what is sampled."""
        count = arm.pulls + 1.0
        return arm.mean * arm.pulls / count, sqrt(self.variance / count)


class ThompsonNormal(Policy):
    r"""Thompson sampling for rewards of unknown scale, such as revenue.

    $m + \sqrt{v / (n - 3)}$ times a sample of Student's distribution with $n - 3$ degrees of freedom,
    where $v$ is the variance of the rewards.

    Honda and Takemura, "Optimality of Thompson sampling for Gaussian bandits depends on priors", AISTATS
    2014: the posterior of a Gaussian mean when the variance is unknown too, under the prior uniform in
    both (their $\alpha = -1$, for which they prove optimality; it fails for the reference and Jeffreys
    priors). Every arm is pulled five times first, as many as that prior needs. Needs no horizon.

    See Also
    --------
    ThompsonGauss : Thompson sampling for Gaussian rewards of known variance.
    MOSSV : Optimism that uses variances and a known horizon.

    Examples
    --------
    >>> import lowregret as lr
    >>> bandit = lr.gaussian([0.2, 0.8], 0.01)
    >>> lr.trace(lr.ThompsonNormal(), bandit, horizon=300, seed=1, engine="reference").arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    warmup = 5
    slow_propensities = True
    family = "Gaussian"
    source: ClassVar[str] = "Honda, Takemura 2014"

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Sample the mean of an arm."""
        degrees = arm.pulls - 3.0
        return arm.mean + sqrt(arm.variance / degrees) * rng.student(degrees)

    def propensities(self, arms: Arm, clock: Clock) -> Any:
        """Return the probability of each arm to have the largest sample."""
        from lowregret.special.argmax_probabilities import student_argmax

        degrees: Any = arms.pulls - 3.0
        return student_argmax(arms.mean, (arms.variance / degrees) ** 0.5, degrees)  # type: ignore[arg-type]


class TopTwoThompson(ThompsonBeta):
    r"""Thompson sampling that also tests the runner-up; to find the best arm rather than to earn.

    With probability ``leader_share`` the arm of Thompson sampling, else the first other of new samples.

    Russo, "Simple Bayesian algorithms for best-arm identification", Operations Research 68, 2020, Section
    3.2, with the posteriors $\mathrm{Beta}(1 + S, 1 + F)$. Where samples must be drawn often until
    another arm comes first, it is drawn from its conditional distribution. A reward between 0 and 1
    counts as a success with that probability. Assumes rewards in [0, 1]; needs no horizon.

    Parameters
    ----------
    leader_share : float, default 0.5
        The probability of the arm with the largest sample, beta in the paper.

    See Also
    --------
    ThompsonBeta : Choose each arm as often as it is likely to be the best.
    TopTwoThompsonGauss : TopTwoThompson for Gaussian rewards of known variance.

    Examples
    --------
    >>> import lowregret as lr
    >>> run = lr.trace(lr.TopTwoThompson(), "bernoulli:0.5,0.6", horizon=300, seed=1, engine="reference")
    >>> bool(0.3 < run.arm.mean() < 0.9)
    True
    """

    leader_share: Probability = 0.5

    top_two = True
    source: ClassVar[str] = "Russo 2020, Section 3.2"


class TopTwoThompsonGauss(ThompsonGauss):
    r"""TopTwoThompson for Gaussian rewards of known variance.

    `TopTwoThompson` with the posteriors $\mathcal{N}(S / (n + 1), \sigma^2 / (n + 1))$ of
    `ThompsonGauss`.

    Russo, "Simple Bayesian algorithms for best-arm identification", Operations Research 68, 2020, Section
    3.2. Needs no horizon.

    Parameters
    ----------
    variance : float, default 1
        The variance of one reward under the model, positive.
    leader_share : float, default 0.5
        The probability of the arm with the largest sample, beta in the paper.

    See Also
    --------
    TopTwoThompson : Thompson sampling that also tests the runner-up.
    ThompsonGauss : Thompson sampling for Gaussian rewards of known variance.

    Examples
    --------
    >>> import lowregret as lr
    >>> run = lr.trace(lr.TopTwoThompsonGauss(0.25), "bernoulli:0.5,0.6", horizon=300, engine="reference")
    >>> bool(0.3 < run.arm.mean() < 0.9)
    True
    """

    leader_share: Probability = 0.5

    top_two = True
    source: ClassVar[str] = "Russo 2020, Section 3.2"
