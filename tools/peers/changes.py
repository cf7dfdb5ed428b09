"""Changes of other packages' classes that make them play as lowregret does: each names what differs."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
from players import IndexPolicy, klBern


def own_index(kind: Any) -> Any:
    """Use the index of the class, not that of the class it derives from."""

    class Changed(kind):
        computeAllIndex = IndexPolicy.computeAllIndex  # noqa: N815

    return Changed


def own_index_after_a_correction(kind: Any) -> Any:
    """Use the index of the class, where ``self.self`` stands for ``self``."""

    class Changed(kind):
        computeAllIndex = IndexPolicy.computeAllIndex  # noqa: N815
        self = property(lambda policy: policy)

    return Changed


def variance_at_most_a_quarter(kind: Any) -> Any:
    """Bound the estimate of the variance by 1/4."""

    class Changed(kind):
        computeAllIndex = IndexPolicy.computeAllIndex  # noqa: N815

        def computeIndex(self, arm: int) -> float:  # noqa: N802
            pulls, mean = self.pulls[arm], self.rewards[arm] / self.pulls[arm]
            variance = self.rewardsSquared[arm] / pulls - mean**2 + sqrt(2 * log(self.t) / pulls)
            return mean + sqrt(log(self.t) * min(0.25, variance) / pulls)

    return Changed


def divergence_of_means(kind: Any) -> Any:
    """Use the least divergence, not the mean at which it is attained."""

    class Changed(kind):
        def one_Dinf(self, x: float, mu: float) -> float:  # noqa: N802
            return klBern(x, mu)

    return Changed


def arms_enter_after_every_pull(kind: Any) -> Any:
    """Look for arms of the next list after every pull, not only when the list is empty."""

    class Changed(kind):
        def startGame(self) -> None:  # noqa: N802
            super().startGame()
            self.entered: set[int] = set()

        def getReward(self, arm: int, reward: float) -> None:  # noqa: N802
            super().getReward(arm, reward)
            means = self.rewards / np.maximum(self.pulls, 1)
            level = np.log(self.t / np.maximum(self.pulls, 1)) if self.genuine else np.log(self.t)
            found = np.nonzero(self.pulls * self.kl(means, means.max()) < level)[0]
            self.entered |= set(found.tolist()) - set(self.nextActions)
            if not self.nextActions:
                self.nextActions, self.entered = sorted(self.entered), set()

    return Changed


def probabilities_that_add_up_to_1(kind: Any) -> Any:
    """Use the learning rate of the step to come, and find the probabilities by bisection."""

    class Changed(kind):
        def getReward(self, arm: int, reward: float) -> None:  # noqa: N802
            self.t += 1
            self.cumulative_losses[arm] += (1.0 - reward) / self.weights[arm]
            rate = 1.0 / sqrt(self.t + 1)
            low, high = self.cumulative_losses.min() - sqrt(self.nbArms) / rate, self.cumulative_losses.min()
            for _ in range(200):
                x = (low + high) / 2
                total = ((rate * (self.cumulative_losses - x)) ** -2.0).sum()
                low, high = (low, x) if total > 1 else (x, high)
            weights = (rate * (self.cumulative_losses - low)) ** -2.0
            self.weights = weights / weights.sum()

    return Changed


def fewest_pulls_first(kind: Any) -> Any:
    """Pull the arms of a round in turn, not at random."""

    class Changed(kind):
        def choice(self, recursive: bool = False) -> int:
            np.random.choice = lambda among: min(among, key=lambda arm: (self.pulls[arm], arm))
            return int(super().choice(recursive))

    return Changed


def every_arm_discounted(kind: Any) -> Any:
    """Discount the pulls of every arm at every step, and do not round them to integers."""

    class Changed(kind):
        def startGame(self) -> None:  # noqa: N802
            super().startGame()
            self.discounted_pulls = np.zeros(self.nbArms)
            self.discounted_rewards = np.zeros(self.nbArms)

        def getReward(self, arm: int, reward: float) -> None:  # noqa: N802
            self.t += 1
            self.discounted_pulls *= self.gamma
            self.discounted_rewards *= self.gamma
            self.discounted_pulls[arm] += 1
            self.discounted_rewards[arm] += reward

        computeAllIndex = IndexPolicy.computeAllIndex  # noqa: N815

        def computeIndex(self, arm: int) -> float:  # noqa: N802
            pulls = self.discounted_pulls
            width = sqrt(self.alpha * log(pulls.sum()) / (2 * pulls[arm]))
            return self.discounted_rewards[arm] / pulls[arm] + width

    return Changed


def other_arms_discounted(kind: Any) -> Any:
    """Discount the arms that are not pulled, instead of the one that is."""

    class Changed(kind):
        def getReward(self, arm: int, reward: float) -> None:  # noqa: N802
            for number, posterior in enumerate(self.posterior):
                if number == arm:
                    posterior.update(reward)
                else:
                    posterior.discount()
            self.t += 1

    return Changed


def one_step_later(kind: Any) -> Any:
    """Count the step about to be made."""

    class Changed(kind):
        @property
        def step(self) -> int:
            return super().step + 1

    return Changed


def plays_so_far(policy: Any) -> int:
    """Choose by pymab's index of UCB1 with the logarithm of the plays so far."""
    width = np.sqrt(policy.c * np.log(policy.step) / policy.counts)
    return int(np.argmax(policy.estimates + width))


def first_of_least_pulled(policy: Any) -> int:
    """Choose the first of the active arms with the fewest pulls in the phase."""
    return int(min(np.flatnonzero(policy.active), key=lambda arm: policy.phase_counts[arm]))


def first_largest_index(policy: Any) -> int:
    """Choose the first arm of the largest index."""
    return int(np.argmax(policy.indices()))


def first_largest_to_12_digits(policy: Any) -> int:
    """Choose the same with indices that differ by rounding alone counted as equal."""
    return int(np.argmax(policy.indices().round(12)))
