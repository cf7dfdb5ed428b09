"""Whether a number agrees with a published one: a test of equivalence within a margin.

Three rules, each of which prevents a false verdict:

1. *The larger spread counts.* The errors of both means are by the standard deviation of our runs or by the
   published one, whichever is larger: a heavy tail that did not occur shows no spread.
2. *A joint level.* A difference is one at a level of 5% for all numbers together that share it (Bonferroni).
3. A published number can be too imprecise to decide, whatever our runs are.

A number is *matched* if the 90% interval of the difference lies within the margin: two one-sided tests of
level 5%. It is *not matched* if the joint 95% interval lies outside. Intervals contain the errors of both
numbers and the rounding.
"""

from collections.abc import Sequence
from math import ceil, inf, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.analysis.comparison import INCONCLUSIVE

MATCHED, NOT_MATCHED, TOO_IMPRECISE = "matched", "not matched", "published too imprecise"
VERDICTS = (MATCHED, NOT_MATCHED, INCONCLUSIVE, TOO_IMPRECISE)

TEST_LEVEL = 0.05
"""The level of each one-sided test of equivalence, and of all tests of a difference together."""
MIN_RUNS_OF_SD = 50
"""With fewer normal values, a standard deviation is called different in more than 5% of cases."""
ONE_SIDED, BOTH_TESTS = 1.645, 1.282
"""Normal quantiles: of a one-sided test, and of two tests that both succeed in 8 of 10 cases."""


class RunEstimate(NamedTuple):
    """A number that was estimated from runs."""

    value: float
    se: float  # nan of one run, infinite of a quantile or an ``sd`` that has too few
    spread: float  # of one run: the mean of n runs has an error of spread / sqrt(n)
    runs: int
    freedom: int  # degrees of freedom of the standard error


class Agreement(NamedTuple):
    """A published number beside ours; differences are in percent of the published one."""

    runs: int
    published_se: float
    mean: float
    se: float
    percent: float
    low: float  # the 90% interval
    high: float
    within: float  # its larger end
    beyond: float  # the smaller end of the joint 95% interval
    reach: float  # the least larger end that more of our runs can give, by the 90% interval of our number


def estimate(values: Floats, statistic: str = "mean") -> RunEstimate:
    """Estimate the mean, the standard deviation ``sd``, or a quantile such as ``q95``, with its error."""
    runs, mean = len(values), float(values.mean())
    spread = float(values.std(ddof=1)) if runs > 1 else nan
    if statistic == "sd" and runs > 1:  # by the fourth moment, of which few runs say nothing
        fourth = float(((values - mean) ** 4).mean()) - float(values.var()) ** 2
        error = sqrt(max(fourth, 0.0)) / (2.0 * spread) if spread else 0.0
        mean, spread = spread, error if runs >= MIN_RUNS_OF_SD else inf
    elif statistic.startswith("q"):
        share = float(statistic[1:]) / 100.0
        ordered, half = np.sort(values), 2.0 * sqrt(share * (1.0 - share) * runs)
        low, high = int(share * runs - half), int(share * runs + half)
        few = low < 1 or high >= runs  # order statistics two standard errors away
        mean = float(np.quantile(values, share))
        spread = inf if few else float(ordered[high] - ordered[low - 1]) / 4.0 * sqrt(runs)
    return RunEstimate(mean, spread / sqrt(runs), spread, runs, runs - 1)


def compare_published(
    ours: RunEstimate,
    published: float,
    runs: int,
    *,
    sd: float | None = None,
    rounding: float = 0.0,
    noise: float = 0.0,
    numbers: int = 1,
) -> Agreement:
    """Compare a number with a published one, the mean of so many runs.

    ``sd`` is the published standard deviation of a run, and ``noise`` the variance that the published runs
    have beyond ours; ``numbers`` share the joint level.
    """
    from scipy.special import stdtrit

    spread, se = sqrt(ours.spread**2 + noise), ours.se
    if sd is not None:
        spread, se = max(sd, spread), max(se, sqrt(max(sd * sd - noise, 0.0) / ours.runs))
    if not isfinite(ours.se):
        spread = se = nan
    published_se = spread / sqrt(runs)
    error = sqrt(se * se + published_se * published_se)
    one, joint = (
        stdtrit(max(ours.freedom, 1), 1.0 - level) for level in (TEST_LEVEL, TEST_LEVEL / (2 * numbers))
    )
    scale = 100.0 / abs(published)
    # A sum of equal gaps differs from their product in the last bits.
    percent = round((ours.value - published) * scale, 9)
    errors = ((one, error), (joint, error), (one, published_se), (one, se))
    half, whole, published_half, own_half = (z * quantity_error * scale for z, quantity_error in errors)
    rounded, size = rounding * scale, abs(percent)
    reach = max(size - own_half, 0.0) + published_half + rounded
    return Agreement(
        *(ours.runs, round(published_se, 9), round(ours.value, 9), round(se, 9), percent),
        *(percent - half - rounded, percent + half + rounded, size + half + rounded),
        *(size - whole - rounded, reach),
    )  # fmt: skip


def judge_agreement(points: Sequence[Agreement], margin: float) -> str:
    """Return the verdict on a number, or on a curve: matched at all points, or not matched at one."""
    if all(point.within <= margin for point in points):
        return MATCHED
    if any(point.beyond > margin for point in points):
        return NOT_MATCHED
    return TOO_IMPRECISE if any(point.reach > margin for point in points) else INCONCLUSIVE


def runs_to_decide(point: Agreement, published: float, rounding: float, margin: float) -> int | None:
    """Return how many runs of ours find an agreement in 8 of 10 cases, if the two numbers agree.

    It is None where the published number is too imprecise for this, and where our error is not known.
    """
    allowed = (margin / 100.0 * abs(published) - rounding) / (ONE_SIDED + BOTH_TESTS)
    variance = allowed * abs(allowed) - point.published_se**2
    decidable = isfinite(point.se) and variance > 0.0
    return max(2, ceil(point.runs * point.se**2 / variance)) if decidable else None
