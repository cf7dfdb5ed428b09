"""Bandits whose means change: constructors, strings, files, and what they refuse."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.errors import InputError

PAIR = lr.bernoulli([0.2, 0.5])


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            "piecewise: 8001=0.1,0.5; 5001=0.6,0.5",
            lr.piecewise_drift(PAIR, {5001: [0.6, 0.5], 8001: [0.1, 0.5]}),
        ),
        ("linear: means=0.6,0.5; steps=10000", lr.linear_drift(PAIR, [0.6, 0.5], 10_000)),
        (
            "sinusoidal: amplitudes=0.2; period=5000; phases=0,0.5",
            lr.sinusoidal_drift(PAIR, 0.2, 5_000, [0, 0.5]),
        ),
    ],
)
def test_strings_are_the_constructors(text, made):
    found = lr.environment(f"bernoulli:0.2,0.5 | {text}")
    assert isinstance(found, lr.DriftingBandit)
    assert found.drift == made.drift
    assert found.arms == made.arms
    assert found.name == f"bernoulli:0.2,0.5 | {text}"


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        (
            'kind = "piecewise"\nchanges = [11, 21]\nmeans = [[0.6, 0.5], [0.1, 0.5]]',
            lr.piecewise_drift(PAIR, {11: [0.6, 0.5], 21: [0.1, 0.5]}),
        ),
        ('kind = "linear"\nmeans = [0.6, 0.5]\nsteps = 100', lr.linear_drift(PAIR, [0.6, 0.5], 100)),
        (
            'kind = "sinusoidal"\namplitudes = 0.2\nperiod = 50\nphases = [0, 0.5]',
            lr.sinusoidal_drift(PAIR, 0.2, 50, [0, 0.5]),
        ),
        (
            'kind = "table"\nfile = "means.csv"\nevery = 5',
            lr.tabulated_drift(PAIR, [[0.1, 0.2], [0.3, 0.4]], 5),
        ),
        ('kind = "table"\nmeans = [[0.1, 0.2]]', lr.tabulated_drift(PAIR, [[0.1, 0.2]])),
    ],
)
def test_files_are_the_constructors(tmp_path, lines, made):
    (tmp_path / "means.csv").write_text("a,b\n0.1,0.2\n0.3,0.4\n")
    file = tmp_path / "changing.toml"
    file.write_text(f'family = "bernoulli"\nprobabilities = [0.2, 0.5]\nhorizon = 99\n[drift]\n{lines}\n')
    found = lr.environment(file)
    assert found.drift == made.drift
    assert found.arms == made.arms
    assert (found.name, found.horizon) == ("changing", 99)


def test_means_at_the_edges():
    steps = lr.piecewise_drift(PAIR, {3: [0.6, 0.5]})
    assert steps.means_at([1, 2, 3, 10**9]).tolist() == [[0.2, 0.5], [0.2, 0.5], [0.6, 0.5], [0.6, 0.5]]
    line = lr.linear_drift(PAIR, 0.9, 5)
    assert line.means_at([1, 3, 5, 6]) == pytest.approx(
        np.array([[0.2, 0.5], [0.55, 0.7], [0.9, 0.9], [0.9, 0.9]])
    )
    wave = lr.sinusoidal_drift(PAIR, [0.1, 0.2], 4, [0, 0.25])
    assert wave.means_at(1) == pytest.approx([0.2, 0.7])
    assert wave.means == pytest.approx([0.2, 0.7])
    assert wave.gaps == pytest.approx([0.5, 0.0])
    table = lr.tabulated_drift(PAIR, [[0.1, 0.2], [0.3, 0.4]], every=3)
    assert table.means_at([3, 4, 99]).tolist() == [[0.1, 0.2], [0.3, 0.4], [0.3, 0.4]]


def test_scaled_rewards_drift_alike():
    far = lr.gaussian([0, 10], 4.0)
    for drift in (
        lr.piecewise_drift(far, {50: [12, 5]}),
        lr.linear_drift(far, [12, 5], 80),
        lr.sinusoidal_drift(far, 3, 40, [0, 0.3]),
    ):
        near = drift.scaled(-10, 30)
        steps = np.arange(1, 101)
        assert near.means_at(steps) == pytest.approx((drift.means_at(steps) + 10) / 40)
        one, other = (
            lr.trace("FixedArm(1)", bandit, 100, engine="reference").reward for bandit in (drift, near)
        )
        assert other == pytest.approx((one + 10) / 40)


def test_the_support_covers_all_steps():
    assert lr.piecewise_drift(PAIR, {9: [0.9, 0.1]}).support == (0.0, 1.0)
    shifted = lr.linear_drift(lr.uniform([0.0, 0.2], [0.4, 0.6]), [0.3, 0.3], 10)
    assert shifted.support == pytest.approx((0.0, 0.6))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lr.piecewise_drift(PAIR, {1: [0.1, 0.2]}), "a change must be an integer of at least 2"),
        (lambda: lr.piecewise_drift(PAIR, {}), "changes must be steps with their means"),
        (lambda: lr.piecewise_drift(PAIR, {5: [0.1]}), "means must be 2 numbers, one for each arm, got 1"),
        (lambda: lr.piecewise_drift(PAIR, {5: [0.1, 1.2]}), r"must stay in \[0, 1\], got 1.2 for arm 1"),
        (lambda: lr.piecewise_drift("bernoulli:0.1,0.2", {5: [0.1, 0.2]}), "bandit must be a Bandit"),
        (lambda: lr.linear_drift(PAIR, [0.1, 0.2], 1), "steps must be an integer of at least 2, got 1"),
        (lambda: lr.linear_drift(PAIR, [0.1, float("nan")], 9), "must be a finite number up to 1e150"),
        (lambda: lr.sinusoidal_drift(PAIR, 0.3, 10), r"must stay in \[0, 1\], got -0.1 for arm 0"),
        (lambda: lr.sinusoidal_drift(PAIR, 0.1, 0), "period must be positive and finite, got 0"),
        (lambda: lr.tabulated_drift(PAIR, []), "means must be a row of numbers for each step"),
        (lambda: lr.tabulated_drift(PAIR, [[0.1, 0.2], [0.1]]), "row 1 of the means must be 2 numbers"),
        (lambda: lr.linear_drift(lr.linear_drift(PAIR, 0.1, 9), 0.2, 9), "drifts already"),
        (lambda: lr.linear_drift(PAIR, 0.1, 9) + PAIR, "join the bandits first"),
        (lambda: lr.linear_drift(PAIR, 0.1, 9).sample(0, 3), "depend on the step, use trace"),
        (lambda: lr.linear_drift(PAIR, 0.1, 9).means_at(0), "integers of at least 1, got 0"),
        (lambda: lr.bounds(lr.linear_drift(PAIR, 0.1, 9), 100), "change, and no bound is known"),
        (lambda: lr.to_gymnasium(lr.linear_drift(PAIR, 0.1, 9)), "change, which it does not support"),
        (lambda: lr.environment("bernoulli:0.1,0.2 | lines: 3"), "unknown drift 'lines'"),
        (lambda: lr.environment("bernoulli:0.1,0.2 | linear"), "linear: give its parameters, as in"),
        (lambda: lr.environment("bernoulli:0.1,0.2 | linear: 0.3,0.4"), "parameters must be written as in"),
        (lambda: lr.environment("bernoulli:0.1,0.2 | linear: means=0.3"), "linear: steps is missing"),
        (lambda: lr.environment("bernoulli:0.1,0.2 | linear: means=0.3; steps=9; on=1"), "unknown key 'on'"),
        (lambda: lr.environment("bernoulli:0.1,0.2 | linear: means=x; steps=9"), "must be numbers, got 'x'"),
        (lambda: lr.environment("bernoulli:0.1,0.2 | piecewise: a=0.3"), "must be an integer, got 'a'"),
        (lambda: lr.environment("bernoulli:0.1,0.2 | table: file=none.csv"), "cannot read 'none.csv'"),
    ],
)  # fmt: skip
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message) as found:
        make()
    assert "\n" not in str(found.value)
