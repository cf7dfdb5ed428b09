"""Tsallis-INF: follow the regularized leader, for stochastic and for adversarial rewards."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import Any, ClassVar, NamedTuple

from lowregret.policies.base import NoRound, Policy
from lowregret.policies.views import Arm, Arms, Clock, Random


class LossEstimate(NamedTuple):
    """The sum of an arm's estimated losses, and the probability of its next pull; 0 stands for 1 / K."""

    loss: float = 0.0
    probability: float = 0.0


class TsallisINF(Policy):
    r"""Random choices that hold against an adversary too; where rewards follow no distribution.

    An arm with probability $4 / (\eta (L - x))^2$, where $L$ is its estimated loss, and $x$ such that the
    probabilities add up to 1.

    Zimmert and Seldin, "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits", JMLR
    22, 2021, Algorithm 1 with $\alpha = 1/2$ and $\eta = 2/\sqrt{t}$. The loss of a pull is 1 - reward.
    An estimate is the loss divided by the probability of the pull, and 0 for the other arms. With delayed
    rewards, the probability is that at the time of the reward. Assumes rewards in [0, 1]; needs no
    horizon.

    Parameters
    ----------
    reduced_variance : bool, default False
        If True, eta = 4 / sqrt(t), and an arm with a probability of at least eta^2 has as estimate 1/2, plus
        (loss - 1/2) / probability if it is pulled.

    See Also
    --------
    UCB1 : Optimism: the mean and a bonus that shrinks with pulls.
    DiscountedUCB : Optimism that forgets.

    Examples
    --------
    >>> run = lr.trace(lr.TsallisINF(), "bernoulli:0.2,0.8", horizon=300, seed=1, engine="reference")
    >>> run.arm[-9:].tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    reduced_variance: bool = False

    Memory = LossEstimate
    warmup = 0
    takes_prior = False
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Zimmert, Seldin 2021, Algorithm 1"

    def first_round(self, clock: Clock) -> NoRound:
        return NoRound(0, 0)

    def learning_rate(self, t: int) -> float:
        return (4.0 if self.reduced_variance else 2.0) / sqrt(t)

    def baseline(self, probability: float, t: int) -> float:
        """Return the estimated loss of an arm before it is known which arm is pulled."""
        rate = self.learning_rate(t)
        return 0.5 if self.reduced_variance and probability >= rate * rate else 0.0

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Draw a number that is the largest with the arm's probability: minus an exponential variate."""
        return log(1.0 - rng.uniform()) / probability_of(arm, clock)

    def update_memory(self, arm: Arm, reward: float, clock: Clock) -> LossEstimate:
        """Add what the pulled arm alone has in its estimate."""
        probability = probability_of(arm, clock)
        loss = (1.0 - reward - self.baseline(probability, clock.t)) / probability
        return LossEstimate(arm.memory.loss + loss, probability)

    def next_round(self, arms: Arms, clock: Clock, round: NoRound) -> NoRound:
        """Compute the probabilities of the next pull, by Newton's method for (sum of them)^(-1/2) = 1."""
        least = inf
        for i in range(clock.arms):
            memory: LossEstimate = arms.at(i).memory
            loss = memory.loss + self.baseline(probability_of(arms.at(i), clock), clock.t)
            arms.set_memory(i, LossEstimate(loss, memory.probability))
            least = min(least, loss)
        rate = self.learning_rate(clock.t + 1)
        x = least - 2.0 / rate  # at least the solution; the steps then decrease towards it
        for _ in range(100):
            total, slope = 0.0, 0.0
            for i in range(clock.arms):
                root = 2.0 / (rate * (arms.at(i).memory.loss - x))
                total += root * root
                slope += root * root * root
            step = 2.0 * total * (sqrt(total) - 1.0) / (rate * slope)
            x -= step
            if step <= 1e-12 * (least - x):
                break
        for i in range(clock.arms):
            loss = arms.at(i).memory.loss
            root = 2.0 / (rate * (loss - x))
            arms.set_memory(i, LossEstimate(loss, max(root * root, 1e-300)))  # 0 would stand for 1 / K
        return round

    def propensities(self, arms: Arm, clock: Clock) -> Any:
        shares = arms.memory.probability + (arms.memory.probability == 0.0) / clock.arms
        return shares / shares.sum()


def probability_of(arm: Arm, clock: Clock) -> float:
    """Return the probability of an arm's next pull."""
    probability: float = arm.memory.probability
    return probability if probability > 0.0 else 1.0 / clock.arms
