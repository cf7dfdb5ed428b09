"""How many pulls any policy needs to find the best arm with a given confidence."""

from __future__ import annotations

from math import inf, log

from scipy.optimize import brentq

from lowregret.environments import Bandit, DriftingBandit, RandomBandit, environment
from lowregret.environments.families import Bernoulli, Gaussian
from lowregret.errors import InputError
from lowregret.special.divergences import bernoulli_kl
from lowregret.special.likelihood_ratios import optimal_ratio


def sample_complexity(bandit: Bandit | str, delta: float) -> float:
    """Return a lower bound on the mean number of pulls to find the best arm with probability 1 - delta.

    Garivier and Kaufmann, "Optimal best arm identification with fixed confidence", COLT 2016, Theorem 1: no
    policy that is right with this probability on every bandit of the family needs fewer than T* kl(delta, 1 -
    delta) pulls in the mean, where T* depends on the bandit alone. `TrackAndStop` needs no more as delta goes
    to 0.

    Parameters
    ----------
    bandit : Bandit or str
        Bernoulli arms, or Gaussian arms of one variance, with one best arm.
    delta : float
        The probability of a wrong recommendation, in (0, 1/2).

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> round(lr.sample_complexity("bernoulli:0.5,0.45,0.43,0.4", 0.1), 1)
    1739.8
    """
    arms = environment(bandit)
    if not 0.0 < delta < 0.5:
        raise InputError(f"sample_complexity: delta must lie between 0 and 0.5, got {delta!r}")
    kinds = {type(arm) for arm in arms.arms}
    gaussian = kinds == {Gaussian} and len(set(arms.variances.tolist())) == 1
    known = gaussian or (kinds == {Bernoulli} and arms.binary)
    single = arms.optimal.sum() == 1 and len(arms) > 1
    if not known or not single or isinstance(arms, DriftingBandit | RandomBandit):
        raise InputError(
            f"sample_complexity: {arms.name!r} must have Bernoulli arms, or Gaussian arms of one variance, "
            "and one best arm"
        )
    best, variance = float(arms.means.max()), float(arms.variances[0])
    others = [float(mean) for mean, optimal in zip(arms.means, arms.optimal, strict=True) if not optimal]

    def divergence(p: float, q: float) -> float:
        return (p - q) ** 2 / (2.0 * variance) if gaussian else bernoulli_kl(p, q)

    def ratio(mean: float, level: float) -> float:
        if gaussian:
            return level / (divergence(best, mean) - level)
        return optimal_ratio(best, mean, level)

    def excess(level: float) -> float:
        total = -1.0
        for mean in others:
            x = ratio(mean, level)
            middle = (best + x * mean) / (1.0 + x)
            total += divergence(best, middle) / divergence(mean, middle)
        return total

    top = min(divergence(best, mean) for mean in others)
    top = top if top < inf else 10.0
    level = brentq(excess, 1e-9 * top, (1.0 - 1e-9) * top, xtol=1e-15)
    pulls = (1.0 + sum(ratio(mean, level) for mean in others)) / level
    return float(pulls * (delta * log(delta / (1.0 - delta)) + (1.0 - delta) * log((1.0 - delta) / delta)))
