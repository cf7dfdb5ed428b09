"""Estimates of the mean reward of a fixed choice of arms, from a log with propensities.

Row i of the log has weight w_i = q(a_i) / p_i: the probability with which the evaluated policy chooses the
arm of the row, over that with which the logging policy did. The logging policy may learn: given the rows
before, the terms of ``ips`` and ``doubly_robust`` have the policy's value as their mean, whatever it does.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.analysis.intervals import NEGLIGIBLE, Interval, student_factor


class Estimate(NamedTuple):
    """A mean reward with its standard error, and the number of rows of the log that it uses."""

    matched: int
    mean: float | None
    se: float | None

    @property
    def interval(self) -> Interval:
        """The 95% interval: Student's factor times the standard error; None where that is 0."""
        factor = student_factor(self.matched)
        if self.mean is None or self.se is None or factor is None or self.se <= NEGLIGIBLE * abs(self.mean):
            return None
        return self.mean - factor * self.se, self.mean + factor * self.se


def ips(weight: Floats, reward: Floats) -> Estimate:
    """Return the mean of w_i x_i over all rows: inverse propensity (Horvitz and Thompson 1952)."""
    return _mean_of(weight * reward, weight)


def snips(weight: Floats, reward: Floats) -> Estimate:
    """Return the sum of w_i x_i over the sum of w_i: self-normalized (Swaminathan and Joachims 2015).

    The standard error is that of a ratio, sqrt(k / (k - 1) sum w_i^2 (x_i - v)^2) / sum w_i, with v the
    estimate and k the number of rows of positive weight.
    """
    matched, total = int((weight > 0).sum()), float(weight.sum())
    if matched == 0:
        return Estimate(0, None, None)
    mean = float((weight * reward).sum()) / total
    if matched == 1:
        return Estimate(1, mean, None)
    squares = float((np.square(weight * (reward - mean))).sum())
    return Estimate(matched, mean, sqrt(matched / (matched - 1) * squares) / total)


def doubly_robust(shares: Floats, arm: Integers, propensity: Floats, reward: Floats) -> Estimate:
    """Return the mean of sum_a q(a) m_a + w_i (x_i - m_(a_i)): doubly robust (Dudik, Langford and Li 2011).

    m_a is the mean of arm a in the rows before i, or that of the whole log where a is not among them.
    ``shares`` are the probabilities q of the arms.
    """
    order = np.argsort(arm, kind="stable")
    sums, first = np.cumsum(reward[order]) - reward[order], np.flatnonzero(np.diff(arm[order], prepend=-1))
    start = np.repeat(first, np.diff(first, append=len(arm)))
    count, total = np.empty((2, len(arm)))  # of the earlier rows of the same arm
    count[order], total[order] = np.arange(len(arm)) - start, sums - sums[start]
    before = np.where(count > 0, total / np.maximum(count, 1), reward.mean())
    change = shares[arm] * ((total + reward) / (count + 1) - before)
    predicted = shares.sum() * reward.mean() + np.cumsum(change) - change
    weight = shares[arm] / propensity
    estimate, rewards = _mean_of(predicted + weight * (reward - before), weight), reward[weight > 0]
    varies = len(rewards) > 0 and rewards.min() < rewards.max()
    return estimate if varies else Estimate(estimate.matched, estimate.mean, None)


def _mean_of(terms: Floats, weight: Floats) -> Estimate:
    """Return the mean of terms; its standard error is that of independent terms."""
    se = float(terms.std(ddof=1)) / sqrt(len(terms)) if len(terms) > 1 else None
    return Estimate(int((weight > 0).sum()), float(terms.mean()), se)
