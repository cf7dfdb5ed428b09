"""On which day of a run an experiment has a verdict, as ``Agent.verdict`` would give it."""

from math import log

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.analysis.confidence_sequences import Totals
from lowregret.analysis.mean_differences import log_evidence
from lowregret.planning.assumptions import Assumptions, Simulated


def totals_by_day(
    arms: Integers, rewards: Floats, options: int, scenario: Assumptions, simulated: Simulated
) -> Totals:
    """Return what is known of each option at the end of each day; rows are days."""
    decisions, days = len(arms), scenario.days
    day = (np.arange(decisions) + simulated.delay) * days // decisions
    known = day < days
    cells = (day * options + arms)[known]
    weights = np.ones(decisions), rewards, rewards**2
    return Totals(
        *(
            np.bincount(cells, weight[known], days * options).reshape(days, options).cumsum(axis=0)
            for weight in weights
        )
    )


def split_by_day(
    means: Floats, scenario: Assumptions, simulated: Simulated, random: np.random.Generator
) -> Totals:
    """Draw what an equal split knows of each option at the end of each day."""
    days = np.arange(1, scenario.days + 1)
    share = simulated.decisions / (scenario.days * scenario.options)
    visitors = (np.maximum(days - scenario.delay_days, 0.0) * share).astype(np.int64)[:, None]
    new = np.diff(visitors, axis=0, prepend=0)
    pulls = np.broadcast_to(visitors, (scenario.days, len(means))).astype(np.float64)
    if scenario.sd is None:
        sums = random.binomial(new, means).cumsum(axis=0).astype(np.float64)
        return Totals(pulls, sums, sums)
    sums = random.normal(new * means, scenario.sd * np.sqrt(new)).cumsum(axis=0)
    return Totals(pulls, sums, sums**2 / np.maximum(pulls, 1.0) + pulls * scenario.sd**2)


def first_verdict(arms: Totals, error: float, bounded: bool) -> int:
    """Return the first day with a verdict on the best option, 0 for none.

    Evidence is at most about exp(z^2 / 2), so days and options of which z is small need no closer look.
    """
    days, size = arms.pulls.shape
    limit, rows = log(size / error), np.arange(days)
    pulls = np.maximum(arms.pulls, 1.0)
    leader = np.where(arms.pulls > 0, arms.means, -np.inf).argmax(axis=1)
    first = arms.at((rows, leader))
    errors = (arms.variances + 1.0 / pulls * bounded) / pulls
    squares = (first.means[:, None] - arms.means) ** 2 / np.maximum(
        errors + errors[rows, leader, None], 1e-300
    )
    squares[rows, leader] = np.inf
    weakest = squares.argmin(axis=1)
    looked = np.flatnonzero((squares[rows, weakest] >= limit) & (arms.pulls.min(axis=1) > 0))
    told = log_evidence(first.at(looked), arms.at((looked, weakest[looked])), bounded=bounded)
    for day in looked[told >= limit]:
        rivals = np.flatnonzero(np.arange(size) != leader[day])
        own = first.at(np.full(len(rivals), day))
        if log_evidence(own, arms.at((day, rivals)), bounded=bounded).min() >= limit:
            return int(day) + 1
    return 0
