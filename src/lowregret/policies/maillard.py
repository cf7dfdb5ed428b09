"""Maillard sampling: an arm is drawn with a probability in closed form."""

from __future__ import annotations

from math import log
from typing import Any, ClassVar

from lowregret.policies.annotations import Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, Random
from lowregret.special.divergences import bernoulli_kl

LEAST_LOG_WEIGHT = -700.0
"""Below it a weight counts as this one, whose exponential is still positive."""


class MaillardSampling(Policy):
    r"""Choose at random with known probabilities; for rewards of known variance and logged propensities.

    An arm with a probability proportional to $\exp(-n d^2 / (2 \sigma^2))$, where $d$ is its distance to
    the best mean and $\sigma^2$ is ``variance``.

    Bian and Jun, "Maillard sampling: Boltzmann exploration done optimally", AISTATS 2022, after the thesis of
    Maillard (2013). The rewards are subgaussian with a known variance factor. Needs no horizon. An agent logs
    exact propensities.

    Parameters
    ----------
    variance : float, default 0.25
        The variance factor of the rewards, positive; 1/4 holds for all rewards in [0, 1].

    See Also
    --------
    KLMS : Choose at random with known probabilities.
    ThompsonGauss : Thompson sampling for Gaussian rewards of known variance.

    Examples
    --------
    >>> run = lr.trace(lr.MaillardSampling(), "bernoulli:0.2,0.8", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    variance: Positive = 0.25

    uses_best = True
    family = "Gaussian"
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Bian, Jun 2022, Maillard sampling"

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Draw a number that is the largest with the arm's probability."""
        gap = clock.best - arm.mean
        return perturbed(-arm.pulls * gap * gap / (2.0 * self.variance), rng)

    def propensities(self, arms: Arm, clock: Clock) -> Any:
        gaps = clock.best - arms.mean
        return shares(-arms.pulls * gaps * gaps / (2.0 * self.variance))


class KLMS(Policy):
    r"""Choose at random with known probabilities; where exact propensities have to be logged.

    An arm with a probability proportional to $\exp(-n\, \mathrm{kl}(m, m^*))$, where $m^*$ is the best
    mean.

    kl is the Bernoulli divergence. Qin, Jun and Zhang, "Kullback-Leibler Maillard sampling for multi-armed
    bandits with bounded rewards", NeurIPS 2023, the policy KL-MS. Assumes rewards in [0, 1]; rewards in
    between enter through their mean. Needs no horizon. An agent logs exact propensities.

    See Also
    --------
    MaillardSampling : Choose at random with known probabilities.
    ThompsonBeta : Choose each arm as often as it is likely to be the best.

    Examples
    --------
    >>> run = lr.trace(lr.KLMS(), "bernoulli:0.2,0.8", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    uses_best = True
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Qin, Jun, Zhang 2023, KL-MS"

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Draw a number that is the largest with the arm's probability."""
        return perturbed(-arm.pulls * bernoulli_kl(arm.mean, clock.best), rng)

    def propensities(self, arms: Arm, clock: Clock) -> Any:
        pairs: Any = zip(arms.pulls, arms.mean, strict=True)  # type: ignore[call-overload]
        return shares([-n * bernoulli_kl(mean, clock.best) for n, mean in pairs])


def perturbed(log_weight: float, rng: Random) -> float:
    """Add a Gumbel variate: the sum is the largest with a probability proportional to the weight."""
    return max(log_weight, LEAST_LOG_WEIGHT) - log(max(-log(1.0 - rng.uniform()), 1e-300))


def shares(log_weights: Any) -> Any:
    """Return the probabilities that are proportional to weights."""
    import numpy as np

    logs = np.maximum(log_weights, LEAST_LOG_WEIGHT)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()
