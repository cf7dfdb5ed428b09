"""MOSSV: MOSS with variance estimates, the successor of EUCBV."""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar, NamedTuple

from lowregret.policies.annotations import NonNegative, Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import NEVER, Arm, Arms, Clock
from lowregret.special.divergences import bernoulli_kl, bernoulli_kl_upper

STRETCHED_FROM = 0.8
"""An index of rewards in [0, 1] above this number is stretched, which changes the order of no two of them."""


class Round(NamedTuple):
    """A stretch of pulls during which the median counts as constant."""

    number: int
    until: int
    median: int  # the lower median of the pulls of all arms when the round began


class MOSSV(Policy):
    r"""Optimism that uses variances and a known horizon; our default for rewards in [0, 1].

    The smallest of Bernstein's, Hoeffding's and Chernoff's upper confidence bound, at the level of MOSS.

    Recommended for rewards in [0, 1] and a known horizon. With $\ell = \log^+(T / (K' n))$ and
    $L = \ell\, (1 + \mathrm{caution}\, (\ell / \log(T / K'))^2) + \mathrm{peers}\, \log^+(M / (2 n))$ the
    index is the smallest of

    - $m + \sqrt{a v L / n} + c L / n$, Bernstein's bound with the empirical variance $v$,
    - $m + \sqrt{\ell / n}$, Hoeffding's bound as in `MOSS`,
    - the largest $q$ with $n\, \mathrm{kl}(m, q) \le L$, Chernoff's bound, where kl is the Bernoulli
      divergence.

    $M$ is the lower median of the pulls of all arms, taken anew whenever the number of pulls has doubled.
    An arm with less than half the pulls of the median arm may have been given up after bad luck, so its
    level is higher. Of two arms neither says anything about the other, so there ``peers / 4`` is added to
    caution.

    $K'$ is $K$ where $K^2 \le 4 T$; with more arms it is $K^3 / (4 T)$, but at most $2 K$. An arm with
    $v > m (1 - m)$ has rewards outside [0, 1], and Chernoff's bound does not count. For other arms an
    index $q > 0.8$ is replaced by $0.8 + 0.2 (q - 0.8) / (1 - q)$, which changes no choice if all rewards
    are in [0, 1]; elsewhere no bound of 1 then excludes an arm whose first rewards are 0 and 1.

    For independent rewards in [0, 1], $a > 1$ and $c > 7/6$ the mean regret is at most of order
    $\sqrt{K T}$, with a smaller bound where variances are small. A policy of this package;
    docs/explanation/successor.md has the theorem and its proof. Needs the horizon $T$.

    Parameters
    ----------
    a : float, default 1.2
        Weight of the variance in Bernstein's bound, positive.
    c : float, default 1.4
        Weight of the range of the rewards in Bernstein's bound, positive.
    caution : float, default 0
        How much higher the level of the first pulls is, at least 0: L is (1 + caution) l for the first, and
        near l for the last. Runs that never find the best arm become rarer, and the mean regret larger.
    peers : float, default 2
        How much higher the level of an arm is that has far fewer pulls than the median arm, at least 0. Runs
        that never find the best arm become rarer, often ten times and more, at about the same mean regret. 0
        looks at the pulls of the arm alone.

    See Also
    --------
    MOSSVAnytime : MOSSV where no horizon is known.
    MOSS : Optimism for a known horizon that explores less than UCB1.
    EUCBV : Drop arms for good, round by round, by bounds that use variances.

    Examples
    --------
    >>> lr.trace(lr.MOSSV(), [[1, 1, 1, 1], [0, 0, 0, 0]], horizon=5).arm.tolist()
    [0, 1, 0, 0, 0]
    """

    a: Positive = 1.2
    c: Positive = 1.4
    caution: NonNegative = 0.0
    peers: NonNegative = 2.0

    index_trend = "constant"
    rounds_eliminate = False
    family = "Bernoulli"
    needs = ("horizon", "bounded rewards")
    source: ClassVar[str] = "lowregret, docs/explanation/successor.md"

    def first_round(self, clock: Clock) -> Round:
        return _first_round(self.peers, clock)

    def next_round(self, arms: Arms, clock: Clock, round: Round) -> Round:
        return _next_round(arms, clock, round)

    def score(self, arm: Arm, clock: Clock, round: Round) -> float:
        pulls = clock.horizon / clock.arms
        pulls /= min(max(clock.arms / (4.0 * pulls), 1.0), 2.0)
        caution = _caution(self.caution, self.peers, clock)
        return _upper_bound(arm, pulls, self.a, self.c, caution, self.peers, round.median)


