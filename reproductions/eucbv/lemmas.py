"""Monte Carlo estimates of probabilities in the proof of EUCBV, beside their bounds."""

from collections.abc import Sequence
from math import ceil, e, fsum, ldexp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret._common.validation import integer
from lowregret.analysis.intervals import share_interval
from lowregret.environments import Bandit, Bernoulli, Family, Gaussian, entry_of
from lowregret.errors import InputError
from lowregret.policies import EUCBV, clock_at
from lowregret.results import Results
from lowregret.simulation import simulate
from lowregret.special import beta_tail
from lowregret.theory.formulas import elimination_round, last_round, positive_gaps
from lowregret.theory.regret_bounds import resolve_problem


class Lemma3(NamedTuple):
    """Lemma 3 for one arm: after ``pulls`` pulls, P(mean of the pulls > r_i + c_i) <= bound."""

    round: int  # m_i
    pulls: int  # n_{m_i}, rounded up
    logarithm: float  # log(psi T eps), for the width c_i
    bound: float  # 2 / (psi T eps)^(3 rho / 2)


def lemma_3(gap: float, arms: int, horizon: int) -> Lemma3 | None:
    """Evaluate Lemma 3 of the paper: in round m_i, P(x_i > r_i + c_i) <= 2 / (psi T eps)^(3 rho / 2).

    Here c_i = sqrt(rho (v_i + 2) log(psi T eps) / (4 n_i)) and n_i >= log(psi T eps) / (2 eps), eps = 2^-m_i;
    the other lemmas have eps^2 in n_i. None if psi T eps is at most 1.
    """
    round = elimination_round(gap)
    reach = ldexp((horizon / arms) ** 2, -round)
    if reach <= 1.0:
        return None
    return Lemma3(round, ceil(log(reach) * 2.0 ** (round - 1)), log(reach), 2.0 / reach**0.75)


class Lemma5(NamedTuple):
    """Lemma 5 for one arm: in round m_i, P(fewer than ``pulls`` pulls) <= bound."""

    round: int  # m_i
    pulls: int  # n_{m_i} of the algorithm
    bound: float  # 182 K^4 / (T^(5/4) sqrt(eps))
    survival_bound: float  # 368 K^4 / (T^(5/4) sqrt(eps)): case (a), P(not eliminated by round m_i)


def lemma_5(gap: float, arms: int, horizon: int) -> Lemma5 | None:
    """Evaluate Lemma 5, and the bound that case (a) of the proof derives from it; None if void."""
    round = elimination_round(gap)
    reach = ldexp((horizon / arms) ** 2, -2 * round)
    if reach <= 1.0:
        return None
    unit = arms**4 / (horizon * sqrt(sqrt(horizon))) * sqrt(2.0) ** round
    return Lemma5(round, ceil(log(reach) * 2.0 ** (round - 1)), 182.0 * unit, 368.0 * unit)


def elimination_bound(gaps: Sequence[float], horizon: int) -> float:
    """Compute the bound in the proof on the probability that EUCBV eliminates the optimal arm.

    Case (b2) of the proof of Theorem 1 has 368 K^4 / (T^(5/4) sqrt(eps_m)) for arm i in round m. The sum is
    over the arms and the rounds m < m_i, for gaps below b = sqrt(e / T) up to the round of b.
    """
    last = elimination_round(sqrt(e / horizon))
    rounds = [min(elimination_round(gap), last) for gap in positive_gaps(gaps)]
    # For each arm the sum of 1 / sqrt(eps_m) = 2^(m/2) over its rounds, in closed form.
    total = fsum((sqrt(2.0) ** count - 1.0) / (sqrt(2.0) - 1.0) for count in rounds)
    return 368.0 * len(gaps) ** 4 / (horizon * sqrt(sqrt(horizon))) * total


RHO = 0.5
"""The elimination parameter for which the paper proves its bounds."""
MAX_DRAWS = 2_000_000_000
"""The largest number of rewards to draw one by one, which takes tens of seconds."""
_MAX_HELD = 1_000_000
LEMMA_3_VOID = "psi T eps is at most 1, so the lemma does not apply"
LEMMA_5_VOID = "psi T eps^2 is at most 1, so the lemma does not apply"


class Estimate(NamedTuple):
    """The estimated probability of an event, beside its bound."""

    event: str  # "optimal arm eliminated", "Lemma 3", "Lemma 5" or "case (a)"
    gap: float | None = None  # of the arm that the event is about; None for the optimal arm
    variance: float | None = None
    pulls: int | None = None
    runs: int | None = None
    occurrences: int | None = None  # the number of runs with the event
    probability: float | None = None  # the fraction of these runs
    low: float | None = None  # its 95% interval (Clopper and Pearson)
    high: float | None = None
    exact: float | None = None  # the exact probability, which is known for Bernoulli rewards
    bound: float | None = None  # of the paper
    note: str = ""  # caveats, and whether the bound is violated


