"""Randomised policies: how often each arm is chosen from one state, by lowregret and by another package."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass
from typing import Any

import changes
import numpy as np
import rewards
from mabwiser.mab import LearningPolicy
from players import Gauss, Make, of_mabwiser, of_pymab, of_river, of_smpybandits
from river import bandit as river
from river import proba
from scipy.stats import chi2_contingency

import lowregret as lr
from lowregret.engine.kernels.rng import policy_rng
from lowregret.engine.kernels.state import ArmTable, State, new_rewards, new_rows
from lowregret.engine.kernels.step import choose, update
from lowregret.engine.start import start
from lowregret.engine.status import PLAYING
from lowregret.policies.views import clock_at

PULLS = (10, 9, 8, 7, 6, 5, 4, 3)
"""How often each arm was pulled in the state that is compared."""

DRAWS = 20_000
"""How many choices are drawn from that state, on either side."""

LEVEL = 1e-4
"""Two frequencies differ if the chi-squared test of homogeneity has a smaller p-value."""

BETA = "Agrawal, Goyal 2012, Algorithm 1: Beta(1 + S, 1 + F)"
NORMAL = "Agrawal, Goyal 2013, Algorithm 2: variance 1 / (n + 1)"
PERTURBED = "Kveton et al. 2019, Algorithm 1: ceil(a n) pseudo-rewards"
SUBSAMPLED = "Baransi et al. 2014: random order, ties to fewer pulls"
TSALLIS = "Zimmert, Seldin 2021, Algorithm 1: eta = 2 / sqrt(t)"
GREEDY = "Sutton, Barto 2018, section 2.2: the best mean, else any arm"


class VarianceOfMean(Gauss):
    """SMPyBandits' normal posterior with the mean S / (n + 1) and the variance 1 / (n + 1)."""

    def update(self, obs: float) -> None:
        """Add an observation."""
        super().update(obs)
        count = self._nb_data + 1
        self.mu, self.sigma = self._sum_data / count, count**-0.5


def _explores_every_arm(kind: Any) -> Any:
    """Explore all arms, and exploit the best mean instead of the largest sum."""

    class Changed(kind):
        def choice(self) -> int:
            if np.random.random() < self.epsilon:
                return int(np.random.randint(self.nbArms))
            return int(np.argmax(self.rewards / self.pulls))

    return Changed


@dataclass(frozen=True)
class Draw:
    """One comparison; see ``cases.Case``."""

    policy: str
    peer: str
    make: Make
    source: str
    rewards: str
    follows: str = "both"
    why: str = ""
    changed: Make | None = None