class MOSSVAnytime(Policy):
    r"""MOSSV where no horizon is known.

    The index of MOSSV with $\frac{3}{2} t$ instead of $T$, and $K' = K$; needs no horizon.

    The bound on the order of the regret of `MOSSV` holds for it as well, with another constant. A policy of
    this package; docs/explanation/successor.md has the proof.

    Parameters
    ----------
    a, c, caution, peers : float, default 1.2, 1.4, 0, 2
        As for `MOSSV`.

    See Also
    --------
    MOSSV : Optimism that uses variances and a known horizon.
    MOSSAnytime : MOSS where no horizon is known.

    Examples
    --------
    >>> lr.trace(lr.MOSSVAnytime(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    a: Positive = 1.2
    c: Positive = 1.4
    caution: NonNegative = 0.0
    peers: NonNegative = 2.0

    index_trend = "increasing"
    rounds_eliminate = False
    family = "Bernoulli"
    needs = ("bounded rewards",)
    source: ClassVar[str] = "lowregret, docs/explanation/successor.md"

    def first_round(self, clock: Clock) -> Round:
        return _first_round(self.peers, clock)

    def next_round(self, arms: Arms, clock: Clock, round: Round) -> Round:
        return _next_round(arms, clock, round)

    def score(self, arm: Arm, clock: Clock, round: Round) -> float:
        caution = _caution(self.caution, self.peers, clock)
        pulls = 1.5 * clock.t / clock.arms
        return _upper_bound(arm, pulls, self.a, self.c, caution, self.peers, round.median)


def _first_round(peers: float, clock: Clock) -> Round:
    """Return a round without a median; it has no end where no median can change an index."""
    return Round(0, 2 * clock.arms if peers > 0.0 and clock.arms > 2 else NEVER, 0)


def _caution(caution: float, peers: float, clock: Clock) -> float:
    """Return the caution, which with two arms does what peers does with more."""
    return caution + peers / 2.0 if clock.arms == 2 else caution


def _next_round(arms: Arms, clock: Clock, round: Round) -> Round:
    """Take the median of the pulls anew, until there are twice as many pulls."""
    return Round(round.number + 1, 2 * clock.t, lower_median(arms, clock))


def lower_median(arms: Arms, clock: Clock) -> int:
    """Return the lower median of the pulls of all arms: the smallest that half of them do not exceed.

    What a prior is worth counts as pulls, here as in the index.
    """
    low, high = 0, 0
    for i in range(clock.arms):
        high = max(high, arms.at(i).pulls)
    while low < high:
        middle = (low + high) // 2
        count = 0
        for i in range(clock.arms):
            count += arms.at(i).pulls <= middle
        if 2 * count >= clock.arms:
            high = middle
        else:
            low = middle + 1
    return low


def _upper_bound(
    arm: Arm, pulls: float, a: float, c: float, caution: float, peers: float, median: int
) -> float:
    """Return the index of an arm, where ``pulls`` is the horizon divided by K'."""
    n, m, v = arm.pulls, arm.mean, arm.variance
    unit = v <= m * (1.0 - m) + 1e-9
    upper = m
    behind = median > 2 * n
    if pulls > n or behind:
        log_share = log(pulls / n) if pulls > n else 0.0
        level = log_share / n
        upper += sqrt(level)
        if caution > 0.0 and log_share > 0.0:
            part = log_share / log(pulls)
            level *= 1.0 + caution * part * part
        if behind:
            level += peers * log(median / (2.0 * n)) / n
        upper = min(upper, m + sqrt(a * v * level) + c * level)
        if unit and (upper >= 1.0 or bernoulli_kl(m, upper) > level):
            upper = min(upper, bernoulli_kl_upper(m, level))
    if upper <= STRETCHED_FROM or not unit:
        return upper
    above = (upper - STRETCHED_FROM) * (1.0 - STRETCHED_FROM)
    return STRETCHED_FROM + above / max(1.0 - upper, 1e-17)
