"""Two probabilities of EUCBV's proof, estimated over many runs and set beside their bounds."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from lowregret.analysis.intervals import share_interval
from lowregret.environments import Bandit, Bernoulli, Family, Gaussian, entry_of
from lowregret._common.validation import whole
from lowregret.errors import InputError
from lowregret.theory.guarantees import settled
from lowregret.policies import EUCBV
from lowregret.simulation import simulate
from lowregret.special import beta_tail
from lowregret.reproduction.lemmas import Lemma3, elimination_bound, last_round, lemma_3

Floats = npt.NDArray[np.float64]

RHO = 0.5
"""The elimination parameter for which the paper proves its bounds."""
MOST_DRAWS = 2_000_000_000
"""How many rewards may be drawn one by one, where that is needed: some tens of seconds' worth."""
_HELD = 1_000_000
"""How many numbers are held at once."""
VOID = "psi T eps is at most 1, so the lemma says nothing"


class Estimate(NamedTuple):
    """A probability seen in some runs, beside its bound.

    Attributes
    ----------
    event : str
        What may happen: ``optimal arm eliminated``, or ``Lemma 3``: the mean of an arm's rewards exceeds
        its true mean by more than the width.
    gap, variance : float or None
        Those of the arm that the event is about; None for the optimal arm.
    pulls : int or None
        After how many pulls of it.
    runs, seen : int or None
        How many runs there were, and in how many it happened.
    probability, low, high : float or None
        The share, and its 95% interval (Clopper and Pearson).
    exact : float or None
        The probability itself, where it can be computed: for rewards of 0 and 1.
    bound : float or None
        What the paper has for it.
    note : str
        What to keep in mind.
    """

    event: str
    gap: float | None = None
    variance: float | None = None
    pulls: int | None = None
    runs: int | None = None
    seen: int | None = None
    probability: float | None = None
    low: float | None = None
    high: float | None = None
    exact: float | None = None
    bound: float | None = None
    note: str = ""


SCHEMA = {
    "event": pl.String,
    "gap": pl.Float64,
    "variance": pl.Float64,
    "pulls": pl.Int64,
    "runs": pl.Int64,
    "seen": pl.Int64,
    "probability": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "exact": pl.Float64,
    "bound": pl.Float64,
    "note": pl.String,
}


