"""KL-UCB: confidence bounds from the Kullback-Leibler divergence, and their Gaussian form."""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar

from lowregret.policies.annotations import NonNegative, Positive, Probability
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock
from lowregret.special.divergences import bernoulli_kl_upper


class KLUCB(Policy):
    r"""Optimism by the tightest bound for rewards 0 and 1; for very long horizons.

    The largest $q$ with $n\, \mathrm{kl}(m, q) \le \log t + c \log\log t$, where kl is the Bernoulli
    divergence.

    Garivier and Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011,
    Algorithm 1. Assumes rewards in [0, 1]; rewards between 0 and 1 enter through their mean, for which
    the bound still holds. Needs no horizon. The analysis takes $c = 3$; the authors recommend $c = 0$ in
    practice.

    Parameters
    ----------
    c : float, default 0
        Weight of $\log\log t$, at least 0.

    See Also
    --------
    KLUCBPlus : KLUCB that explores less.
    IMED : Pull the arm with the least evidence against it.
    UCB1 : Optimism: the mean and a bonus that shrinks with pulls.

    Examples
    --------
    >>> lr.trace(lr.KLUCB(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    c: NonNegative = 0.0

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Garivier, Cappe 2011, Algorithm 1"

    def score(self, arm: Arm, clock: Clock) -> float:
        level = clock.log_t
        if self.c > 0.0 and level > 0.0:
            level += self.c * log(level)
        return bernoulli_kl_upper(arm.mean, level / arm.pulls)


class KLUCBPlus(Policy):
    r"""KLUCB that explores less; for rewards 0 and 1, often better than KLUCB in practice.

    The largest $q$ with $n\, \mathrm{kl}(m, q) \le \log(t / n)$, where kl is the Bernoulli divergence.

    Garivier and Cappe 2011, the variant KL-UCB+. Assumes rewards in
    [0, 1], as ``KLUCB``; needs no horizon.

    See Also
    --------
    KLUCB : Optimism by the tightest bound for rewards 0 and 1.
    KLUCBPlusPlus : KLUCB for a known horizon, optimal in the long run and in the worst case.

    Examples
    --------
    >>> lr.trace(lr.KLUCBPlus(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Garivier, Cappe 2011, KL-UCB+"

    def score(self, arm: Arm, clock: Clock) -> float:
        return bernoulli_kl_upper(arm.mean, log(clock.t / arm.pulls) / arm.pulls)


class KLUCBPlusPlus(Policy):
    r"""KLUCB for a known horizon, optimal in the long run and in the worst case; for rewards 0 and 1.

    The largest $q$ with $n\, \mathrm{kl}(m, q) \le \log^+(y (1 + \log^+(y)^2))$, where $y = T / (K n)$
    and kl is the Bernoulli divergence.

    Menard and Garivier, "A minimax and asymptotically optimal algorithm for stochastic bandits", ALT
    2017, Algorithm 1. Assumes rewards in [0, 1], as ``KLUCB``; needs the horizon $T$.

    See Also
    --------
    KLUCBSwitch : KLUCB for arms with few pulls and MOSS for the others.
    KLMOSS : KLUCB for a known horizon.

    Examples
    --------
    >>> lr.trace(lr.KLUCBPlusPlus(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    index_trend = "constant"
    family = "Bernoulli"
    needs = ("horizon", "rewards in [0, 1]")
    source: ClassVar[str] = "Menard, Garivier 2017, Algorithm 1"

    def score(self, arm: Arm, clock: Clock) -> float:
        share = clock.horizon / (clock.arms * arm.pulls)
        positive = max(log(share), 0.0)
        level = max(log(share * (1.0 + positive * positive)), 0.0)
        return bernoulli_kl_upper(arm.mean, level / arm.pulls)


class KLUCBSwitch(Policy):
    r"""KLUCB for arms with few pulls and MOSS for the others; for bounded rewards and a known horizon.

    The largest $q$ with $n\, \mathrm{kl}(m, q) \le L$ while $n \le (T / K)^{\mathrm{exponent}}$, then
    $m + \sqrt{L / (2 n)}$.

    $L = \log^+(T / (K n))$. Garivier, Hadiji, Menard and Stoltz, "KL-UCB-switch: optimal regret bounds
    for stochastic bandits from both a distribution-dependent and a distribution-free viewpoints", JMLR
    23, 2022, for a known horizon. kl is the Bernoulli divergence: for rewards between 0 and 1, which the
    paper compares by $K_{\inf}$ of all rewards, it gives a larger bound. Assumes rewards in [0, 1], as
    ``KLUCB``; needs the horizon $T$.

    Parameters
    ----------
    exponent : float, default 0.2
        When the index changes, in [0, 1]. The paper also has 8/9.

    See Also
    --------
    KLUCBPlusPlus : KLUCB for a known horizon, optimal in the long run and in the worst case.
    MOSS : Optimism for a known horizon that explores less than UCB1.

    Examples
    --------
    >>> lr.trace(lr.KLUCBSwitch(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    exponent: Probability = 0.2

    index_trend = "constant"
    family = "Bernoulli"
    needs = ("horizon", "rewards in [0, 1]")
    source: ClassVar[str] = "Garivier et al. 2022, KL-UCB-switch"

    def score(self, arm: Arm, clock: Clock) -> float:
        share = clock.horizon / clock.arms
        level = max(log(share / arm.pulls), 0.0) / arm.pulls
        if log(arm.pulls) > self.exponent * log(share) + 1e-12:  # not where rounding alone makes it larger
            return arm.mean + sqrt(0.5 * level)
        return bernoulli_kl_upper(arm.mean, level)


class KLMOSS(Policy):
    r"""KLUCB for a known horizon; for rewards 0 and 1 where the worst case matters too.

    The largest $q$ with $n\, \mathrm{kl}(m, q) \le \log^+(T / (K n))$, where kl is the Bernoulli
    divergence.

    The bound of Chernoff at the level of MOSS, known as KL-MOSS. It is the index of Garivier, Hadiji,
    Menard and Stoltz, JMLR 23, 2022, before its switch: ``KLUCBSwitch(exponent=1)``. Assumes rewards in
    [0, 1], as ``KLUCB``; needs the horizon $T$.

    See Also
    --------
    MOSSV : Optimism that uses variances and a known horizon.
    KLUCBPlusPlus : KLUCB for a known horizon, optimal in the long run and in the worst case.

    Examples
    --------
    >>> lr.trace(lr.KLMOSS(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    index_trend = "constant"
    family = "Bernoulli"
    needs = ("horizon", "rewards in [0, 1]")
    source: ClassVar[str] = "Garivier et al. 2022, without switch"

    def score(self, arm: Arm, clock: Clock) -> float:
        level = max(log(clock.horizon / (clock.arms * arm.pulls)), 0.0)
        return bernoulli_kl_upper(arm.mean, level / arm.pulls)


class KLUCBGauss(Policy):
    r"""Optimism for Gaussian rewards of known variance; UCB1 with the right constant.

    $m + \sqrt{2 \sigma^2 \log(t) / n}$; with ``plus``, $\log(t / n)$ instead of $\log t$. $\sigma^2$ is
    ``variance``.

    Cappe, Garivier, Maillard, Munos and Stoltz, "Kullback-Leibler upper confidence bounds for optimal
    sequential allocation", Annals of Statistics 41, 2013: kl-UCB for Gaussian rewards of known variance,
    where the divergence is $(m - q)^2 / (2 \sigma^2)$ and the bound has this closed form. Time counts as
    in Algorithm 1 of Garivier and Cappe 2011; the later paper has $t - 1$ instead of $t$. Needs no
    horizon.

    Parameters
    ----------
    variance : float, default 0.25
        The variance of the rewards, positive; 1/4 is the largest for rewards in [0, 1].
    plus : bool, default False
        Whether to use $\log(t / n)$.

    See Also
    --------
    KLUCB : Optimism by the tightest bound for rewards 0 and 1.
    MOSS : Optimism for a known horizon that explores less than UCB1.

    Examples
    --------
    >>> lr.trace(lr.KLUCBGauss(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    variance: Positive = 0.25
    plus: bool = False

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    family = "Gaussian"
    needs = ("known variance",)
    source: ClassVar[str] = "Cappe et al. 2013, Gaussian kl-UCB"

    def score(self, arm: Arm, clock: Clock) -> float:
        level = log(clock.t / arm.pulls) if self.plus else clock.log_t
        return arm.mean + sqrt(2.0 * self.variance * level / arm.pulls)
