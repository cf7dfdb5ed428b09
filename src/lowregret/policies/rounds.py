"""Policies that play rounds of fixed length and eliminate arms, or count them, between rounds."""

from __future__ import annotations

from math import ceil, e, floor, inf, log, log2, sqrt
from typing import ClassVar, Literal, NamedTuple

from lowregret.policies.annotations import InsideUnit, Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import NEVER, Arm, Arms, Clock


class Halving(NamedTuple):
    """A round that separates arms which differ by about ``gap``; the gap halves from round to round."""

    number: int
    until: int
    gap: float  # D
    pulls: int  # n_D
    width: float  # sqrt(log(T D^2) / (2 n_D))
    scale: float  # what CCB's exploration is multiplied by
    last: int


def halved(round: Halving, horizon: int) -> Halving:
    """Return the round of half the gap, with its end still open."""
    gap = round.gap / 2.0
    level = log(max(horizon * gap * gap, 1.0))
    pulls = max(ceil(2.0 * level / (gap * gap)), 1)
    width = sqrt(level / (2.0 * pulls))
    return Halving(round.number + 1, NEVER, gap, pulls, width, round.scale, round.last)


def ending(round: Halving, until: int) -> Halving:
    """Return the same round with its end, unless it is beyond the last that has one."""
    end = until if round.number <= round.last else NEVER
    return Halving(round.number, end, round.gap, round.pulls, round.width, round.scale, round.last)


class UCBImproved(Policy):
    r"""Drop arms round by round, with a known horizon; the ancestor of EUCBV, for comparisons.

    Rounds up to $\lceil 2 \log(T D^2) / D^2 \rceil$ pulls in all; arms leave by
    $m \pm \sqrt{\log(T D^2) / (2 n)}$.

    Auer and Ortner, "UCB revisited: improved regret bounds for the stochastic multi-armed bandit
    problem", Periodica Mathematica Hungarica 61, 2010, Figure 1. $D$ starts at 1 and halves after each of
    the rounds 0 to $\lfloor \log_2(T / e) / 2 \rfloor$; an arm is pulled until it has that many pulls in
    all. Within a round the arms take turns, so that a horizon inside it favours none, and arms left after
    the last round are pulled in turn until $T$; both are our choice where the paper is silent. Assumes
    rewards in [0, 1]; needs the horizon $T$.

    See Also
    --------
    EUCBV : Drop arms for good, round by round, by bounds that use variances.
    MedianElimination : Drop the worse half of the arms, phase by phase.

    Examples
    --------
    >>> trace = lr.trace(lr.UCBImproved(), [[1] * 90, [0] * 90], horizon=90, engine="reference")
    >>> trace.arm[:6].tolist(), trace.active[[16, 17, 18]].tolist()
    ([0, 1, 0, 1, 0, 1], [2, 1, 1])
    """

    round_robin = True
    needs = ("horizon", "bounded rewards")
    source: ClassVar[str] = "Auer, Ortner 2010, Figure 1"

    def first_round(self, clock: Clock) -> Halving:
        last = floor(log2(clock.horizon / e) / 2)
        first = halved(Halving(-1, 0, 2.0, 0, 0.0, 0.0, last), clock.horizon)
        return ending(first, clock.arms * first.pulls)

    def next_round(self, arms: Arms, clock: Clock, round: Halving) -> Halving:
        """Eliminate the arms whose upper end is below the best lower end, and halve D."""
        best = -inf
        for i in range(clock.arms):
            if arms.active(i):
                best = max(best, arms.at(i).mean - round.width)
        for i in range(clock.arms):
            if arms.active(i) and arms.at(i).mean + round.width < best:
                arms.eliminate(i)
        following = halved(round, clock.horizon)
        return ending(following, clock.t + arms.count_active() * max(following.pulls - round.pulls, 1))


class Phase(NamedTuple):
    """A phase of median elimination."""

    number: int
    until: int
    epsilon: float
    delta: float