_INTEGERS, _STRINGS = ("pulls", "runs", "occurrences"), ("event", "note")
ESTIMATE_SCHEMA = {
    name: pl.Int64 if name in _INTEGERS else pl.String if name in _STRINGS else pl.Float64
    for name in Estimate._fields
}


def estimate_probabilities(
    bandit: Bandit | str, horizon: int | None = None, runs: int = 1_000, seed: int = 0
) -> pl.DataFrame:
    """Estimate the probabilities of four events in the proof of Theorem 1 from runs of EUCBV."""
    bandit, horizon = resolve_problem("estimates", bandit, horizon)
    result = simulate(EUCBV(), bandit, horizon, runs, seed, grid=1)
    rows = [
        elimination_estimate(bandit, horizon, result.summary(all=True)["optimal_arm_eliminated"][0], runs)
    ]
    rows += lemma_3_estimates(bandit, horizon, runs, seed)
    rows += lemma_5_estimates(bandit, result)
    return estimate_table(rows)


def estimate_table(rows: Sequence[Estimate]) -> pl.DataFrame:
    """Return estimates as a table."""
    return pl.DataFrame(rows, schema=ESTIMATE_SCHEMA, orient="row")


def elimination_estimate(bandit: Bandit, horizon: int, count: int, runs: int) -> Estimate:
    """Compare how often EUCBV eliminated the optimal arm with the bound in the proof of Theorem 1."""
    bound = elimination_bound(bandit.gaps.tolist(), horizon)
    return _complete(Estimate("optimal arm eliminated", runs=runs, occurrences=count, bound=bound))


def lemma_3_estimates(bandit: Bandit, horizon: int, runs: int = 100_000, seed: int = 0) -> list[Estimate]:
    """Estimate the probability of Lemma 3: that the mean of rewards exceeds the true mean by more than c.

    The proof treats the number of pulls as fixed, so each draw takes exactly n_{m_i} rewards, even if no run
    reaches that round. There is one estimate per positive gap, for the arm of the largest variance.
    """
    runs = integer("lemma_3_estimates", "runs", runs)
    if seed < 0:
        raise InputError(f"lemma_3_estimates: seed must be at least 0, got {seed}")
    rows = []
    for index, (gap, place) in enumerate(_noisiest_by_gap(bandit)):
        arm = bandit.arms[place]
        lemma = lemma_3(gap, len(bandit), horizon)
        if lemma is None:
            rows.append(Estimate("Lemma 3", gap, arm.variance, note=LEMMA_3_VOID))
            continue
        count = _count_exceedances(arm, lemma, runs, np.random.default_rng([seed, index]))
        row = Estimate("Lemma 3", gap, arm.variance, lemma.pulls, runs, count, bound=lemma.bound)
        rows.append(_complete(row._replace(exact=_exact(arm, lemma), note=_caveats(lemma, bandit, horizon))))
    return rows


def lemma_5_estimates(bandit: Bandit, result: Results) -> list[Estimate]:
    """Count in runs of EUCBV the event of Lemma 5 and that of case (a) of the proof of Theorem 1.

    Both are about arm i in round m_i. The counted events imply them, so the counts are not too high: fewer
    than n_{m_i} pulls in the whole run; and no elimination of arm i by the latest end of round m_i, in runs
    that never eliminate the optimal arm. There are two estimates per positive gap, for the arm of the largest
    variance.
    """
    runs, horizon = result["EUCBV"], result.horizon
    assert runs.eliminated is not None
    kept = (runs.eliminated[:, bandit.optimal] == 0).all(axis=1)
    rows = []
    for gap, place in _noisiest_by_gap(bandit):
        lemma, variance = lemma_5(gap, len(bandit), horizon), bandit.arms[place].variance
        if lemma is None:
            rows.append(Estimate("Lemma 5", gap, variance, note=LEMMA_5_VOID))
            continue
        note, when = _caveats(lemma, bandit, horizon), runs.eliminated[:, place]
        few = int((runs.pulls[:, place] < lemma.pulls).sum())
        not_eliminated = (when == 0) | (when > _latest_end(lemma.round, len(bandit), horizon))
        row = Estimate("Lemma 5", gap, variance, lemma.pulls, len(kept), few, bound=lemma.bound, note=note)
        rows.append(_complete(row))
        survived = int((not_eliminated & kept).sum())
        row = row._replace(event="case (a)", pulls=None, occurrences=survived, bound=lemma.survival_bound)
        rows.append(_complete(row))
    return rows


