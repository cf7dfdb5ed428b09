"""What refutes Theorem 1, and the order sqrt(K T) of the abstract."""

from math import log, sqrt

import pytest

import lowregret as lr
from lowregret.reproductions.sheet import paper_function
from lowregret.theory.formulas import C_0

first_steps = paper_function("eucbv", "counterexample:first_steps")

EUCBV = "EUCBV"


def lower_bound(horizon: int, gap: float, d: float, steps: int, pulls: int) -> float:
    """Return what docs/explanation/theory.md derives for the pulls of the worse arm, from its own end.

    At the last pull of the optimal arm its index was the largest, so c_i <= gap + 2 d + c_*. It had
    steps - pulls - 1 pulls or more then, and the logarithm was at least that of the last round.
    """
    policy, now = lr.EUCBV(), 0
    round = policy.first_round(lr.Clock(0, horizon, 2, 0.0, 0.0))
    while round.until <= steps:
        now = round.until
        round = policy.after(round, now, 2)
    best = sqrt((2.0 + d * d) * round.width / (8.0 * (steps - pulls - 1)))
    return round.width / (4.0 * (gap + 2.0 * d + best) ** 2)


@pytest.mark.parametrize(
    ("horizon", "pulls", "bound"), [(10**12, 1_011, 94.308), (10**14, 1_202, 29.891), (10**20, 1_770, 1.042)]
)
def test_two_arms_without_noise_exceed_the_bound(horizon, pulls, bound):
    result = first_steps(horizon)
    assert (result.pulls, result.bound) == (pulls, pytest.approx(bound, abs=0.001))
    assert result.regret == pytest.approx(0.1 * pulls)
    assert result.regret > result.bound == pytest.approx(C_0 * 16 / horizon**0.25 + 0.1)
    assert lower_bound(horizon, 0.1, 0.0, 300_000, pulls) <= pulls


def test_so_do_arms_with_little_noise():
    """The pulls are at least those that hold for all rewards, and these exceed the bound too."""
    result = first_steps(10**20, d=0.02)
    assert result.bound == pytest.approx(C_0 * 16e-5 + 0.1 + 320 * 0.02**2 * log(10**18 / 2) / 0.1)
    least = lower_bound(10**20, 0.1, 0.02, 300_000, result.pulls)
    assert result.bound < 0.1 * least < result.regret


@pytest.mark.parametrize("gap", [0.1, 0.9])
def test_the_plain_steps_are_those_of_the_simulator(gap):
    bandit = lr.gaussian([0.5 + gap, 0.5], 0.0)
    run = lr.simulate(EUCBV, bandit, 20_000, runs=1, grid=1)[EUCBV]
    assert first_steps(20_000, gap, steps=20_000).pulls == run.pulls[0, 1]
    assert (run.eliminated[0, 1] > 0) == (gap == 0.9)


@pytest.mark.parametrize(
    ("exponent", "f", "expected"), [(3, 1, 0.540), (4, 1.5, 0.693), (5, 1.5, 0.800), (6, 1.75, 0.897)]
)
def test_without_noise_the_regret_grows_faster_than_sqrt_of_k_t(exponent, f, expected):
    arms, horizon = 10, 10**exponent
    bandit = lr.gaussian([0.5 + f * sqrt(arms / horizon)] + [0.5] * (arms - 1), 0.0)
    regret = lr.simulate(EUCBV, bandit, horizon, runs=1, grid=1).regret(EUCBV)[0]
    assert regret / sqrt(arms * horizon) == pytest.approx(expected, abs=5e-4)
