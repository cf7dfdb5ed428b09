"""Estimates of the mean reward of a fixed choice of arms, from a log with propensities.

Row i of the log has weight w_i = q(a_i) / p_i: the probability with which the evaluated policy chooses the
arm of the row, over that with which the logging policy did.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from lowregret.analysis.intervals import NEGLIGIBLE, Interval, student_factor
from lowregret.engine.state import Floats


class Estimate(NamedTuple):
    """A mean reward with its standard error, and the number of rows of the log that it uses."""

    matched: int
    mean: float | None
    se: float | None

    @property
    def interval(self) -> Interval:
        """The 95% interval: Student's factor for the matched rows, times the standard error.

        None where the standard error is 0: rewards that are all equal, such as no click at all, say nothing
        about how others would vary.
        """
        factor = student_factor(self.matched)
        if self.mean is None or self.se is None or factor is None or self.se <= NEGLIGIBLE * abs(self.mean):
            return None
        return self.mean - factor * self.se, self.mean + factor * self.se


def ips(weight: Floats, reward: Floats) -> Estimate:
    """Return the mean of w_i x_i over all rows: inverse propensity (Horvitz and Thompson 1952).

    It is unbiased. Its standard error is that of the mean of independent terms, s / sqrt(n).
    """
    terms, matched = weight * reward, int((weight > 0).sum())
    se = float(terms.std(ddof=1)) / sqrt(len(terms)) if len(terms) > 1 else None
    return Estimate(matched, float(terms.mean()), se)


def snips(weight: Floats, reward: Floats) -> Estimate:
    """Return the sum of w_i x_i over the sum of w_i: self-normalized (Swaminathan and Joachims 2015).

    Its bias falls as 1 / n, its variance is mostly far smaller than that of ``ips``, and it never leaves the
    range of the rewards. The standard error is that of a ratio, sqrt(k / (k - 1) sum w_i^2 (x_i - v)^2) /
    sum w_i, with v the estimate and k the number of rows of positive weight; where these weights are equal it
    is s / sqrt(k).
    """
    matched, total = int((weight > 0).sum()), float(weight.sum())
    if matched == 0:
        return Estimate(0, None, None)
    mean = float((weight * reward).sum()) / total
    if matched == 1:
        return Estimate(1, mean, None)
    squares = float((np.square(weight * (reward - mean))).sum())
    return Estimate(matched, mean, sqrt(matched / (matched - 1) * squares) / total)