def _noisiest_by_gap(bandit: Bandit) -> list[tuple[float, int]]:
    """Return each positive gap with the arm of largest variance among those with this gap."""
    gaps = np.unique(bandit.gaps[~bandit.optimal]).tolist()
    return [(gap, int(np.where(bandit.gaps == gap, bandit.variances, -1.0).argmax())) for gap in gaps]


def _latest_end(number: int, arms: int, horizon: int) -> int:
    """Compute when a round of EUCBV ends if no arm is eliminated; the last round ends at the horizon."""
    policy = EUCBV()
    round = policy.first_round(clock_at(0, horizon, arms, 0.0))
    while round.number < number and round.until < horizon:
        round = policy.after(round, round.until, arms)
    return min(round.until, horizon)


def _count_exceedances(arm: Family, lemma: Lemma3, runs: int, random: np.random.Generator) -> int:
    """Count how often the mean of the lemma's pulls exceeds the true mean by more than the width."""
    direct = isinstance(arm, Bernoulli | Gaussian)
    if not direct and lemma.pulls * runs > MAX_DRAWS:
        limit = max(MAX_DRAWS // lemma.pulls, 1)
        raise InputError(f"lemma_3_estimates: runs must be at most {limit} for these arms, got {runs}")
    size = _MAX_HELD if direct else 1_000
    count = 0
    for start in range(0, runs, size):
        deviations, variances = _moments(arm, lemma.pulls, min(size, runs - start), random)
        count += int((deviations > _width(variances, lemma)).sum())
    return count


def _width(variances: Floats | float, lemma: Lemma3) -> Any:
    """Compute the width c_i from the empirical variance."""
    return np.sqrt(RHO * (variances + 2.0) * lemma.logarithm / (4.0 * lemma.pulls))


def _moments(arm: Family, pulls: int, runs: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the mean of the rewards minus the true mean, and their variance, for each run."""
    if isinstance(arm, Bernoulli):
        step, share = arm.success - arm.failure, random.binomial(pulls, arm.probability, runs) / pulls
        return step * (share - arm.probability), step * step * share * (1.0 - share)
    if isinstance(arm, Gaussian):
        squares = random.chisquare(pulls - 1, runs) if pulls > 1 else np.zeros(runs)
        return random.normal(0.0, sqrt(arm.variance / pulls), runs), arm.variance * squares / pulls
    sample = entry_of(arm).sample
    total, total_square = np.zeros((2, runs))
    for start in range(0, pulls, _MAX_HELD // runs):
        rewards = sample(arm, random, (runs, min(_MAX_HELD // runs, pulls - start))) - arm.mean
        total += rewards.sum(axis=1)
        total_square += (rewards * rewards).sum(axis=1)
    return total / pulls, total_square / pulls - (total / pulls) ** 2


def _exact(arm: Family, lemma: Lemma3) -> float | None:
    """Compute the probability for Bernoulli rewards: a tail of the binomial distribution."""
    if not isinstance(arm, Bernoulli) or not 0.0 < arm.success - arm.failure <= 1.0:
        return None
    step, pulls = arm.success - arm.failure, lemma.pulls
    low, high = 0, pulls + 1  # bisection: the event needs more than low and at most high successes
    while high - low > 1:
        middle = (low + high) // 2
        share = middle / pulls
        # The mean grows faster in the successes than the width, so the event is a threshold on them.
        if step * (share - arm.probability) > _width(step * step * share * (1.0 - share), lemma):
            high = middle
        else:
            low = middle
    return beta_tail(pulls - high + 1, high, 1.0 - arm.probability) if high <= pulls else 0.0


def _caveats(lemma: Lemma3 | Lemma5, bandit: Bandit, horizon: int) -> str:
    """Note if no run reaches the round of the lemma, or if its assumption fails."""
    notes = []
    last = last_round(horizon) + 1
    if lemma.round > last:
        notes.append(f"round {lemma.round} is never reached, the last is {last}")
    if lemma.pulls > horizon:
        notes.append("more pulls than the horizon")
    if bandit.support[0] < 0.0 or bandit.support[1] > 1.0:
        notes.append("assumes rewards in [0, 1], which does not hold here")
    return "; ".join(notes)


def _complete(row: Estimate) -> Estimate:
    """Fill in the probability with its interval, and note whether the bound is vacuous or violated."""
    assert row.occurrences is not None and row.runs is not None and row.bound is not None
    low, high = share_interval(row.occurrences, row.runs)
    verdict = ""
    if row.bound >= 1.0:
        verdict = "vacuous: above 1"
    elif row.exact is not None and row.exact > row.bound:
        verdict = "the bound does not hold"
    elif low > row.bound:
        verdict = "the interval lies above the bound"
    note = "; ".join(part for part in (verdict, row.note) if part)
    return row._replace(probability=row.occurrences / row.runs, low=low, high=high, note=note)
