"""The test whether rewards move between periods: its bound, its level, and what it conditions on."""

from math import log

import numpy as np
import pytest

from lowregret.analysis import period_variation
from lowregret.analysis.period_variation import log_evidence


def mixture(counts, totals, means, scale, nodes=40):
    """Compute the mixture of one arm and two periods for some means, by quadrature over its three tilts."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    tilts = scale * (points[:, None] + points)  # of the arm, of a period
    logs = tilts * totals[:, None, None, None] - counts[:, None, None, None] * np.log1p(
        means[:, None, None] * np.expm1(tilts)
    )
    of_periods = np.exp(logs) @ weights  # by period, mean and tilt of the arm
    return np.log(of_periods.prod(axis=0) @ weights)


@pytest.mark.parametrize("totals", [(10.0, 10.0), (6.0, 25.0), (2.5, 0.0)])
def test_it_is_a_bound_of_the_smallest_mixture(totals, monkeypatch):
    counts = np.array([80.0, 90.0])
    exact = {
        scale: mixture(counts, np.array(totals), np.linspace(0.01, 0.5, 60), scale).min()
        for scale in (0.2, 0.8)
    }
    for scale, least in exact.items():
        monkeypatch.setattr(period_variation, "SCALES", np.array([[scale]]))
        assert least - 0.35 < log_evidence(counts[None], np.array([totals])) <= least + 1e-3


@pytest.mark.parametrize("steps", [1, 2])
def test_it_holds_before_the_steps_have_converged(steps, monkeypatch):
    counts, totals = np.random.default_rng(1).integers(50, 90, (4, 9)), np.full((4, 9), 10.0)
    totals[:, 5:7] = 30.0
    converged = log_evidence(counts.astype(float), totals)
    monkeypatch.setattr(period_variation, "NEWTON_STEPS", steps)
    assert log_evidence(counts.astype(float), totals) <= converged + 1e-6


def played(rng, rates, factors, visitors, rewards):
    """Play a greedy policy that changes its mind at every visitor; return counts and totals."""
    counts, totals = np.zeros((2, len(rates), len(factors)))
    for day, factor in enumerate(factors):
        for _ in range(visitors):
            pulls = counts.sum(axis=1)
            arm = int((np.where(pulls, totals.sum(axis=1) / np.maximum(pulls, 1), 1.0)).argmax())
            counts[arm, day] += 1
            totals[arm, day] += rewards(rng, min(rates[arm] * factor, 1.0))
    return counts, totals


REWARDS = [lambda rng, rate: rng.random() < rate, lambda rng, rate: rng.beta(rate, 1.0 - rate)]


@pytest.mark.parametrize("rewards", REWARDS, ids=["binary", "beta"])
def test_false_alarms_and_the_mean_of_the_evidence(rewards):
    rng, ends, alarms, runs = np.random.default_rng(2), [], 0, 200
    for _ in range(runs):
        counts, totals = played(rng, [0.3, 0.3, 0.4], [1.0] * 5, 30, rewards)
        evidence = [np.exp(log_evidence(counts[:, :day], totals[:, :day])) for day in range(2, 6)]
        ends.append(evidence[-1])
        alarms += max(evidence) >= 20.0
    assert alarms <= 0.05 * runs
    assert np.mean(ends) < 1.0 + 4.0 * np.std(ends) / runs**0.5


def test_it_notices_what_all_arms_do_and_not_a_change_of_their_mix():
    days = np.arange(14)
    counts = np.stack([np.where(days % 7 < 5, 700.0, 300.0), np.where(days % 7 < 5, 300.0, 700.0)])
    rates = np.array([[0.10], [0.15]])
    assert log_evidence(counts, counts * rates) < 0.0  # though 0.115 and 0.135 are the pooled rates
    weekends = np.where(days % 7 < 5, 0.88, 1.3)
    assert log_evidence(counts, counts * rates * weekends) > log(20.0)
    assert log_evidence(counts[:, :1], counts[:, :1] * rates) == 0.0  # one day tells nothing


def test_extremes_are_finite():
    ones = np.ones((2, 3))
    for counts, totals in (
        (1e7 * ones, 0.0 * ones),
        (1e7 * ones, 1e7 * ones),
        (ones, ones),
        (ones, 0.0 * ones),
    ):
        assert log_evidence(counts, totals) < 1.0
    assert log_evidence(np.zeros((2, 0)), np.zeros((2, 0))) == 0.0
