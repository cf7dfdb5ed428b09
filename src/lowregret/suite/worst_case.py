"""``worst_case``: search for the bandit on which the regret of a policy is largest, relative to sqrt(K T)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
import polars as pl

from lowregret._common.validation import integer, seed_of
from lowregret.analysis.summary import tail_mean
from lowregret.engine.state import Floats
from lowregret.environments import Bandit, bernoulli, beta
from lowregret.experiments.policy_loading import load_policy
from lowregret.policies import Policy
from lowregret.simulation import simulate

ROUNDS, KEPT, CHILDREN, FINALISTS = 4, 6, 4, 3
"""The search keeps the worst ``KEPT`` problems, varies each in ``CHILDREN`` ways, and repeats this ``ROUNDS``
times; the worst ``FINALISTS`` are evaluated again."""
LEAST, MOST = 0.005, 0.995
"""The range of the largest mean."""


class Problem(NamedTuple):
    """A bandit with rewards in [0, 1] in seven numbers.

    One arm has the largest mean. ``near`` of the other arms have a mean that is ``gap`` smaller, the rest
    one that is ``far_gap`` smaller. A spread is a variance divided by its largest possible value m (1 - m): 1
    gives Bernoulli arms, a smaller one beta arms.
    """

    arms: int
    mean: float
    gap: float
    near: int
    far_gap: float
    best_spread: float
    other_spread: float

    def bandit(self) -> Bandit:
        """Return the bandit; its best arm is the last."""
        others = [self.mean - self.far_gap] * (self.arms - 1 - self.near) + [self.mean - self.gap] * self.near
        return _arms(others, self.other_spread) + _arms([self.mean], self.best_spread)


@dataclass(frozen=True)
class WorstCase:
    """The worst bandit that a search found for a policy.

    Attributes
    ----------
    policy : Policy
        The policy.
    bandit : Bandit
        The bandit.
    horizon : int
        The number of pulls in a run.
    ratio, se : float
        Mean regret divided by sqrt(K T), and its standard error, over runs that the search has not used.
    worst05 : float
        The mean of the worst 5% of these runs, divided by sqrt(K T).
    candidates : polars.DataFrame
        The problems that were evaluated again. The first is the worst of them in runs that neither the search
        nor the report has used.

    Examples
    --------
    >>> import lowregret as lr
    >>> found = lr.worst_case("MOSS", horizon=100, arms=2, starts=4, runs=20)
    >>> found.horizon, len(found.bandit), found.ratio > 0
    (100, 2, True)
    """

    policy: Policy
    bandit: Bandit
    horizon: int
    ratio: float
    se: float
    worst05: float
    candidates: pl.DataFrame

    def __str__(self) -> str:
        """Describe the worst case in one line."""
        first = self.candidates.row(0, named=True)
        return (
            f"{self.policy}: {self.ratio:.3g} ({self.se:.2g}) sqrt(K T) with K = {first['arms']}, "
            f"largest mean {first['mean']:.3g}, {first['near']} arms {first['gap']:.2g} below it"
        )


def worst_case(
    policy: Policy | str,
    *,
    horizon: int = 10_000,
    arms: int | Iterable[int] = (2, 10, 50),
    starts: int = 60,
    runs: int = 1_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WorstCase:
    """Search for the bandit with rewards in [0, 1] on which mean regret / sqrt(K T) is largest.

    The search starts from random problems (numbers of arms, means, one or two gaps, variances), keeps the
    worst and varies them. The worst problems at the end are evaluated again with other seeds, since the
    largest of many estimates is too large. It is a search, not a proof: the true worst case is at least as
    bad as the one it finds.

    Parameters
    ----------
    policy : Policy or str
        The policy.
    horizon : int, default 10000
        The number of pulls in a run.
    arms : int or several, default (2, 10, 50)
        The numbers of arms to try.
    starts : int, default 60
        The number of random problems, over all numbers of arms.
    runs : int, default 1000
        The number of runs of the last evaluation; the search itself takes a tenth for each problem.
    seed : int, default 0
        The seed of problems, rewards and policy.
    threads : int, optional
        The number of threads; by default one per core.
    progress : callable, optional
        Called as ``progress(done, problems)`` after each evaluation.

    Returns
    -------
    WorstCase
        The bandit and its regret.

    Raises
    ------
    InputError
        If the policy is unknown or an argument is invalid.

    Examples
    --------
    >>> import lowregret as lr
    >>> found = lr.worst_case(lr.MOSS(), horizon=500, arms=2, starts=8, runs=100)
    >>> found.ratio > 0.2
    True
    """
    policy = load_policy(policy)
    horizon, starts, runs = (
        integer("worst_case", name, value)
        for name, value in (("horizon", horizon), ("starts", starts), ("runs", runs))
    )
    sizes = [
        integer("worst_case", "arms", each, least=2) for each in ([arms] if isinstance(arms, int) else arms)
    ]
    rng = np.random.default_rng(seed_of(seed))
    first, second, third = (int(each) for each in rng.integers(2**63, size=3))
    evaluate = partial(_regret, policy, horizon, threads)
    total, done = starts + ROUNDS * KEPT * CHILDREN + 2 * FINALISTS, 0

    def judge(problems: Sequence[Problem], runs: int, seed: int) -> list[tuple[Problem, Floats]]:
        """Evaluate problems and sort them, the worst first."""
        nonlocal done
        found = []
        for problem in problems:
            found.append((problem, evaluate(problem, runs, seed)))
            done += 1
            if progress:
                progress(done, total)
        return sorted(found, key=lambda pair: -pair[1].mean())

    few = max(runs // 10, 20)
    pool = judge([_draw(rng, sizes[k % len(sizes)], horizon) for k in range(starts)], few, first)
    for step in range(ROUNDS):
        scale = 0.5**step
        children = [_vary(rng, problem, scale) for problem, _ in pool[:KEPT] for _ in range(CHILDREN)]
        pool = sorted(pool[:KEPT] + judge(children, few, first), key=lambda pair: -pair[1].mean())
    chosen = judge([problem for problem, _ in pool[:FINALISTS]], few, second)[:FINALISTS]
    final = [judge([problem], runs, third)[0] for problem, _ in chosen]
    return _worst(policy, horizon, final)


def _worst(policy: Policy, horizon: int, final: Sequence[tuple[Problem, Floats]]) -> WorstCase:
    """Report the problem that the second seeds selected, evaluated with the third."""
    rows = [
        {
            **problem._asdict(),
            "ratio": float(ratios.mean()),
            "se": float(ratios.std(ddof=1) / sqrt(len(ratios))),
            "worst05": tail_mean(ratios),
        }
        for problem, ratios in final
    ]
    best = rows[0]
    found = float(best["ratio"]), float(best["se"]), float(best["worst05"])
    return WorstCase(policy, final[0][0].bandit(), horizon, *found, pl.DataFrame(rows))


def _regret(
    policy: Policy, horizon: int, threads: int | None, problem: Problem, runs: int, seed: int
) -> Floats:
    """Return regret / sqrt(K T) of every run."""
    result = simulate([policy], problem.bandit(), horizon, runs, seed, grid=1, threads=threads)
    return result.regret(policy) / sqrt(problem.arms * horizon)


def _draw(rng: np.random.Generator, arms: int, horizon: int) -> Problem:
    """Draw a problem; gaps are near sqrt(K / T), where the regret of good policies is largest."""
    scale = sqrt(arms / horizon)
    mean = float(rng.uniform(LEAST, MOST))
    gap = scale * exp(rng.uniform(-1.5, 2.0))
    near = int(rng.integers(1, arms))
    spreads = (1.0 if rng.uniform() < 0.5 else exp(rng.uniform(log(1e-3), 0.0)) for _ in range(2))
    return _valid(Problem(arms, mean, gap, near, gap * exp(rng.uniform(0.0, 2.0)), *spreads))


def _vary(rng: np.random.Generator, problem: Problem, scale: float) -> Problem:
    """Return a problem near another one."""
    odds = log(problem.mean / (1.0 - problem.mean)) + scale * rng.normal()
    gap, far_gap, best, other = (
        value * exp(scale * 0.7 * rng.normal())
        for value in (problem.gap, problem.far_gap, problem.best_spread, problem.other_spread)
    )
    near = round(problem.near * exp(scale * 0.5 * rng.normal()))
    return _valid(Problem(problem.arms, 1.0 / (1.0 + exp(-odds)), gap, near, far_gap, best, other))


def _valid(problem: Problem) -> Problem:
    """Move numbers into their ranges."""
    mean = min(max(problem.mean, LEAST), MOST)
    gap = min(max(problem.gap, 1e-6), 0.999 * mean)
    return Problem(
        problem.arms,
        mean,
        gap,
        min(max(problem.near, 1), problem.arms - 1),
        min(max(problem.far_gap, gap), 0.999 * mean),
        min(max(problem.best_spread, 1e-3), 1.0),
        min(max(problem.other_spread, 1e-3), 1.0),
    )


def _arms(means: Sequence[float], spread: float) -> Bandit:
    """Return arms on [0, 1] with these means and variances spread * m (1 - m)."""
    if spread > 0.99:
        return bernoulli(means)
    size = 1.0 / spread - 1.0
    return beta([mean * size for mean in means], [(1.0 - mean) * size for mean in means])
