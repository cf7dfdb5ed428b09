"""Discounted UCB and Thompson sampling: for rewards whose distributions change with time."""

from __future__ import annotations

from math import log, sqrt
from typing import Any, ClassVar, NamedTuple

from lowregret.policies.annotations import InsideUnit, Positive
from lowregret.policies.base import Policy
from lowregret.policies.thompson import success_or_failure
from lowregret.policies.views import Arm, Clock, Random


class Discounted(NamedTuple):
    """The discounted number of pulls and sum of rewards of an arm, as of ``time``, its last pull."""

    pulls: float = 0.0
    total: float = 0.0
    time: int = 0


class DiscountedUCB(Policy):
    r"""Optimism that forgets; for means that change slowly.

    $s/c + 2 b \sqrt{\xi \log(n) / c}$, where $c$ and $s$ are the discounted pulls and rewards of the arm,
    and $n$ all pulls.

    Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011,
    the policy D-UCB. A pull and its reward count $\gamma^d$ after $d$ further steps, so
    $n = (1 - \gamma^{t - 1}) / (1 - \gamma)$ before step $t$. Assumes rewards in [0, b]; needs no
    horizon.

    Parameters
    ----------
    gamma : float, default 0.99
        The discount factor, in (0, 1). For a number of changes S in T steps, the paper proposes
        $1 - \sqrt{S / T} / (4 b)$.
    xi : float, default 0.6
        How much the policy explores; the paper's bound needs more than 1/2. Constant not verified; the code
        of Baudry, Russac and Cappe (2021) has 1/2.
    b : float, default 1
        The largest reward, positive.

    See Also
    --------
    SlidingWindowUCB : Optimism on the latest rewards alone.
    DiscountedThompson : Thompson sampling that forgets.

    Examples
    --------
    >>> lr.trace(lr.DiscountedUCB(gamma=0.9), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 1, 0, 0, 0]
    """

    gamma: InsideUnit = 0.99
    xi: Positive = 0.6
    b: Positive = 1.0

    Memory = Discounted
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Garivier, Moulines 2011, D-UCB"

    def score(self, arm: Arm, clock: Clock) -> float:
        memory: Discounted = arm.memory
        all_pulls = (1.0 - self.gamma ** (clock.t - 1)) / (1.0 - self.gamma)
        count = memory.pulls * self.gamma ** (clock.t - 1 - memory.time)
        width = sqrt(self.xi * log(max(all_pulls, 1.0)) / max(count, 1e-300))
        return memory.total / max(memory.pulls, 1e-300) + 2.0 * self.b * width

    def update_memory(self, arm: Arm, reward: float, clock: Clock) -> Discounted:
        memory: Discounted = arm.memory
        discount = self.gamma ** (clock.t - memory.time)
        return Discounted(memory.pulls * discount + 1.0, memory.total * discount + reward, clock.t)


class DiscountedThompson(Policy):
    r"""Thompson sampling that forgets; for rewards 0 and 1 whose means change slowly.

    A sample of $\mathrm{Beta}(1 + S, 1 + F)$, where $S$ and $F$ are the discounted successes and failures
    of the arm.

    Raj and Kalyani, "Taming non-stationary bandits: a Bayesian approach", arXiv 1707.09727, 2017, the
    policy dTS. A reward counts $\gamma^d$ after $d$ further steps. A reward between 0 and 1 counts as a
    success with that probability. Assumes rewards in [0, 1]; needs no horizon.

    Parameters
    ----------
    gamma : float, default 0.99
        The discount factor, in (0, 1).

    See Also
    --------
    DiscountedUCB : Optimism that forgets.
    GLRKLUCB : KLUCB that starts again when a test finds a change.

    Examples
    --------
    >>> bandit = lr.piecewise_drift(lr.bernoulli([0.9, 0.1]), {201: [0.1, 0.9]})
    >>> run = lr.trace(lr.DiscountedThompson(), bandit, horizon=400, seed=1, engine="reference")
    >>> [run.arm[start : start + 20].mean().item() for start in (180, 380)]  # the share of arm 1
    [0.0, 1.0]
    """

    gamma: InsideUnit = 0.99

    Memory = Discounted
    warmup = 0
    slow_propensities = True
    family = "Bernoulli"
    needs = ("rewards in [0, 1]",)
    source: ClassVar[str] = "Raj, Kalyani 2017, dTS"

    transform_reward = success_or_failure

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        memory: Discounted = arm.memory
        discount = self.gamma ** (clock.t - 1 - memory.time)
        successes = memory.total * discount
        failures = max(memory.pulls * discount - successes, 0.0)  # a GPU may round the products differently
        return rng.beta(1.0 + successes, 1.0 + failures)

    def update_memory(self, arm: Arm, reward: float, clock: Clock) -> Discounted:
        memory: Discounted = arm.memory
        discount = self.gamma ** (clock.t - memory.time)
        return Discounted(memory.pulls * discount + 1.0, memory.total * discount + reward, clock.t)

    def propensities(self, arms: Arm, clock: Clock) -> Any:
        from lowregret.special.argmax_probabilities import beta_argmax

        discount: Any = self.gamma ** (clock.t - 1.0 - arms.memory.time)
        successes = arms.memory.total * discount
        return beta_argmax(1.0 + successes, 1.0 + (arms.memory.pulls * discount - successes))
