"""``worst_case``: search for the bandit on which the regret of a policy is largest, relative to sqrt(K T)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret._common.progress import Report, counter, reporting
from lowregret._common.user_calls import user_call
from lowregret._common.validation import integer, seed_of
from lowregret.analysis.summary import tail_mean
from lowregret.engine.backends import Engine
from lowregret.environments import Bandit, bernoulli, beta
from lowregret.policies import Policy
from lowregret.policies.inputs import policy_of
from lowregret.simulation import simulate

SEARCH_ROUNDS, PARENTS, CHILDREN, FINALISTS = 4, 6, 4, 3
"""The search varies each of the worst ``PARENTS`` candidates in ``CHILDREN`` ways, and repeats this
``SEARCH_ROUNDS`` times; the worst ``FINALISTS`` are evaluated again."""
MIN_MEAN, MAX_MEAN = 0.005, 0.995
"""The range of the largest mean."""


class Candidate(NamedTuple):
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
        return _arms_of_spread(others, self.other_spread) + _arms_of_spread([self.mean], self.best_spread)


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
    >>> case = lr.worst_case("MOSS", horizon=100, arms=2, starts=4, runs=20)
    >>> case.horizon, len(case.bandit), case.ratio > 0
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


@user_call
def worst_case(
    policy: Policy | str,
    *,
    horizon: int = 10_000,
    arms: int | Iterable[int] = (2, 10, 50),
    starts: int = 60,
    runs: int = 1_000,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Report = True,
    engine: Engine = "compiled",
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
    progress : bool or callable, default True
        Whether to say on standard error what is done, or a function that is called with a `Progress`.
    engine : {"compiled", "reference", "cuda"}, default "compiled"
        The engine, as for `simulate`.

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
    >>> case = lr.worst_case(lr.MOSS(), horizon=500, arms=2, starts=8, runs=100)
    >>> case.ratio > 0.2
    True
    """
    policy = policy_of(policy)
    horizon, starts, runs = (
        integer("worst_case", name, value)
        for name, value in (("horizon", horizon), ("starts", starts), ("runs", runs))
    )
    sizes = [
        integer("worst_case", "arms", size, least=2) for size in ([arms] if isinstance(arms, int) else arms)
    ]
    rng = np.random.default_rng(seed_of(seed))
    first, second, third = map(int, rng.integers(2**63, size=3))

    def judge(candidates: Sequence[Candidate], runs: int, seed: int) -> list[tuple[Candidate, Floats]]:
        """Simulate problems and sort them by regret / sqrt(K T), the worst first."""
        judged = []
        for candidate in candidates:
            how: dict[str, Any] = {"grid": 1, "threads": threads, "progress": False, "engine": engine}
            result = simulate(policy, candidate.bandit(), horizon, runs, seed, **how)
            judged.append((candidate, result.regret(policy) / sqrt(candidate.arms * horizon)))
            advance(f"worst case of {policy}", 1)
        return sorted(judged, key=lambda pair: -pair[1].mean())

    search_runs = max(runs // 10, 20)
    with reporting(progress) as report:
        advance = counter(report, starts + SEARCH_ROUNDS * PARENTS * CHILDREN + 2 * FINALISTS, "problems")
        pool = judge([_draw(rng, sizes[k % len(sizes)], horizon) for k in range(starts)], search_runs, first)
        for step in range(SEARCH_ROUNDS):
            parents = pool[:PARENTS]
            children = [_vary(rng, candidate, 0.5**step) for candidate, _ in parents for _ in range(CHILDREN)]
            pool = sorted(parents + judge(children, search_runs, first), key=lambda pair: -pair[1].mean())
        chosen = judge([candidate for candidate, _ in pool[:FINALISTS]], search_runs, second)[:FINALISTS]
        final = [judge([candidate], runs, third)[0] for candidate, _ in chosen]
    return _worst(policy, horizon, final)


def _worst(policy: Policy, horizon: int, final: Sequence[tuple[Candidate, Floats]]) -> WorstCase:
    """Report the problem that the second seeds selected, evaluated with the third."""
    rows = [
        {
            **candidate._asdict(),
            "ratio": float(ratios.mean()),
            "se": float(ratios.std(ddof=1) / sqrt(len(ratios))),
            "worst05": tail_mean(ratios),
        }
        for candidate, ratios in final
    ]
    ratio, se, worst05 = (float(rows[0][name]) for name in ("ratio", "se", "worst05"))
    return WorstCase(policy, final[0][0].bandit(), horizon, ratio, se, worst05, pl.DataFrame(rows))


def _draw(rng: np.random.Generator, arms: int, horizon: int) -> Candidate:
    """Draw a problem; gaps are near sqrt(K / T), where the regret of good policies is largest."""
    scale = sqrt(arms / horizon)
    mean = float(rng.uniform(MIN_MEAN, MAX_MEAN))
    gap = scale * exp(rng.uniform(-1.5, 2.0))
    near = int(rng.integers(1, arms))
    spreads = (1.0 if rng.uniform() < 0.5 else exp(rng.uniform(log(1e-3), 0.0)) for _ in range(2))
    return _valid(Candidate(arms, mean, gap, near, gap * exp(rng.uniform(0.0, 2.0)), *spreads))


def _vary(rng: np.random.Generator, candidate: Candidate, scale: float) -> Candidate:
    """Return a problem near another one."""
    odds = log(candidate.mean / (1.0 - candidate.mean)) + scale * rng.normal()
    gap, far_gap, best, other = (
        value * exp(scale * 0.7 * rng.normal())
        for value in (candidate.gap, candidate.far_gap, candidate.best_spread, candidate.other_spread)
    )
    near = round(candidate.near * exp(scale * 0.5 * rng.normal()))
    return _valid(Candidate(candidate.arms, 1.0 / (1.0 + exp(-odds)), gap, near, far_gap, best, other))


def _valid(candidate: Candidate) -> Candidate:
    """Move numbers into their ranges."""
    mean = min(max(candidate.mean, MIN_MEAN), MAX_MEAN)
    gap = min(max(candidate.gap, 1e-6), 0.999 * mean)
    return Candidate(
        candidate.arms,
        mean,
        gap,
        min(max(candidate.near, 1), candidate.arms - 1),
        min(max(candidate.far_gap, gap), 0.999 * mean),
        min(max(candidate.best_spread, 1e-3), 1.0),
        min(max(candidate.other_spread, 1e-3), 1.0),
    )


def _arms_of_spread(means: Sequence[float], spread: float) -> Bandit:
    """Return arms on [0, 1] with these means and variances spread * m (1 - m)."""
    if spread > 0.99:
        return bernoulli(means)
    size = 1.0 / spread - 1.0
    return beta([mean * size for mean in means], [(1.0 - mean) * size for mean in means])
