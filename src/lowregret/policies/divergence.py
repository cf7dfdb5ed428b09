"""Minimum empirical divergence: pull the arms that could still be best."""

from __future__ import annotations

from math import inf, log
from typing import ClassVar

from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock
from lowregret.special.divergences import bernoulli_kl


class DMED(Policy):
    r"""Play every arm that could still be the best in turn; for rewards 0 and 1, a cheap relative of KLUCB.

    Play a list of arms in turn; an arm enters the next one if $n\, \mathrm{kl}(m, m^*) < \log(t / n)$,
    where $m^*$ is the best mean.

    Honda and Takemura, "An asymptotically optimal bandit algorithm for bounded support models", COLT
    2010, the policy DMED, with the Bernoulli divergence. The condition is checked after every pull, for
    all arms that do not wait in the current list; the first list has all arms. Assumes rewards in [0, 1];
    needs no horizon.

    Parameters
    ----------
    genuine : bool, default True
        With False, $\log t$ instead of $\log(t / n)$: what Garivier and Cappe 2011 call DMED.

    See Also
    --------
    IMED : Pull the arm with the least evidence against it.
    KLUCB : Optimism by the tightest bound for rewards 0 and 1.

    Examples
    --------
    >>> lr.trace(lr.DMED(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 1, 0, 0, 0, 0, 0]
    """

    genuine: bool = True

    uses_best = True
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Honda, Takemura 2010, DMED"

    def list_index(self, arm: Arm, clock: Clock) -> float:
        """Return by how much an arm could still be the best."""
        level = log(clock.t / arm.pulls) if self.genuine else clock.log_t
        return level - arm.pulls * bernoulli_kl(arm.mean, clock.best)

    def list_index_slope(self, arm: Arm, clock: Clock) -> float:
        """Return n times the derivative of kl(m, q) at the best mean q; kl is above its tangent."""
        best = clock.best
        return arm.pulls * (best - arm.mean) / (best * (1.0 - best)) if 0.0 < best < 1.0 else inf


class IMED(Policy):
    r"""Pull the arm with the least evidence against it; for rewards 0 and 1, as good as KLUCB and quicker.

    The arm of least $n\, \mathrm{kl}(m, m^*) + \log n$, where $m^*$ is the best mean.

    Honda and Takemura, "Non-asymptotic analysis of a new bandit algorithm for semi-bounded rewards",
    JMLR 16, 2015, the policy IMED, with the Bernoulli divergence. Assumes rewards in [0, 1]; needs no
    horizon.

    See Also
    --------
    KLUCB : Optimism by the tightest bound for rewards 0 and 1.
    DMED : Play every arm that could still be the best in turn.

    Examples
    --------
    >>> lr.trace(lr.IMED(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    index_trend = "constant"
    index_depends_on = ("pulls", "mean")
    uses_best = True
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Honda, Takemura 2015, IMED"

    def score(self, arm: Arm, clock: Clock) -> float:
        """Return the negated index, so that the least becomes the largest."""
        return -(arm.pulls * bernoulli_kl(arm.mean, clock.best) + log(arm.pulls))