class MedianElimination(Policy):
    r"""Drop the worse half of the arms, phase by phase; a method to find a good arm, not to earn.

    Phases of $(4 / e^2) \log(3 / d)$ pulls of every arm; then those below the median leave.

    Even-Dar, Mannor and Mansour, "Action elimination and stopping conditions for the multi-armed bandit
    and reinforcement learning problems", JMLR 7, 2006, Algorithm 4. $e$ and $d$ start at $\epsilon/4$ and
    $\delta/2$ and are multiplied by 3/4 and 1/2 from phase to phase. Each phase judges an arm by its
    rewards in that phase alone, and its arms take turns. Finds an arm within $\epsilon$ of the best with
    probability $1 - \delta$, and then stays with it. Assumes rewards in [0, 1]; needs no horizon.

    Parameters
    ----------
    epsilon : float, default 0.1
        How much worse than the best the chosen arm may be, positive.
    delta : float, default 0.1
        With which probability it may be worse than that, in (0, 1).

    See Also
    --------
    UCBImproved : Drop arms round by round, with a known horizon.

    Examples
    --------
    >>> result = lr.simulate(lr.MedianElimination(0.9, 0.9), lr.bernoulli([0.1, 0.9]), 1_000, runs=20, seed=1)
    >>> result["MedianElimination(epsilon=0.9, delta=0.9)"].pulls[:, 0].max().item()
    150
    """

    epsilon: Positive = 0.1
    delta: InsideUnit = 0.1

    round_robin = True
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Even-Dar, Mannor, Mansour 2006, Algorithm 4"

    def first_round(self, clock: Clock) -> Phase:
        return self.phase(0, self.epsilon / 4.0, self.delta / 2.0, 0, clock.arms)

    def next_round(self, arms: Arms, clock: Clock, round: Phase) -> Phase:
        """Eliminate the arms that at least half of the others beat, and reset the statistics."""
        half = (arms.count_active() + 1) // 2
        cutoff = inf
        for i in range(clock.arms):
            better = 0
            for j in range(clock.arms):
                if arms.active(j) and arms.at(j).mean > arms.at(i).mean:
                    better += 1
            if arms.active(i) and better < half:
                cutoff = min(cutoff, arms.at(i).mean)
        for i in range(clock.arms):
            if arms.active(i) and arms.at(i).mean < cutoff:
                arms.eliminate(i)
            arms.reset(i)
        active = arms.count_active()
        return self.phase(round.number + 1, round.epsilon * 0.75, round.delta / 2.0, clock.t, active)

    def phase(self, number: int, epsilon: float, delta: float, now: int, active: int) -> Phase:
        pulls = 4.0 / (epsilon * epsilon) * log(3.0 / delta)
        end = now + active * ceil(pulls) if pulls < 1e15 else NEVER
        return Phase(number, end, epsilon, delta)


class CCB(Policy):
    r"""Optimism that slows at deadlines; for comparisons with its paper, as UCB1 and MOSS are simpler.

    $m + \sqrt{r \log(T D^2) / (2 n_D)}$ with $r = \sqrt{T} / n$; $D$ halves at deadlines set by the
    candidate arms.

    Liu and Tsuruoka, "Modification of improved upper confidence bounds for regulating exploration in
    Monte-Carlo tree search", Theoretical Computer Science 644, 2016.
    $n_D = \lceil 2 \log(T D^2) / D^2 \rceil$; an arm is a candidate unless its upper end at width
    $\sqrt{\log(T D^2) / (2 n_D)}$ is below the best lower end; the next deadline is $n_D$ pulls for each
    candidate arm. No arm is eliminated. The text of the paper could not be read. The script CCB.py of the
    EUCBV authors has this index, and $D$ halves there as often as here, at most
    $\lfloor \log_2(T / e) / 2 \rfloor + 1$ times. Two things differ. There an arm that is no candidate
    after some pull stays out of the count, and the first deadline is $K$ pulls later; here the candidates
    are counted anew at each deadline. Assumes rewards in [0, 1]; needs the horizon $T$.

    Parameters
    ----------
    r : {"sqrt", "linear", "log"}, default "sqrt"
        The exploration $r$ of an arm: $\sqrt{T} / n$, $T / n$ or $\log(T) / n$.

    See Also
    --------
    UCBImproved : Drop arms round by round, with a known horizon.
    MOSS : Optimism for a known horizon that explores less than UCB1.

    Examples
    --------
    >>> lr.trace(lr.CCB(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    r: Literal["sqrt", "linear", "log"] = "sqrt"

    index_trend = "constant"
    eliminates_permanently = False
    needs = ("horizon", "bounded rewards")
    source: ClassVar[str] = "Liu, Tsuruoka 2016"

    def first_round(self, clock: Clock) -> Halving:
        scales = {"sqrt": sqrt(clock.horizon), "linear": float(clock.horizon), "log": log(clock.horizon)}
        last = floor(log2(clock.horizon / e) / 2)
        first = halved(Halving(-1, 0, 2.0, 0, 0.0, scales[self.r], last), clock.horizon)
        return ending(first, clock.arms * first.pulls)

    def score(self, arm: Arm, clock: Clock, round: Halving) -> float:
        return arm.mean + sqrt(round.scale / arm.pulls) * round.width

    def next_round(self, arms: Arms, clock: Clock, round: Halving) -> Halving:
        """Count the candidate arms, halve D and set the next deadline."""
        best = -inf
        for i in range(clock.arms):
            best = max(best, arms.at(i).mean - round.width)
        playing = 0
        for i in range(clock.arms):
            if arms.at(i).mean + round.width >= best:
                playing += 1
        following = halved(round, clock.horizon)
        return ending(following, clock.t + playing * following.pulls)
