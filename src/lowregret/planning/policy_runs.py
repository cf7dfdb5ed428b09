"""The runs of a plan, by days: those of a policy, of a fixed split, and of the present option."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.planning.assumptions import Assumptions, Simulated
from lowregret.planning.fixed_split import FixedSplit, best_observed
from lowregret.planning.verdict_days import first_verdict, split_by_day

SPLIT = "fixed split"
"""The name of the fixed split beside those of the policies."""
PRESENT = "present option"
"""The name of making no experiment: every visitor sees the first option."""
LEADING_SHARE = 0.8
"""The share of the traffic with which the best option counts as found."""


@dataclass(frozen=True)
class PolicyRuns:
    """The runs of one policy; a column of ``loss`` and ``share`` is a day.

    ``loss`` is what was lost up to the end of the day, ``share`` the share of the day's visitors that saw the
    best option. ``leads`` says whether it was seen most on the last day, ``good`` whether the option that was
    is worse by less than the lift; ``day`` is the first one with 80% for the best option, 0 for none, and
    ``verdict`` the first one with a verdict.
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
    """Return room for runs."""
    shape = runs, days
    leads, good, day, verdict = np.zeros((4, runs), np.int64)
    return PolicyRuns(np.zeros(shape), np.zeros(shape), leads, good, day, verdict)


def record(
    played: PolicyRuns, run: int, arms: Integers, means: Floats, scenario: Assumptions, simulated: Simulated
) -> None:
    """Add up a run by days; losses become those of the real traffic."""
    size, total = len(means), len(arms)
    day = np.arange(total) * scenario.days // total
    seen = np.bincount(day * size + arms, minlength=scenario.days * size).reshape(scenario.days, size)
    best, factor = int(means.argmax()), scenario.total / (total * sqrt(simulated.scale))
    played.loss[run] = np.cumsum(seen @ (means[best] - means) * scenario.day_factors) * factor
    played.share[run] = seen[:, best] / np.maximum(seen.sum(axis=1), 1)
    _judge(played, run, int(seen[-1].argmax()), means, scenario, simulated)
    leading = np.flatnonzero(played.share[run] >= LEADING_SHARE)
    played.day[run] = leading[0] + 1 if len(leading) else 0


def _judge(
    played: PolicyRuns, run: int, first: int, means: Floats, scenario: Assumptions, simulated: Simulated
) -> None:
    """Record whether the option that came first is the best, or not worse by the lift."""
    lift = scenario.difference * sqrt(simulated.scale)
    played.leads[run] = first == means.argmax()
    played.good[run] = means.max() - means[first] < lift


def baselines(scenario: Assumptions, simulated: Simulated, split: FixedSplit) -> dict[str, PolicyRuns]:
    """Return the runs of an equal split, whose losses need no simulation, and of the first option alone."""
    played = {name: empty_runs(simulated.runs, scenario.days) for name in (SPLIT, PRESENT)}
    fixed, visitors = played[SPLIT], int(split.visitors / simulated.scale)
    present = np.zeros(simulated.decisions, np.int64)
    for run in range(simulated.runs):
        means = scenario.draw(run, simulated).means
        worse = (means.max() - means).mean() / sqrt(simulated.scale)
        fixed.loss[run] = worse * scenario.visitors * np.cumsum(scenario.day_factors)
        fixed.share[run] = 1.0 / scenario.options
        first = best_observed(scenario, means, visitors, np.random.default_rng([scenario.seed, run, 3]))
        _judge(fixed, run, first, means, scenario, simulated)
        record(played[PRESENT], run, present, means, scenario, simulated)
        random = np.random.default_rng([scenario.seed, run, 4])
        known = split_by_day(means, scenario, simulated, random)
        fixed.verdict[run] = first_verdict(known, scenario.alpha, scenario.sd is None)
    return played
