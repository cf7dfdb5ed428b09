"""Evidence from rewards that are matched within periods, against plain computations."""

import numpy as np
import pytest

from lowregret.analysis.matched_rewards import Matched, log_matched_evidence, match, match_all, new_matched
from lowregret.analysis.mean_differences import EFFECTS


def plain_evidence(matched, a, b):
    """Search the worst mean of each period on a grid, for each size of the difference."""
    grid, logs = np.linspace(0, 1, 20_001), np.zeros(len(EFFECTS))
    for (pulls, sums), used in zip(*matched, strict=True):
        share = (pulls[a] + 10) / (pulls[a] + pulls[b] + 20)
        pooled = (sums.sum() + 0.5) / (pulls.sum() + 1)
        rates = (sums + 10 * pooled) / (pulls + 10)
        q = share * rates[a] + (1 - share) * rates[b]
        (n_a, s_a), (n_b, s_b) = used[0, :, a, b], used[1, :, b, a]
        for place, effect in enumerate(EFFECTS):
            gap = min(effect * q * (1 - q), 0.9 * (1 - q) / (1 - share), 0.9 * q / share)
            up, down = q + (1 - share) * gap, q - share * gap
            t, u = (np.log(rate / (1 - rate) * (1 - q) / q) for rate in (up, down))
            values = t * s_a + u * s_b
            values = values - n_a * np.log1p(grid * np.expm1(t)) - n_b * np.log1p(grid * np.expm1(u))
            logs[place] += values.min()
    return np.log(np.exp(logs).mean())


def test_the_worst_means_have_a_closed_form():
    random = np.random.default_rng(1)
    for _ in range(20):
        pulls = random.integers(5, 60, (3, 1, 3)).astype(float)
        before = np.concatenate([pulls, np.floor(pulls * random.random((3, 1, 3)))], axis=1)
        counts = random.integers(0, 40, (3, 2, 1, 3, 3)).astype(float)
        used = np.concatenate([counts, np.floor(counts * random.random(counts.shape))], axis=2)
        matched = Matched(before, used)
        ours = log_matched_evidence(matched, 2, np.array([0, 1]))
        plain = [plain_evidence(matched, 2, rival) for rival in (0, 1)]
        assert ours == pytest.approx(plain, abs=1e-5)


def largest_expectation(matched, rates, steps, done=0):
    """Return the expected evidence of the last arm under the policy for which it is largest."""
    if done == steps:
        return float(np.exp(log_matched_evidence(matched, 1, np.array([0]))[0]))
    period = done * len(rates) // steps
    values = []
    for arm in range(2):
        value = 0.0
        for reward, chance in ((1.0, rates[period]), (0.0, 1 - rates[period])):
            after = Matched(matched.before, matched.used.copy())
            match(after, arm, period, reward)
            value += chance * largest_expectation(after, rates, steps, done + 1)
        values.append(value)
    return max(values)


@pytest.mark.parametrize("rates", [(0.1, 0.6), (0.5, 0.5), (0.9, 0.2)])
def test_equal_arms_have_an_expected_evidence_of_at_most_1_under_every_policy(rates):
    """All policies and rewards of six decisions in two periods, the rates of which differ."""
    matched = new_matched(2, 2)
    matched.before[:] = [[12.0, 20.0], [3.0, 8.0]]
    assert 0.9 < largest_expectation(matched, rates, 6) <= 1 + 1e-12


def test_all_rewards_at_once_are_matched_as_one_by_one():
    random = np.random.default_rng(4)
    one, all_at_once = new_matched(3, 4), new_matched(3, 4)
    for matched in (one, all_at_once):
        matched.before[:] = [
            [[40, 9, 0, 200], [4.5, 1, 0, 31]],
            [[0, 1, 2, 3], [0, 0.2, 1, 0]],
            np.ones((2, 4)),
        ]
    arms = random.choice(4, 2_000, p=[0.1, 0.6, 0.2, 0.1])
    periods, rewards = random.integers(3, size=2_000), random.random(2_000)
    for arm, period, reward in zip(arms, periods, rewards, strict=True):
        match(one, arm, period, reward)
    match_all(*all_at_once, arms, periods, rewards)
    assert 0 < one.used[:, :, 0].sum() < 3 * 2 * 2_000  # some count, others do not
    for plain, compiled in zip(one, all_at_once, strict=True):
        assert (plain == compiled).all()


def test_an_arm_with_too_many_rewards_waits_for_the_other():
    matched = new_matched(1, 2)
    matched.before[:] = [[20.0, 20.0], [10.0, 10.0]]
    for _ in range(50):
        match(matched, 0, 0, 1.0)
    assert 1 <= matched.used[0, 0, 0, 0, 1] <= 3
    for _ in range(50):
        match(matched, 1, 0, 0.0)
        match(matched, 0, 0, 1.0)
    assert matched.used[0, :, 0, 0, 1].min() > 45 and matched.used[0, :, 0, 1, 0].min() > 45
    assert not np.diagonal(matched.used, axis1=3, axis2=4).any()