def draws() -> list[Draw]:
    """Return all comparisons of randomised policies."""
    thompson, greedy = "ThompsonBeta", "EpsilonGreedy"
    sums = "explores all arms but the last, and exploits the largest sum of rewards"
    return [
        Draw("BESA", "SMPyBandits BESA", of_smpybandits("BESA", ties=False), SUBSAMPLED, "continuous"),
        Draw("BESA", "SMPyBandits BESA", of_smpybandits("BESA", ties=False), SUBSAMPLED, "binary"),
        Draw(
            "DiscountedThompson",
            "SMPyBandits DiscountedThompson",
            of_smpybandits("DiscountedThompson", gamma=0.99),
            "Raj, Kalyani 2017: every arm at every step",
            "binary",
            "lowregret",
            "discounts the pulled arm for each of the others, and not these",
            of_smpybandits("DiscountedThompson", change=changes.other_arms_discounted, gamma=0.99),
        ),
        Draw("PHE", "SMPyBandits PHE", of_smpybandits("PHE", perturbation_scale=1.1), PERTURBED, "binary"),
        Draw(
            "TsallisINF",
            "SMPyBandits TsallisInf",
            of_smpybandits("TsallisInf", ties=False),
            TSALLIS,
            "continuous",
            "lowregret",
            "t - 1 instead of t, and a minimizer that may stop elsewhere than at the solution",
            of_smpybandits("TsallisInf", ties=False, change=changes.probabilities_that_add_up_to_1),
        ),
        Draw(thompson, "SMPyBandits Thompson", of_smpybandits("Thompson"), BETA, "binary"),
        Draw(
            thompson,
            "MABWiser ThompsonSampling",
            of_mabwiser(LearningPolicy.ThompsonSampling()),
            BETA,
            "binary",
        ),
        Draw(
            thompson,
            "river ThompsonSampling",
            of_river(river.ThompsonSampling(proba.Beta(), seed=0)),
            BETA,
            "binary",
        ),
        Draw(
            thompson,
            "pymab BernoulliThompsonSamplingPolicy",
            of_pymab("BernoulliThompsonSamplingPolicy"),
            BETA,
            "binary",
        ),
        Draw(
            "ThompsonGauss",
            "pymab GaussianThompsonSamplingPolicy",
            of_pymab("GaussianThompsonSamplingPolicy"),
            NORMAL,
            "continuous",
        ),
        Draw(
            "ThompsonGauss",
            "SMPyBandits Thompson, Gauss",
            of_smpybandits("Thompson", posterior=Gauss),
            NORMAL,
            "continuous",
            "lowregret",
            "mean S / n, and standard deviation 1 / n instead of sqrt(1 / (n + 1))",
            of_smpybandits("Thompson", posterior=VarianceOfMean),
        ),
        Draw(
            greedy,
            "SMPyBandits EpsilonGreedy",
            of_smpybandits("EpsilonGreedy", epsilon=0.1),
            GREEDY,
            "continuous",
            "lowregret",
            sums,
            of_smpybandits("EpsilonGreedy", change=_explores_every_arm, epsilon=0.1),
        ),
        Draw(
            greedy,
            "MABWiser EpsilonGreedy",
            of_mabwiser(LearningPolicy.EpsilonGreedy(epsilon=0.1)),
            GREEDY,
            "continuous",
        ),
        Draw(
            greedy,
            "river EpsilonGreedy",
            of_river(river.EpsilonGreedy(epsilon=0.1, seed=0)),
            GREEDY,
            "continuous",
        ),
        Draw(
            greedy,
            "pymab EpsilonGreedyPolicy",
            of_pymab("EpsilonGreedyPolicy", epsilon=0.1),
            GREEDY,
            "continuous",
        ),
    ]


def of_lowregret(policy: lr.Policy, table: Any) -> Any:
    """Return how often lowregret chooses each arm."""
    arms, steps = len(table), sum(PULLS)
    rows, scores = new_rows(arms, policy), np.zeros(arms)
    table_of_arms, rng = ArmTable(rows, new_rewards(policy, arms, steps)), policy_rng(0, 0)
    state = State(start(policy, rows, 10**6), arms, 0, 0, PLAYING)
    for arm, pulls in enumerate(PULLS):
        for reward in table[arm, :pulls]:
            state = state._replace(t=state.t + 1)
            clock = clock_at(state.t, 10**6, arms, 0.0)
            state = update(policy, table_of_arms, state, arm, float(reward), clock, rng, False)
    counts = np.zeros(arms, dtype=int)
    for k in range(DRAWS):
        later = (
            0 if policy.Memory else k
        )  # a step of its own for every choice, unless the state depends on it
        clock = clock_at(steps + 1 + later, 10**6, arms, 0.0)
        every = state._replace(active_arms=arms)
        counts[choose(policy, table_of_arms, every, clock, rng, scores, False, 0)] += 1
    return counts


def of_peer(make: Make, table: Any) -> Any:
    """Return how often the other package chooses each arm."""
    arms = len(table)
    np.random.seed(0)
    random.seed(0)
    with contextlib.redirect_stdout(None):
        choose, update = make(arms, sum(PULLS) + 1)
        for arm, pulls in enumerate(PULLS):
            for reward in table[arm, :pulls]:
                update(arm, float(reward))
        return np.bincount([choose() for _ in range(DRAWS)], minlength=arms)


def p_value(one: Any, other: Any) -> float:
    """Return the p-value of the chi-squared test that two counts have the same distribution."""
    counts = np.array([one, other])
    return float(chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue)


def compare(draw: Draw) -> dict[str, Any]:
    """Return the record of one comparison."""
    table = getattr(rewards, draw.rewards)()
    ours, theirs = of_lowregret(getattr(lr, draw.policy)(), table), of_peer(draw.make, table)
    changed = None if draw.changed is None else p_value(ours, of_peer(draw.changed, table))
    return {
        "policy": draw.policy,
        "peer": draw.peer,
        "rewards": draw.rewards,
        "chosen": ours.tolist(),
        "chosen_by_peer": theirs.tolist(),
        "p": p_value(ours, theirs),
        "why": draw.why,
        "p_changed": changed,
        "source": draw.source,
        "follows": draw.follows,
    }
