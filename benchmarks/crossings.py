"""Compute exactly how often the index of a Bernoulli arm falls too low, as in docs/evidence/successor.md.

    python benchmarks/crossings.py

The first table compares the lemmas of the theorem with exact probabilities. The second has the regret that
comes from excluding the best arm for good, Bernoulli(0.115) against a constant 0.1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
from scipy import stats

import lowregret as lr
from lowregret.policies import Arm, Policy, clock_at

Index = Callable[[int, np.ndarray], np.ndarray]
"""The index after n rewards, for each number of successes."""
NEGLIGIBLE = 1e-25


def index_of_theorem(n: int, successes: np.ndarray, horizon: int, arms: int) -> np.ndarray:
    """Return the index of the theorem, with the constants 8 and 13/3."""
    mean = successes / n
    level = max(log(horizon / (arms * n)), 0.0)
    return mean + np.sqrt(8 * mean * (1 - mean) * level / n) + 13 / 3 * level / n


def index_of_policy(policy: Policy, horizon: int, arms: int) -> Index:
    """Return the index of a policy on Bernoulli rewards."""
    clock = clock_at(arms, horizon, arms, 0.0)
    first = policy.first_round(clock)
    no_draws: Any = None

    def index(n: int, successes: np.ndarray) -> np.ndarray:
        means = (successes / n).tolist()
        arms_seen = [Arm(0, n, mean, mean * (1 - mean)) for mean in means]
        return np.array([policy.arm_index(arm, clock, first, no_draws) for arm in arms_seen])

    return index


def ever_at_most(index: Index, mean: float, target: float, length: int) -> float:
    """Return the probability that the index of a Bernoulli arm is at most the target after some n <= length.

    The numbers of successes of runs that have not crossed are followed one reward at a time. The index must
    be at most the target for the smallest numbers of successes, up to one that does not decrease with n.
    """
    alive, least, crossed, limit = np.array([1.0]), 0, 0.0, -1
    for n in range(1, length + 1):
        alive = np.convolve(alive, [1.0 - mean, mean])
        while limit + 1 <= n and index(n, np.array([limit + 1]))[0] <= target:
            limit += 1
        lost = max(limit + 1 - least, 0)
        crossed += alive[:lost].sum()
        alive, least = alive[lost:], least + lost
        kept = np.flatnonzero(alive > NEGLIGIBLE)
        if len(kept) == 0:
            break
        alive, least = alive[kept[0] : kept[-1] + 1], least + int(kept[0])
    return float(crossed)


def times_at_least(index: Index, mean: float, target: float, length: int) -> float:
    """Return the expected number of n <= length after which the index is at least the target."""
    total = 0.0
    for n in range(1, length + 1):
        successes = np.arange(n + 1)
        total += stats.binom.pmf(successes, n, mean)[index(n, successes) >= target].sum()
    return float(total)


def lemma_1(mean: float, x: float, horizon: int, arms: int) -> tuple[float, float]:
    """Return the exact probability of Lemma 1, and its bound."""
    deviation = mean * (1 - mean) / x**2 + 1 / x
    exact = ever_at_most(
        lambda n, successes: index_of_theorem(n, successes, horizon, arms), mean, mean - x, horizon
    )
    return exact, 74 * arms / horizon * deviation


def lemma_2(mean: float, d: float, horizon: int, arms: int) -> tuple[float, float]:
    """Return the exact expectation of Lemma 2 over n <= horizon, and its bound."""
    pulls = mean * (1 - mean) / d**2 + 1 / d
    exact = times_at_least(
        lambda n, successes: index_of_theorem(n, successes, horizon, arms), mean, mean + d, horizon
    )
    return exact, 51 * pulls + 49 * pulls * max(log(horizon / (49 * arms * pulls)), 0.0)


def exclusion(policy: Policy, horizon: int, mean: float = 0.115, other: float = 0.1) -> float:
    """Return the probability that a Bernoulli arm is below a constant one for good, with K = 2."""
    length = min(horizon // 2, 40_000)  # later the mean alone must be 0.015 too small: below e^-40
    return ever_at_most(index_of_policy(policy, horizon, 2), mean, other, length)


def main() -> None:
    arms = 2
    print("| T | Lemma 1, largest part of the bound | Lemma 2 |\n|---|---|---|")
    for horizon in (100, 1_000, 4_000):
        pairs = [
            lemma_1(mean, x, horizon, arms)
            for mean in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
            for x in (0.02, 0.05, 0.1, 0.2, 0.4)
            if x < mean
        ]
        first = max(exact / bound for exact, bound in pairs)
        short = min(horizon, 1_000)
        second = max(
            exact / bound
            for exact, bound in (lemma_2(m, d, short, arms) for m in (0.02, 0.3, 0.5) for d in (0.1, 0.5))
        )
        print(f"| {horizon:,} | {first:.2g} | {second:.2g}, T = {short:,} |")
    policies = (lr.MOSSV(peers=0), lr.MOSSV(), lr.MOSSV(caution=2, peers=0), lr.KLMOSS(), lr.MOSS())
    print(f"\n| T | {' | '.join(map(str, policies))} |\n|---|{'---|' * len(policies)}")
    for horizon in (10**5, 10**6, 10**7):
        cells = []
        for policy in policies:
            excluded = exclusion(policy, horizon)
            cells.append(f"{0.015 * horizon * excluded:.3g} ({excluded:.2g})")
        print(f"| {horizon:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
