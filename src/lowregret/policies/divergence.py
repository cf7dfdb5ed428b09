"""Minimum empirical divergence: pull the arms that could still be best."""

from __future__ import annotations

from math import log
from typing import ClassVar, NamedTuple

from lowregret.policies.base import Arm, Arms, Clock, Policy
from lowregret.theory.divergences import bernoulli_kl


class Listing(NamedTuple):
    """The state of DMED's lists; ``turn`` looks at them after every step."""

    number: int
    until: int


class DMED(Policy):
    """Play a list of arms in turn; an arm enters the next if n kl(m, m*) < log(t / n), m* the best mean.

    Honda and Takemura, "An asymptotically optimal bandit algorithm for bounded support models", COLT
    2010, the policy DMED, with the Bernoulli divergence. The condition is looked at after every pull, for
    all arms that do not wait in the current list; the first list has all arms. Assumes rewards in [0, 1];
    needs no horizon.

    Parameters
    ----------
    genuine : bool, default True
        With False, log(t) in place of log(t / n): what Garivier and Cappe 2011 call DMED.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.DMED(), [[1] * 9, [0] * 9], horizon=9).arm.tolist()
    [0, 1, 0, 1, 0, 0, 0, 0, 0]
    """

    genuine: bool = True

    moves = "anyhow"  # the lists change at every step, so all arms are looked at anyhow
    final = False
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Honda, Takemura 2010, DMED"

    def check(self) -> None:
        """Refuse parameters outside their range."""
        self.require("genuine", "True or False", isinstance(self.genuine, bool))

    def begin(self, clock: Clock) -> Listing:
        """Begin with the list of all arms."""
        return Listing(0, 0)

    def score(self, arm: Arm, clock: Clock, round: Listing) -> float:
        """Treat all arms alike, so that the first in the list is next."""
        return 0.0

    def turn(self, arms: Arms, clock: Clock, round: Listing) -> Listing:
        """Take the arm just pulled off the list, and write the next list as far as it is known."""
        best, pulled, waiting = 0.0, -1, 0
        for i in range(clock.arms):
            best = max(best, arms.at(i).mean)
            if arms.active(i):
                if pulled < 0:
                    pulled = i
                else:
                    waiting += 1
        arms.drop(pulled)
        for i in range(clock.arms):
            if not arms.active(i):
                listed = clock.arms == 1 or arms.marked(i) or self.competes(arms.at(i), best, clock)
                arms.mark(i, listed and waiting > 0)
                if listed and waiting == 0:
                    arms.admit(i)
        return round

    def competes(self, arm: Arm, best: float, clock: Clock) -> bool:
        """Say whether an arm could still be the best."""
        level = log(clock.t / arm.pulls) if self.genuine else clock.log_t
        if 0.0 < best < 1.0:
            # The divergence is at least the first terms of its series in the gap, which are quicker.
            gap = best - arm.mean
            up, down = gap * (1.0 / best), gap * (1.0 / (1.0 - best))
            least = gap * up * (1.0 / 2.0 + up * (1.0 / 6.0 + up * (1.0 / 12.0 + up * (1.0 / 20.0))))
            least += gap * down * (1.0 / 2.0 - down * (1.0 / 6.0 - down * (1.0 / 12.0 - down * (1.0 / 20.0))))
            if arm.pulls * least * (1.0 - 1e-9) >= level:
                return False
        return arm.pulls * bernoulli_kl(arm.mean, best) < level


class IMED(Policy):
    """The arm of least n kl(m, m*) + log(n), m* the best mean.

    Honda and Takemura, "Non-asymptotic analysis of a new bandit algorithm for semi-bounded rewards",
    JMLR 16, 2015, the policy IMED, with the Bernoulli divergence. Assumes rewards in [0, 1]; needs no
    horizon.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.IMED(), [[1] * 9, [0] * 9], horizon=9).arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    moves = "still"
    uses_best = True
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Honda, Takemura 2015, IMED"

    def score(self, arm: Arm, clock: Clock) -> float:
        """Give the index with its sign turned, so that the least becomes the largest."""
        return -(arm.pulls * bernoulli_kl(arm.mean, clock.best) + log(arm.pulls))
