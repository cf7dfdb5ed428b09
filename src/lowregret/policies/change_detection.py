"""KL-UCB that tests the rewards of an arm for a change, and forgets them after one."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import Annotated, ClassVar, NamedTuple

from lowregret.policies.annotations import InsideUnit, NonNegative, Probability, Rule
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Arms, Clock
from lowregret.special.divergences import bernoulli_kl, bernoulli_kl_upper


class RestartRound(NamedTuple):
    """How many restarts there were, when the round ends, and after which step the latest one was."""

    number: int
    until: int
    start: int


class Segment(NamedTuple):
    """The rewards of an arm since its restart: after which step that was, and how many were tested."""

    start: int = 0
    tested: int = 0
    place: int = 0


class GLRKLUCB(Policy):
    r"""KLUCB that starts again when a test finds a change; for means that change abruptly.

    The largest $q$ with $n\, \mathrm{kl}(m, q) \le \log t + c \log\log t$, where everything is counted
    since the latest restart.

    Besson, Kaufmann, Maillard and Seznec, "Efficient change-point detection for tackling
    piecewise-stationary bandits", JMLR 23, 2022, the policy GLR-klUCB. After each reward, the rewards of
    its arm are tested for a change: for any split into $s$ and $n - s$ of them with means $a$ and $b$,
    $s\, \mathrm{kl}(a, m) + (n - s)\, \mathrm{kl}(b, m)$ is compared with $\log(3 n^{3/2} / \delta)$. A
    change restarts all arms, or with ``local`` the arm. In a share $\alpha$ of the steps the arms are
    pulled in turn, so that changes of all arms are seen. kl is the Bernoulli divergence. $c = 3$ and the
    threshold come from the first author's thesis (Naereen/phd-thesis, chapter 6); the threshold of the
    proof is larger. For $T$ steps and $S$ changes his code has $\delta = 1/\sqrt{S T}$ and
    $\alpha = 0.1 \sqrt{S \log(T) / T}$; the defaults here are fixed numbers. The second author's code
    (EmilieKaufmann/PiecewiseStationaryBandits) has $c = 0$, $\log(n^{3/2} / \delta)$,
    $\delta = 1/\sqrt{T}$, and $\alpha = \sqrt{K k \log(T) / T}$ after $k - 1$ restarts. Assumes rewards
    in [0, 1]; needs no horizon. Looks at all rewards since the restart.

    Parameters
    ----------
    alpha : float, default 0.03
        The share of steps in which the arms are pulled in turn, in [0, 1].
    delta : float, default 0.01
        The probability of a false alarm that the test aims at, in (0, 1).
    local : bool, default False
        Whether a change restarts only the arm in which it was found.
    c : float, default 3
        Weight of $\log\log t$, at least 0.
    every : int, default 1
        At every how many rewards an arm is tested, and a split considered. The time of a step is divided by
        the square of it.

    See Also
    --------
    DiscountedThompson : Thompson sampling that forgets.
    SlidingWindowUCB : Optimism on the latest rewards alone.

    Examples
    --------
    >>> bandit = lr.piecewise_drift(lr.bernoulli([0.9, 0.1]), {201: [0.1, 0.9]})
    >>> run = lr.trace(lr.GLRKLUCB(), bandit, horizon=400, seed=1, engine="reference")
    >>> [run.arm[start : start + 20].mean().item() for start in (180, 380)]  # the share of arm 1
    [0.05, 1.0]
    """

    alpha: Probability = 0.03
    delta: InsideUnit = 0.01
    local: bool = False
    c: NonNegative = 3.0
    every: Annotated[int, Rule("at least 1", lambda value: value >= 1)] = 1

    Memory = Segment
    warmup = 0
    eliminates_permanently = False
    uses_rewards = True
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Besson et al. 2022, GLR-klUCB"

    def first_round(self, clock: Clock) -> RestartRound:
        return RestartRound(0, 0, 0)

    def score(self, arm: Arm, clock: Clock, round: RestartRound) -> float:
        """Return the upper confidence bound of an arm, infinite if it is its turn or has no rewards."""
        memory: Segment = arm.memory
        if arm.pulls == 0:
            return inf
        if self.alpha > 0.0 and memory.place > 0:
            period = int(min(clock.arms / self.alpha, 1e18))
            if (clock.t - round.start - memory.place) % period == 0:
                return inf
        level = log(max(clock.t - memory.start, 1))
        if self.c > 0.0 and level > 1.0:
            level += self.c * log(level)
        return bernoulli_kl_upper(arm.mean, level / arm.pulls)

    def next_round(self, arms: Arms, clock: Clock, round: RestartRound) -> RestartRound:
        """Test the arm that has a new reward, and restart after a change."""
        changed = False
        for i in range(clock.arms):
            arm = arms.at(i)
            n = len(arm.rewards)
            if n != arm.memory.tested and n % self.every == 0 and self.has_changed(arm):
                changed = True
                arms.reset(i)
                arms.set_memory(i, Segment(clock.t, 0, i + 1))
            else:
                arms.set_memory(i, Segment(arm.memory.start, n, i + 1))
        if not changed:
            return round
        if not self.local:
            for i in range(clock.arms):
                arms.reset(i)
                arms.set_memory(i, Segment(clock.t, 0, i + 1))
        return RestartRound(round.number + 1, 0, round.start if self.local else clock.t)

    def has_changed(self, arm: Arm) -> bool:
        """Return whether some split of the rewards of an arm differs too much."""
        rewards, n = arm.rewards, len(arm.rewards)
        total = 0.0
        for k in range(n):
            total += rewards[k]
        threshold, before = log(3.0 * n * sqrt(n) / self.delta), 0.0
        for k in range(n - 1):
            before += rewards[k]
            s = k + 1
            if s % self.every == 0 and split_divergence(before, s, total - before, n - s) >= threshold:
                return True
        return False


def split_divergence(first: float, s: int, second: float, r: int) -> float:
    """Return s kl(a, m) + r kl(b, m), a, b and m the means of two parts and of both, from their sums."""
    mean = (first + second) / (s + r)
    if mean <= 0.0 or mean >= 1.0:
        return 0.0
    one, other = min(max(first / s, 0.0), 1.0), min(max(second / r, 0.0), 1.0)
    return s * bernoulli_kl(one, mean) + r * bernoulli_kl(other, mean)
