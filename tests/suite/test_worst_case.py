"""The search for a worst case: what it finds is real, repeatable, and worse than a random problem."""

from math import sqrt

import numpy as np
import pytest

import lowregret as lr
from lowregret.suite.worst_case import Candidate, _draw, _vary


@pytest.fixture(scope="module")
def found():
    return lr.worst_case(lr.MOSS(), horizon=1_000, arms=(2, 5), starts=12, runs=200, seed=3)


def test_the_ratio_is_that_of_the_bandit(found):
    regret = lr.simulate(lr.MOSS(), found.bandit, found.horizon, runs=400, seed=99).regret("MOSS")
    ratios = regret / sqrt(len(found.bandit) * found.horizon)
    error = sqrt(found.se**2 + ratios.var() / len(ratios))
    assert abs(ratios.mean() - found.ratio) < 4 * error
    assert found.worst05 > found.ratio


def test_it_is_worse_than_most_random_problems(found):
    rng = np.random.default_rng(8)
    means = []
    for k in range(20):
        problem = _draw(rng, (2, 5)[k % 2], 1_000)
        regret = lr.simulate(lr.MOSS(), problem.bandit(), 1_000, runs=50, seed=5).regret("MOSS")
        means.append(regret.mean() / sqrt(problem.arms * 1_000))
    assert found.ratio > np.quantile(means, 0.9)


def test_greedy_play_is_worse_than_moss(found):
    greedy = lr.worst_case(
        lr.EpsilonGreedy(epsilon=0), horizon=1_000, arms=(2, 5), starts=12, runs=200, seed=3
    )
    assert greedy.ratio > 1.5 * found.ratio


def test_a_search_is_repeatable_and_reports_progress(found):
    seen = []
    again = lr.worst_case(
        "MOSS",
        horizon=1_000,
        arms=[2, 5],
        starts=12,
        runs=200,
        seed=3,
        threads=1,
        progress=seen.append,
    )
    assert again.candidates.equals(found.candidates)
    assert seen[-1].done == seen[-1].total == len(seen)
    assert "sqrt(K T)" in str(again)


def test_a_problem_has_the_moments_it_states():
    bandit = Candidate(6, 0.6, 0.1, 2, 0.3, 0.04, 1.0).bandit()
    assert bandit.means.tolist() == pytest.approx([0.3, 0.3, 0.3, 0.5, 0.5, 0.6])
    assert bandit.variances.tolist() == pytest.approx([0.21, 0.21, 0.21, 0.25, 0.25, 0.04 * 0.24])


@pytest.mark.parametrize("arms", [2, 100])
def test_random_problems_are_valid(arms):
    rng = np.random.default_rng(1)
    problem = _draw(rng, arms, 300)
    for _ in range(300):
        problem = _vary(rng, problem, 3.0)
        bandit = problem.bandit()
        assert len(bandit) == arms
        assert bandit.best == arms - 1
        assert bandit.support[0] >= 0 and bandit.support[1] <= 1


@pytest.mark.parametrize("given", [{"arms": 1}, {"runs": 0}, {"starts": 0}, {"horizon": 0}])
def test_bad_input(given):
    with pytest.raises(lr.InputError, match=f"worst_case: {next(iter(given))} must be"):
        lr.worst_case("MOSS", **given)
