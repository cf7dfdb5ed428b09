"""Policies that stop once the best arm is known with a probability of at least 1 - delta."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import ClassVar, NamedTuple

from lowregret.policies.annotations import InsideUnit, NonNegative, Positive, Probability
from lowregret.policies.base import Policy
from lowregret.policies.thompson import TopTwoThompson, success_or_failure
from lowregret.policies.views import Arm, Arms, Clock, Random
from lowregret.special.divergences import bernoulli_kl, bernoulli_kl_upper
from lowregret.special.likelihood_ratios import (
    bernoulli_evidence,
    bernoulli_limit,
    gaussian_limit,
    gaussian_width,
    optimal_ratio,
)


def pulls_of(arms: Arms, i: int) -> int:
    """Return the pulls of an arm, with those whose reward is not known yet."""
    return arms.at(i).pulls + arms.pending(i)


def least_pulled(arms: Arms, clock: Clock) -> int:
    """Return the first place of an arm with the fewest pulls."""
    place = 0
    for i in range(1, clock.arms):
        if pulls_of(arms, i) < pulls_of(arms, place):
            place = i
    return place


def any_unknown(arms: Arms, clock: Clock) -> bool:
    """Return whether no reward of some arm is known."""
    fewest = arms.at(0).pulls
    for i in range(1, clock.arms):
        fewest = min(fewest, arms.at(i).pulls)
    return fewest == 0


def leader_of(arms: Arms, clock: Clock) -> int:
    """Return the first place of an arm with the largest mean."""
    best = 0
    for i in range(1, clock.arms):
        if arms.at(i).mean > arms.at(best).mean:
            best = i
    return best


def stop_on_evidence(self: TopTwoStopping | TrackAndStop, arms: Arms, clock: Clock) -> bool:
    """Return whether there is enough evidence that the leader is better than each other arm."""
    best, least = arms.at(leader_of(arms, clock)), inf
    for i in range(clock.arms):
        arm = arms.at(i)
        if arm.number != best.number:
            least = min(least, bernoulli_evidence(best.pulls, best.mean, arm.pulls, arm.mean))
    return least >= bernoulli_limit(clock.t, clock.arms, self.delta)


class Pair(NamedTuple):
    """The two arms that LUCB pulls next, by their places."""

    number: int
    until: int
    first: int
    second: int


class LUCB(Policy):
    r"""Pull the arm with the best mean and the rival with the highest upper limit, until they are apart.

    Kalyanakrishnan, Tewari, Auer and Stone, "PAC subset selection in stochastic multi-armed bandits",
    ICML 2012, LUCB1 for one arm: the limits are $m \pm \sqrt{\log(5 K t^4 / (4 \delta)) / (2 n)}$. It
    stops when the highest upper limit of the others exceeds the lower limit of the best by less than
    epsilon. The paper tests this once per round, after the pulls of both arms; here $t$ counts pulls, and it
    is tested after each. While several rewards are pending, the two arms take turns. Assumes rewards in
    [0, 1]; needs no horizon.

    Parameters
    ----------
    delta : float, default 0.05
        The probability of a wrong recommendation, in (0, 1).
    epsilon : float, default 0
        How much worse than the best a right recommendation may be, at least 0.

    Examples
    --------
    >>> bandit = lr.bernoulli([0.1, 0.2, 0.8])
    >>> result = lr.simulate(lr.LUCB(0.1), bandit, 10_000, 20, record_recommendations=True)
    >>> result.identification().select("error", "stopped").row(0)
    (0.0, 1.0)
    """

    delta: InsideUnit = 0.05
    epsilon: NonNegative = 0.0

    warmup = 0
    needs = ("bounded rewards",)
    identifies = True
    source: ClassVar[str] = "Kalyanakrishnan et al. 2012"

    def limits(self, arm: Arm, clock: Clock) -> tuple[float, float]:
        """Return a lower and an upper confidence limit of the mean of an arm."""
        width = sqrt(log(1.25 * clock.arms * float(clock.t) ** 4.0 / self.delta) / (2.0 * arm.pulls))
        return arm.mean - width, arm.mean + width

    def rival(self, arms: Arms, clock: Clock, best: int) -> int:
        """Return the place of the arm with the highest upper limit of the others."""
        rival, highest = -1, -inf
        for i in range(clock.arms):
            if i != best:
                upper = self.limits(arms.at(i), clock)[1]
                if upper > highest:
                    rival, highest = i, upper
        return rival

    def first_round(self, clock: Clock) -> Pair:
        return Pair(0, clock.arms, -1, -1)

    def next_round(self, arms: Arms, clock: Clock, round: Pair) -> Pair:
        """Select the arms of the next two pulls."""
        if any_unknown(arms, clock):
            return Pair(0, clock.t + 1, -1, -1)
        best = leader_of(arms, clock)
        return Pair(round.number + 1, clock.t + 2, best, self.rival(arms, clock, best))

    def choose(self, arms: Arms, clock: Clock, rng: Random, round: Pair) -> int:
        if round.number == 0 or max(round.first, round.second) >= clock.arms:  # an agent has retired an arm
            return least_pulled(arms, clock)
        # The two take turns for as long as the rewards of this round are pending.
        return round.first if (round.until - clock.t) % 2 == 1 else round.second

    def stop(self, arms: Arms, clock: Clock) -> bool:
        if any_unknown(arms, clock):
            return False
        best = leader_of(arms, clock)
        rival = self.rival(arms, clock, best)
        lower, upper = self.limits(arms.at(best), clock)[0], self.limits(arms.at(rival), clock)[1]
        return upper - lower < self.epsilon or upper < lower


class KLLUCB(LUCB):
    r"""`LUCB` with the limits of Chernoff: the means m' with n kl(m, m') at most x + log x.

    Kaufmann and Kalyanakrishnan, "Information complexity in bandit subset selection", COLT 2013, with $x =
    \log(405.5 K t^{1.1} / \delta)$. For $t^a$ their theorem needs a constant above $2 e + 1 + e / (a - 1) +
    (e + 1) / (a - 1)^2$, which is 405.45 at $a = 1.1$. Here $t$ counts pulls. Assumes rewards in [0, 1];
    needs no horizon.

    Parameters
    ----------
    delta : float, default 0.05
        The probability of a wrong recommendation, in (0, 1).
    epsilon : float, default 0
        How much worse than the best a right recommendation may be, at least 0.

    Examples
    --------
    >>> bandit = lr.bernoulli([0.1, 0.2, 0.8])
    >>> result = lr.simulate(lr.KLLUCB(), bandit, 10_000, 20, record_recommendations=True)
    >>> result.identification().select("error", "stopped").row(0)
    (0.0, 1.0)
    """

    family = "Bernoulli"
    source: ClassVar[str] = "Kaufmann, Kalyanakrishnan 2013"

    def limits(self, arm: Arm, clock: Clock) -> tuple[float, float]:
        x = log(405.5 * clock.arms * float(clock.t) ** 1.1 / self.delta)
        level = (x + log(x)) / arm.pulls
        mean = min(max(arm.mean, 0.0), 1.0)
        return 1.0 - bernoulli_kl_upper(1.0 - mean, level), bernoulli_kl_upper(mean, level)


class TopTwoStopping(TopTwoThompson):
    """`TopTwoThompson` that stops when the evidence for the best arm is at least log(2 t (K - 1) / delta).

    Russo, "Simple Bayesian algorithms for best-arm identification", Operations Research 68, 2020, with the
    stopping rule of Garivier and Kaufmann, "Optimal best arm identification with fixed confidence", COLT
    2016, Theorem 10. A reward between 0 and 1 counts as a success with that probability. Assumes rewards in
    [0, 1]; needs no horizon.

    Parameters
    ----------
    leader_share : float, default 0.5
        The probability of the arm with the largest sample, beta in the paper.
    delta : float, default 0.05
        The probability of a wrong recommendation, in (0, 1).

    Examples
    --------
    >>> bandit = lr.bernoulli([0.1, 0.2, 0.8])
    >>> result = lr.simulate(lr.TopTwoStopping(), bandit, 10_000, 20, record_recommendations=True)
    >>> result.identification().select("error", "stopped").row(0)
    (0.0, 1.0)
    """

    leader_share: Probability = 0.5
    delta: InsideUnit = 0.05

    identifies = True
    source: ClassVar[str] = "Russo 2020; Garivier, Kaufmann 2016"

    stop = stop_on_evidence


class Weight(NamedTuple):
    """How often an arm should be pulled, relative to the leader."""

    weight: float = 1.0


class TrackAndStop(Policy):
    r"""Pull arms in the proportions that would be best if the means so far were the true ones.

    Garivier and Kaufmann, "Optimal best arm identification with fixed confidence", COLT 2016, for
    Bernoulli rewards: D-tracking (an arm with fewer than $\sqrt{t} - K/2$ pulls comes first), and the
    stopping rule of Theorem 10: the evidence for the best arm is at least $\log(2 t (K - 1) / \delta)$.
    While several arms have the best mean, their proportions do not exist, and they are pulled in turn; other
    programs draw one at random. A reward between 0 and 1 counts as a success with that probability. Assumes
    rewards in [0, 1]; needs no horizon.

    Parameters
    ----------
    delta : float, default 0.05
        The probability of a wrong recommendation, in (0, 1).

    Examples
    --------
    >>> bandit = lr.bernoulli([0.1, 0.2, 0.8])
    >>> result = lr.simulate(lr.TrackAndStop(), bandit, 10_000, 20, record_recommendations=True)
    >>> result.identification().select("error", "stopped").row(0)
    (0.0, 1.0)
    """

    delta: InsideUnit = 0.05

    Memory = Weight
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    identifies = True
    source: ClassVar[str] = "Garivier, Kaufmann 2016"

    transform_reward = success_or_failure
    stop = stop_on_evidence

    def choose(self, arms: Arms, clock: Clock, rng: Random) -> int:
        best = leader_of(arms, clock)
        top, tied, least = arms.at(best), best, inf
        for i in range(clock.arms):
            arm = arms.at(i)
            if i != best:
                least = min(least, bernoulli_kl(top.mean, arm.mean))
            if arm.mean == top.mean and pulls_of(arms, i) < pulls_of(arms, tied):
                tied = i
        t, seldom = clock.t - 1, least_pulled(arms, clock)
        if pulls_of(arms, seldom) < sqrt(t) - clock.arms / 2.0:
            return seldom
        if least == 0.0:
            return tied
        total = self.set_weights(arms, clock, best, least)
        chosen, largest = 0, -inf
        for i in range(clock.arms):
            missing = t * arms.at(i).memory.weight / total - pulls_of(arms, i)
            if missing > largest:
                chosen, largest = i, missing
        return chosen

    def set_weights(self, arms: Arms, clock: Clock, best: int, least: float) -> float:
        """Compute the weights of all arms, and return their sum.

        The level at which all rivals are equally hard to exclude is found by bisection: at the optimum the
        ratios of the two divergences of each add up to 1 (Theorem 5).
        """
        top = arms.at(best).mean
        low, high = 0.0, min(least, 750.0)
        for i in range(clock.arms):
            arms.set_memory(i, Weight(0.0 if i != best else 1.0))
        for _ in range(30):
            level, excess = 0.5 * (low + high), -1.0
            for i in range(clock.arms):
                if i != best:
                    mean = arms.at(i).mean
                    x = optimal_ratio(top, mean, level)
                    middle = (top + x * mean) / (1.0 + x)
                    excess += bernoulli_kl(top, middle) / max(bernoulli_kl(mean, middle), 1e-300)
            if excess > 0.0:
                high = level
            else:
                low = level
        total = 1.0
        for i in range(clock.arms):
            if i != best:
                x = optimal_ratio(top, arms.at(i).mean, low)
                arms.set_memory(i, Weight(x))
                total += x
        return total


class EBTC(Policy):
    r"""With probability ``leader_share`` the arm with the best mean, else its closest rival.

    Jourdan, Degenne, Baudry, de Heide and Kaufmann, "Top two algorithms revisited", NeurIPS 2022, with
    the slack of Jourdan, Degenne and Kaufmann, "An epsilon-best-arm identification algorithm for
    fixed-confidence and beyond", NeurIPS 2023, who track the share of the leader instead of drawing it.
    The closest rival has the smallest $(m_1 - m + \mathrm{slack}) / \sqrt{\sigma^2 (1/n_1 + 1/n)}$, where
    $m_1$ and $n_1$ belong to the leader and $\sigma^2$ is ``variance``. It stops when the square of this
    with epsilon instead of the slack is, for every rival, at least twice the limit of Kaufmann and Koolen
    (JMLR 22, 2021). For normal rewards of a known variance; needs no horizon.

    Parameters
    ----------
    delta : float, default 0.05
        The probability of a wrong recommendation, in (0, 1).
    epsilon : float, default 0
        How much worse than the best a right recommendation may be, at least 0.
    slack : float, default 0.1
        What keeps close rivals from taking all pulls, at least 0.
    leader_share : float, default 0.5
        The probability of the arm with the best mean, beta in the papers.
    variance : float, default 1
        The variance of one reward, positive; 1/4 serves rewards in [0, 1].

    Examples
    --------
    >>> bandit = lr.gaussian([0.0, 0.5, 2.0], 1.0)
    >>> result = lr.simulate(lr.EBTC(), bandit, 10_000, 20, record_recommendations=True)
    >>> result.identification().select("error", "stopped").row(0)
    (0.0, 1.0)
    """

    delta: InsideUnit = 0.05
    epsilon: NonNegative = 0.0
    slack: NonNegative = 0.1
    leader_share: Probability = 0.5
    variance: Positive = 1.0

    family = "Gaussian"
    needs = ("known variance",)
    identifies = True
    source: ClassVar[str] = "Jourdan, Degenne, Kaufmann 2023"

    def rival(self, arms: Arms, clock: Clock, best: int, slack: float) -> tuple[int, float]:
        """Return the place of the closest rival, and its distance in standard deviations."""
        rival, least, top = best, inf, arms.at(best)
        for i in range(clock.arms):
            if i != best:
                arm = arms.at(i)
                width = gaussian_width(top.pulls, arm.pulls, self.variance)
                distance = (top.mean - arm.mean + slack) / width
                if distance < least:
                    rival, least = i, distance
        return rival, least

    def choose(self, arms: Arms, clock: Clock, rng: Random) -> int:
        if any_unknown(arms, clock):  # rewards are pending
            return least_pulled(arms, clock)
        best = leader_of(arms, clock)
        if rng.uniform() < self.leader_share:
            return best
        return self.rival(arms, clock, best, self.slack)[0]

    def stop(self, arms: Arms, clock: Clock) -> bool:
        least = self.rival(arms, clock, leader_of(arms, clock), self.epsilon)[1]
        evidence = least * least / 2.0
        if least <= 0.0 or evidence < log(max(clock.arms - 1, 1) / self.delta):
            return False  # quicker, since the limit is larger
        return evidence >= gaussian_limit(clock.t, clock.arms, self.delta)
