"""The paper's testbeds, against the numbers in its text."""

import numpy as np
import pytest

from lowregret.environments import Bernoulli, Gaussian, paper
from lowregret.errors import InputError


@pytest.mark.parametrize(
    ("number", "arms", "horizon", "best_mean"),
    [
        (1, 20, 60_000, 0.1),
        (2, 100, 300_000, 0.09),
        (3, 100, 400_000, 0.05),
        (4, 100, 400_000, 0.1),
    ],
)
def test_sizes(number: int, arms: int, horizon: int, best_mean: float) -> None:
    bandit = paper(number)
    assert (bandit.name, len(bandit), bandit.horizon) == (f"paper-{number}", arms, horizon)
    assert bandit.best == arms - 1
    assert bandit.means[-1] == best_mean
    assert bandit.optimal.sum() == 1


def test_first_is_bernoulli() -> None:
    assert paper(1).arms == (Bernoulli(0.07),) * 19 + (Bernoulli(0.1),)


def test_second_has_three_groups_of_means() -> None:
    groups = (Gaussian(0.07, 0.01),) * 66 + (Gaussian(0.01, 0.25),) * 33 + (Gaussian(0.09, 0.25),)
    assert paper(2).arms == groups


def test_third_has_a_noisy_best_arm() -> None:
    bandit = paper(3)
    assert bandit.arms[:10] == (Gaussian(0.045, 0.01),) * 10
    assert bandit.arms[-1] == Gaussian(0.05, 0.25)
    assert set(bandit.means[10:99]) == {0.04}
    drawn = bandit.variances[10:99]
    assert drawn.min() >= 0.2 and drawn.max() <= 0.24
    assert len(set(drawn)) == 89


def test_fourth_has_three_groups_of_variances() -> None:
    bandit = paper(4)
    assert set(bandit.means[:99]) == {0.09}
    quiet, loud = bandit.variances[:49], bandit.variances[49:99]
    assert quiet.min() >= 0.0 and quiet.max() <= 0.05
    assert loud.min() >= 0.19 and loud.max() <= 0.24
    assert len({*quiet, *loud}) == 99
    assert bandit.arms[-1] == Gaussian(0.1, 0.25)


def test_drawn_variances_never_change() -> None:
    assert paper(3) == paper(3)
    pinned = {
        3: (0.23345350009328297, 0.23716652456242188, 19.849836423934892),
        4: (0.03805003182269306, 0.22884552616133746, 12.073523567237656),
    }
    for number, (first, last, total) in pinned.items():
        variances = paper(number).variances
        np.testing.assert_allclose([variances[10], variances[98]], [first, last], rtol=1e-15)
        assert variances.sum() == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize("number", [0, 5, -1, True, 1.0, "1", None, [1]])
def test_refusals(number: object) -> None:
    with pytest.raises(InputError, match=r"^paper: number must be 1, 2, 3 or 4, got "):
        paper(number)  # type: ignore[arg-type]