def estimates(
    bandit: Bandit | str, horizon: int | None = None, runs: int = 1_000, seed: int = 0
) -> pl.DataFrame:
    """Estimate how often EUCBV eliminates the optimal arm and how often the event of Lemma 3 occurs.

    Parameters
    ----------
    bandit : Bandit or str
        The environment, or its text such as ``"paper-1"``.
    horizon : int, optional
        The number of pulls; the environment's own if it has one.
    runs : int, default 1000
        How many runs of EUCBV to simulate, and how often to draw the rewards that Lemma 3 is about.
    seed : int, default 0
        The same seed gives the same estimates.

    Returns
    -------
    polars.DataFrame
        The rows of ``elimination`` and ``lemma_3_estimates``.

    Examples
    --------
    >>> from lowregret.reproduction.proof_estimates import estimates
    >>> estimates("bernoulli:0.5,1", 10_000, runs=20).select("event", "seen", "note").row(0)
    ('optimal arm eliminated', 0, 'vacuous: above 1')
    """
    bandit, horizon = settled("estimates", bandit, horizon)
    lost = simulate(EUCBV(), bandit, horizon, runs, seed, grid=1).optimal_arm_eliminated("EUCBV")
    assert lost is not None
    rows = [elimination(bandit, horizon, lost, runs), *lemma_3_estimates(bandit, horizon, runs, seed)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def elimination(bandit: Bandit, horizon: int, count: int, runs: int) -> Estimate:
    """Set how often EUCBV eliminated the optimal arm beside the bound that the proof of Theorem 1 works with.

    Parameters
    ----------
    bandit, horizon
        What was played.
    count, runs : int
        In how many runs, of how many, no optimal arm was left: ``Result.optimal_arm_eliminated`` counts them.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.reproduction.proof_estimates import elimination
    >>> elimination(lr.paper(1), 60_000, count=0, runs=100).note
    'vacuous: above 1'
    """
    bound = elimination_bound(bandit.gaps.tolist(), horizon)
    return _beside(Estimate("optimal arm eliminated", runs=runs, seen=count, bound=bound))


def lemma_3_estimates(bandit: Bandit, horizon: int, runs: int = 100_000, seed: int = 0) -> list[Estimate]:
    """Estimate the probability of Lemma 3: that a mean of rewards exceeds the true mean by more than c.

    The lemma is about round m_i, in which the arm has had at least n_{m_i} pulls, and its proof takes their
    number as given. So each run here draws exactly n_{m_i} rewards of the arm, whether or not a game would
    ever get that far, which the note tells. For rewards of two values and for normal rewards, mean and
    variance are drawn at once, from their exact law.

    Parameters
    ----------
    bandit, horizon
        The environment, and the T of the lemma.
    runs : int, default 100000
        How many times to draw.
    seed : int, default 0
        What the rewards are drawn from.

    Returns
    -------
    list of Estimate
        One for each positive gap, of the arm with the largest variance among those with this gap: it exceeds
        its width most often, since the width hardly depends on the variance.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.reproduction.proof_estimates import lemma_3_estimates
    >>> row = lemma_3_estimates(lr.bernoulli([0.5, 0.9]), 1_000_000, runs=1_000)[0]
    >>> f"{row.exact:.3g}", f"{row.bound:.3g}"  # the lemma does not hold here
    ('1.08e-06', '6.09e-07')
    """
    runs = whole("lemma_3_estimates", "runs", runs)
    if seed < 0:
        raise InputError(f"lemma_3_estimates: seed must be at least 0, got {seed}")
    rows = []
    for place, gap in enumerate(np.unique(bandit.gaps[~bandit.optimal]).tolist()):
        arms = [arm for arm, other in zip(bandit.arms, bandit.gaps, strict=True) if other == gap]
        arm = max(arms, key=lambda arm: arm.variance)
        lemma = lemma_3(gap, len(bandit), horizon)
        if lemma is None:
            rows.append(Estimate("Lemma 3", gap, arm.variance, note=VOID))
            continue
        count = _exceeds(arm, lemma, runs, np.random.default_rng([seed, place]))
        row = Estimate("Lemma 3", gap, arm.variance, lemma.pulls, runs, count, bound=lemma.bound)
        rows.append(_beside(row._replace(exact=_exact(arm, lemma), note=_reach(lemma, bandit, horizon))))
    return rows


def _exceeds(arm: Family, lemma: Lemma3, runs: int, random: np.random.Generator) -> int:
    """Count how often the mean of the lemma's pulls exceeds the true mean by more than the width."""
    quick = isinstance(arm, Bernoulli | Gaussian)
    if not quick and lemma.pulls * runs > MOST_DRAWS:
        most = max(MOST_DRAWS // lemma.pulls, 1)
        raise InputError(f"lemma_3_estimates: runs must be at most {most} for these arms, got {runs}")
    size = _HELD if quick else 1_000
    count = 0
    for start in range(0, runs, size):
        deviations, variances = _moments(arm, lemma.pulls, min(size, runs - start), random)
        count += int((deviations > _width(variances, lemma)).sum())
    return count


def _width(variances: Floats | float, lemma: Lemma3) -> Any:
    """Give c_i for an empirical variance."""
    return np.sqrt(RHO * (variances + 2.0) * lemma.logarithm / (4.0 * lemma.pulls))


def _moments(arm: Family, pulls: int, runs: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the mean of the rewards, less the true mean, and their variance, once for each run."""
    if isinstance(arm, Bernoulli):
        step, share = arm.success - arm.failure, random.binomial(pulls, arm.probability, runs) / pulls
        return step * (share - arm.probability), step * step * share * (1.0 - share)
    if isinstance(arm, Gaussian):
        squares = random.chisquare(pulls - 1, runs) if pulls > 1 else np.zeros(runs)
        return random.normal(0.0, sqrt(arm.variance / pulls), runs), arm.variance * squares / pulls
    sample = entry_of(arm).sample
    total, total_square = np.zeros((2, runs))
    for start in range(0, pulls, _HELD // runs):
        rewards = sample(arm, random, (runs, min(_HELD // runs, pulls - start))) - arm.mean
        total += rewards.sum(axis=1)
        total_square += (rewards * rewards).sum(axis=1)
    return total / pulls, total_square / pulls - (total / pulls) ** 2


def _exact(arm: Family, lemma: Lemma3) -> float | None:
    """Give the probability itself for rewards of two values: a tail of the binomial law."""
    if not isinstance(arm, Bernoulli) or not 0.0 < arm.success - arm.failure <= 1.0:
        return None
    step, pulls = arm.success - arm.failure, lemma.pulls
    low, high = 0, pulls + 1  # so few successes are not enough; so many are
    while high - low > 1:
        middle = (low + high) // 2
        share = middle / pulls
        # The mean grows faster with the successes than the width, so there is one least number of them.
        if step * (share - arm.probability) > _width(step * step * share * (1.0 - share), lemma):
            high = middle
        else:
            low = middle
    return beta_tail(pulls - high + 1, high, 1.0 - arm.probability) if high <= pulls else 0.0


def _reach(lemma: Lemma3, bandit: Bandit, horizon: int) -> str:
    """Say where no game gets to the round that the lemma is about, or its assumption fails."""
    notes = []
    last = last_round(horizon) + 1
    if lemma.round > last:
        notes.append(f"round {lemma.round} never comes, the last is {last}")
    if lemma.pulls > horizon:
        notes.append("more pulls than the horizon has")
    if bandit.support[0] < 0.0 or bandit.support[1] > 1.0:
        notes.append("assumes rewards in [0, 1], which is not so")
    return "; ".join(notes)


def _beside(row: Estimate) -> Estimate:
    """Complete an estimate: the share with its interval, and what can be said of the bound."""
    assert row.seen is not None and row.runs is not None and row.bound is not None
    low, high = share_interval(row.seen, row.runs)
    verdict = ""
    if row.bound >= 1.0:
        verdict = "vacuous: above 1"
    elif row.exact is not None and row.exact > row.bound:
        verdict = "the bound does not hold"
    elif low > row.bound:
        verdict = "the interval lies above the bound"
    note = "; ".join(part for part in (verdict, row.note) if part)
    return row._replace(probability=row.seen / row.runs, low=low, high=high, note=note)
