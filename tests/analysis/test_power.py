"""Numbers of runs, against SciPy's noncentral t law."""

from math import sqrt

import pytest
from scipy import stats

from lowregret.analysis.power import power, runs_needed
from lowregret.errors import InputError


def exact(runs: int, effect: float, alpha: float = 0.05) -> float:
    limit, law = stats.t.isf(alpha / 2, runs - 1), stats.nct(runs - 1, effect * sqrt(runs))
    return law.sf(limit) + law.cdf(-limit)


@pytest.mark.parametrize("runs", [2, 3, 5, 20, 200, 5000])
@pytest.mark.parametrize("shift", [0.3, 2.0, 5.0])
def test_the_power_is_that_of_the_noncentral_law(runs: int, shift: float) -> None:
    effect = shift / sqrt(runs)
    assert power(runs, effect) == pytest.approx(exact(runs, effect), abs=1e-7)
    assert power(runs, -effect) == power(runs, effect)


def test_without_an_effect_the_power_is_alpha() -> None:
    assert power(10, 0.0, alpha=0.03) == pytest.approx(0.03)


@pytest.mark.parametrize("effect", [0.01, 0.2, 0.5, 1.0, 3.0])
def test_the_number_of_runs_is_the_first_with_the_power(effect: float) -> None:
    runs = runs_needed(2.0 * effect, 2.0)
    assert exact(runs, effect) >= 0.8
    assert exact(runs - 1, effect) < 0.8


def test_corners() -> None:
    assert runs_needed(0.0, 1.0) is None
    assert runs_needed(0.0, 0.0) is None
    assert runs_needed(1e-17, 1.0) is None  # of equal means, rounded
    assert runs_needed(1.0, 0.0) == runs_needed(1.0, 1e-9) == 6
    assert runs_needed(-5, 10) == runs_needed(5, 10) == 34
    assert runs_needed(1e-6, 1.0) == pytest.approx(7.85e12, rel=0.001)
    assert runs_needed(3e-10, 1.0) is runs_needed(1e-300, 1e6) is None  # no 64-bit integer can hold them


@pytest.mark.parametrize(("arguments", "told"), [((1, -1), "-1"), ((1, 1, 0.9, 0.8), "0.9 and 0.8")])
def test_bad_input(arguments: tuple[float, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        runs_needed(*arguments)
