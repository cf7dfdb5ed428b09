"""What a fixed choice of arms would have earned, from a log with propensities.

Row i of the log has weight w_i = q(a_i) / p_i: the probability with which the judged policy chooses the arm
of the row, over that with which the logger did.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from lowregret.analysis.intervals import NEGLIGIBLE, Interval, student_factor
from lowregret.engine.state import Floats


class Estimate(NamedTuple):
    """A mean reward with its standard error, and how many rows of the log speak to it."""

    matched: int
    mean: float | None
    se: float | None

    @property
    def interval(self) -> Interval:
        """The 95% interval: Student's factor for the matched rows, times the standard error.

        There is none where the standard error is 0: rewards that are all equal, such as no click at all, do
        not tell how others would vary.
        """
        factor = student_factor(self.matched)
        if self.mean is None or self.se is None or factor is None or self.se <= NEGLIGIBLE * abs(self.mean):
            return None
        return self.mean - factor * self.se, self.mean + factor * self.se


def ips(weight: Floats, reward: Floats) -> Estimate:
    """Give the mean of w_i x_i over all rows: inverse propensity (Horvitz and Thompson 1952).

    Without bias. Its standard error is that of the mean of independent terms, s / sqrt(n).

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.offline.estimators import ips
    >>> ips(np.array([2.0, 0.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0, 1.0]))
    Estimate(matched=2, mean=0.5, se=0.5)
    """
    terms, matched = weight * reward, int((weight > 0).sum())
    se = float(terms.std(ddof=1)) / sqrt(len(terms)) if len(terms) > 1 else None
    return Estimate(matched, float(terms.mean()), se)


def snips(weight: Floats, reward: Floats) -> Estimate:
    """Give the sum of w_i x_i over the sum of w_i: self-normalised (Swaminathan and Joachims 2015).

    Its bias falls as 1 / n, it mostly spreads far less than ``ips``, and it never leaves the range of the
    rewards. The standard error is that of a ratio, sqrt(k / (k - 1) sum w_i^2 (x_i - v)^2) / sum w_i, with v
    the estimate and k the number of rows of positive weight; where these weights are equal it is s / sqrt(k).

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.offline.estimators import snips
    >>> snips(np.array([2.0, 0.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0, 1.0]))
    Estimate(matched=2, mean=0.5, se=0.5)
    """
    matched, whole = int((weight > 0).sum()), float(weight.sum())
    if matched == 0:
        return Estimate(0, None, None)
    mean = float((weight * reward).sum()) / whole
    if matched == 1:
        return Estimate(1, mean, None)
    squares = float((np.square(weight * (reward - mean))).sum())
    return Estimate(matched, mean, sqrt(matched / (matched - 1) * squares) / whole)
