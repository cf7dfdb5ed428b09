"""The runs of a plan by days, and their verdicts: of a policy, a fixed split, and the present option."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.analysis.confidence_sequences import Totals
from lowregret.analysis.mean_differences import log_evidence
from lowregret.planning.fixed_split import FixedSplit, best_observed
from lowregret.planning.scenario import Scenario, Simulated


def totals_by_day(
    arms: Integers, rewards: Floats, options: int, scenario: Scenario, simulated: Simulated
) -> Totals:
    """Return what is known of each option at the end of each day; rows are days."""
    decisions, days = len(arms), scenario.days
    day = (np.arange(decisions) + simulated.delay) * days // decisions
    in_time = day < days
    cells = (day * options + arms)[in_time]
    weights = np.ones(decisions), rewards, rewards**2
    return Totals(
        *(
            np.bincount(cells, weight[in_time], days * options).reshape(days, options).cumsum(axis=0)
            for weight in weights
        )
    )


def split_by_day(
    means: Floats, scenario: Scenario, simulated: Simulated, random: np.random.Generator
) -> Totals:
    """Draw what an equal split knows of each option at the end of each day."""
    days = np.arange(1, scenario.days + 1)
    share = simulated.decisions / (scenario.days * scenario.options)
    visitors = (np.maximum(days - scenario.delay_days, 0.0) * share).astype(np.int64)[:, None]
    new = np.diff(visitors, axis=0, prepend=0)
    pulls = np.broadcast_to(visitors, (scenario.days, len(means))).astype(np.float64)
    observed = scenario.rewards.observe(random, new, means)
    return Totals(pulls, observed.sums.cumsum(axis=0), observed.squares.cumsum(axis=0))


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
    evidence = log_evidence(first.at(looked), arms.at((looked, weakest[looked])), bounded=bounded)
    for day in looked[evidence >= limit]:
        rivals = np.flatnonzero(np.arange(size) != leader[day])
        own = first.at(np.full(len(rivals), day))
        if log_evidence(own, arms.at((day, rivals)), bounded=bounded).min() >= limit:
            return int(day) + 1
    return 0


FIXED_SPLIT = "fixed split"
"""The name of the fixed split beside those of the policies."""
PRESENT_OPTION = "present option"
"""The name of making no experiment: every visitor sees the first option."""
LEADING_SHARE = 0.8
"""The share of the traffic with which the best option counts as found."""


@dataclass(frozen=True)
class PolicyRuns:
    """The runs of one policy; a column of ``loss`` (so far) and ``share`` (of the best option) is a day.

    ``leads`` is whether the best option was seen most on the last day, ``good`` whether the one that was is
    worse by less than the lift, ``day`` the first with 80% for the best option, ``verdict`` that with a
    verdict.
    """

    loss: Floats
    share: Floats
    leads: Integers
    good: Integers
    day: Integers
    verdict: Integers

    def proved(self, days: int) -> Floats:
        """Return the share of runs that have had a verdict by each day."""
        by = (self.verdict[:, None] > 0) & (self.verdict[:, None] <= np.arange(1, days + 1))
        shares: Floats = by.mean(axis=0)
        return shares


def empty_runs(runs: int, days: int) -> PolicyRuns:
    shape = runs, days
    leads, good, day, verdict = np.zeros((4, runs), np.int64)
    return PolicyRuns(np.zeros(shape), np.zeros(shape), leads, good, day, verdict)


def record_run(
    played: PolicyRuns, run: int, arms: Integers, means: Floats, scenario: Scenario, simulated: Simulated
) -> None:
    """Add up a run by days; losses become those of the real traffic."""
    size, total = len(means), len(arms)
    day = np.arange(total) * scenario.days // total
    seen = np.bincount(day * size + arms, minlength=scenario.days * size).reshape(scenario.days, size)
    best, factor = int(means.argmax()), scenario.total / (total * sqrt(simulated.scale))
    played.loss[run] = np.cumsum(seen @ (means[best] - means) * scenario.day_factors) * factor
    played.share[run] = seen[:, best] / np.maximum(seen.sum(axis=1), 1)
    _judge_leader(played, run, int(seen[-1].argmax()), means, scenario, simulated)
    leading = np.flatnonzero(played.share[run] >= LEADING_SHARE)
    played.day[run] = leading[0] + 1 if len(leading) else 0


def _judge_leader(
    played: PolicyRuns, run: int, first: int, means: Floats, scenario: Scenario, simulated: Simulated
) -> None:
    """Record whether the option that came first is the best, or not worse by the lift."""
    lift = scenario.difference * sqrt(simulated.scale)
    played.leads[run] = first == means.argmax()
    played.good[run] = means.max() - means[first] < lift


def baselines(scenario: Scenario, simulated: Simulated, split: FixedSplit) -> dict[str, PolicyRuns]:
    """Return the runs of an equal split, whose losses need no simulation, and of the first option alone."""
    played = {name: empty_runs(simulated.runs, scenario.days) for name in (FIXED_SPLIT, PRESENT_OPTION)}
    fixed, visitors = played[FIXED_SPLIT], int(split.visitors / simulated.scale)
    present = np.zeros(simulated.decisions, np.int64)
    for run in range(simulated.runs):
        means = scenario.draw(run, simulated).means
        worse = (means.max() - means).mean() / sqrt(simulated.scale)
        fixed.loss[run] = worse * scenario.visitors * np.cumsum(scenario.day_factors)
        fixed.share[run] = 1.0 / scenario.options
        first = best_observed(scenario, means, visitors, np.random.default_rng([scenario.seed, run, 3]))
        _judge_leader(fixed, run, first, means, scenario, simulated)
        record_run(played[PRESENT_OPTION], run, present, means, scenario, simulated)
        random = np.random.default_rng([scenario.seed, run, 4])
        totals = split_by_day(means, scenario, simulated, random)
        fixed.verdict[run] = first_verdict(totals, scenario.alpha, scenario.rewards.bounded)
    return played
