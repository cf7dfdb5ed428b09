"""Bounds of the paper, against values computed by hand and second derivations."""

from fractions import Fraction
from math import e, inf, log, log1p, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowregret.environments import paper
from lowregret.special import bernoulli_kl
from lowregret.theory.formulas import (
    corollary_1,
    elimination_round,
    finite_time_pulls,
    finite_time_regret,
    hardness,
    hardness_1,
    lai_robbins,
    last_round,
    theorem_1,
    uniform_regret,
    vacuity_note,
    worst_regret,
)

problems = st.lists(st.tuples(st.floats(0.001, 1.0), st.floats(0.0, 0.25)), min_size=1, max_size=8)


def by_rounds(gaps, variances, horizon, b, c_0, c_2):
    """Return Theorem 1 from the form its proof has before the last step: psi T D^4 = (T D^2 / K)^2.

    Case (b1) of the proof has D + 32 log(psi T D^4) / D; 320 s^2 log(T D^2 / K) / D is 5 s^2 times its second
    term. The arms are taken one by one, and b as a threshold on T D^2.
    """
    arms, total, near = len(gaps), 0.0, 0.0
    psi = horizon / arms**2
    for gap, variance in zip(gaps, variances, strict=True):
        if gap == 0.0:
            continue
        if horizon * gap**2 > horizon * b**2:
            total += c_0 * arms**4 * horizon**-0.25
            total += gap + 5.0 * variance * 32.0 * log(psi * horizon * gap**4) / gap
        else:
            total += c_2 * arms**4 * horizon**-0.25
            near = max(near, gap * horizon)
    return total + near


@given(problems, st.integers(3, 10**9), st.floats(1.0, 3.0))
def test_theorem_1_in_a_second_form(arms, horizon, factor):
    gaps, variances = [0.0, *(gap for gap, _ in arms)], [0.1, *(variance for _, variance in arms)]
    b = factor * sqrt(e / horizon)
    known, c_0, c_2 = theorem_1(gaps, variances, horizon, b)
    # Terms of both signs may cancel, so the error is measured against their size.
    squares = [horizon * gap**2 / len(gaps) for gap in gaps[1:]]
    size = sum(320 * s * abs(log(x)) / gap for (gap, s), x in zip(arms, squares, strict=True))
    for first, second in ((0, 0), (1, 1), (5888, 2944)):
        expected = by_rounds(gaps, variances, horizon, b, first, second)
        found = known + first * c_0 + second * c_2
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12 * size)


def test_theorem_1_by_hand():
    # K = 2, T = 10^4: b = sqrt(e) / 100 = 0.0165, K^4 / T^(1/4) = 16 / 10. Gap 1/2: T D^2 / K = 1250.
    known, c_0, c_2 = theorem_1([0.5, 0.0], [0.1, 0.25], 10_000)
    assert known == pytest.approx(0.5 + 64 * (log(2) + 4 * log(5)))
    assert (c_0, c_2) == (pytest.approx(1.6), 0.0)
    # A gap of 1/100 is below b, so it costs T D = 100 and C_2.
    known, c_0, c_2 = theorem_1([0.0, 0.01], [0.25, 0.25], 10_000)
    assert (known, c_0, c_2) == (pytest.approx(100.0), 0.0, pytest.approx(1.6))
    # Two such arms cost the larger gap once.
    known, c_0, c_2 = theorem_1([0.0, 0.01, 0.005], [0.25] * 3, 10_000)
    assert (known, c_2) == (pytest.approx(100.0), pytest.approx(2 * 81 / 10))


def test_theorem_1_on_the_testbeds():
    # Sums by group, with the numbers of the paper's text.
    charge = 160_000 / 60_000**0.25
    expected = 19 * (0.03 + 320 * 0.07 * 0.93 * log(60_000 * 0.0009 / 20) / 0.03)
    known, c_0, c_2 = theorem_1(paper(1).gaps, paper(1).variances, 60_000)
    assert (known, c_0, c_2) == (pytest.approx(expected), pytest.approx(19 * charge), 0.0)
    expected = 66 * (0.02 + 3.2 * log(1.2) / 0.02) + 33 * (0.08 + 80 * log(19.2) / 0.08)
    assert theorem_1(paper(2).gaps, paper(2).variances, 300_000).value == pytest.approx(expected)
    expected = 99 * 0.01 + 320 * log(0.4) / 0.01 * paper(4).variances[:99].sum()
    known, c_0, _ = theorem_1(paper(4).gaps, paper(4).variances, 400_000)
    assert known == pytest.approx(expected) and known < 0
    assert c_0 == pytest.approx(99 * 10**8 / 400_000**0.25)
    tens, rest = paper(3).variances[:10].sum(), paper(3).variances[10:99].sum()
    expected = 0.94 + 320 * (log(0.1) / 0.005 * tens + log(0.4) / 0.01 * rest)
    assert theorem_1(paper(3).gaps, paper(3).variances, 400_000).value == pytest.approx(expected)


def test_theorem_1_in_corner_cases():
    assert theorem_1([0.0], [0.25], 1) == (0.0, 0.0, 0.0)
    assert theorem_1([0.0, 0.0], [0.1, 0.2], 100) == (0.0, 0.0, 0.0)
    # No variance: only the gap is left.
    assert theorem_1([0.5, 0.0], [0.0, 0.0], 10_000).value == 0.5


def test_corollary_1():
    assert corollary_1(4, 10_000) == (80 * 200, pytest.approx(1024 / 10))
    # K^5 / T^(1/4) = sqrt(K T) at T = K^6, and only there.
    for arms in (3, 20, 100):
        known, c_3 = corollary_1(arms, arms**6)
        assert c_3 == pytest.approx(known / 80)
        assert corollary_1(arms, arms**6 // 2)[1] > corollary_1(arms, arms**6 // 2)[0] / 80
        assert corollary_1(arms, arms**6 * 2)[1] < corollary_1(arms, arms**6 * 2)[0] / 80


def plain_hardness(gaps):
    """Return H_i from its definition, in exact fractions."""
    exact = [Fraction(gap) for gap in gaps]
    smallest = min(gap for gap in exact if gap > 0)
    exact = [gap or smallest for gap in exact]
    return [float(sum(min(1 / one**2, 1 / other**2) for other in exact)) for one in exact]


@given(st.lists(st.sampled_from([0.0, 0.03, 0.1, 0.25, 0.5, 1.0]) | st.floats(1e-6, 1.0), max_size=8))
def test_hardness_is_its_definition(gaps):
    gaps = [0.0, 0.5, *gaps]
    assert hardness(gaps) == pytest.approx(plain_hardness(gaps), rel=1e-12)
    squares = [1 / gap**2 for gap in gaps if gap > 0]
    assert hardness_1(gaps) == pytest.approx(sum(squares) + (len(gaps) - len(squares)) * max(squares))


def test_hardness_of_equal_gaps_and_of_the_testbeds():
    # The paper: H_1 = H_i = K / D^2 where all gaps are equal.
    assert hardness([0.25] * 9 + [0.0]) == [160.0] * 10
    assert hardness_1(paper(1).gaps) == pytest.approx(20 / 0.0009)
    assert hardness_1(paper(2).gaps) == pytest.approx(67 / 0.0004 + 33 / 0.0064)
    assert hardness(paper(2).gaps)[70] == pytest.approx(100 / 0.0064)
    assert hardness_1(paper(3).gaps) == pytest.approx(11 / 0.000025 + 89 / 0.0001)
    assert hardness([0.0, 0.0]) == [] and hardness_1([0.0]) is None


def test_hardness_of_the_tiniest_gap_is_infinite_not_an_error():
    assert hardness([1e-200, 0.0]) == [inf, inf]


def test_lai_robbins():
    assert lai_robbins([0.5, 0.0, 0.1], [0.25, 0.0, inf]) == 2.0
    assert lai_robbins([0.0], [0.0]) == 0.0


def test_vacuous_bounds():
    gaps = np.array([0.25, 0.25, 0.0, 0.0])
    assert worst_regret(gaps, 1_000) == 250.0
    assert uniform_regret(gaps, 1_000) == 125.0
    assert vacuity_note(250.0, gaps, 1_000) == "above uniform play's regret"
    assert vacuity_note(250.1, gaps, 1_000).startswith("vacuous")
    assert vacuity_note(125.0, gaps, 1_000) == ""


def searched(gap):
    """Find m_i by linear search."""
    m = 0
    while not sqrt(4 * 2.0**-m) < gap / 4:
        m += 1
    return m


@given(st.floats(1e-6, 20.0))
def test_the_round_is_its_definition(gap):
    assert elimination_round(gap) == searched(gap)


def test_rounds_at_powers_of_two():
    # 64 / D^2 = 2^(6 + 2k) is not enough: the inequality is strict.
    for k in range(-5, 30):
        assert elimination_round(2.0**-k) == max(7 + 2 * k, 0)
    assert elimination_round(1e-200) == 1335


def test_last_round():
    for horizon in (1, 2, 3, 10, 11, 60_000, 400_000, 10**9):
        last = last_round(horizon)
        assert 4.0**last <= horizon / e < 4.0 ** (last + 1)


@pytest.mark.parametrize("arms", [2, 10, 1_000])
@pytest.mark.parametrize("information", [1e-16, 1e-6, 0.01, 0.3, 5.0, 1e6, 1e15])
def test_finite_time_pulls_solve_their_equation(arms, information):
    horizon = 10_000
    pulls = finite_time_pulls(arms, horizon, information / horizon)
    share = pulls / horizon
    assert 0 < share <= 1 / arms
    # The bound of Garivier, Menard and Stoltz for small T is weaker.
    assert share >= (1 - sqrt(2 * information)) / arms * (1 - 1e-12)
    if information >= 0.01:
        assert bernoulli_kl(share, 1 / arms) == pytest.approx(share * information, rel=1e-6)
    if information >= 1e6:  # the limit for long horizons
        assert pulls == pytest.approx(-log1p(-1 / arms) * horizon / information, rel=1e-3)


def test_finite_time_regret_of_corner_cases():
    assert finite_time_pulls(2, 100, inf) == 0.0
    assert finite_time_regret([0.0], [0.0], 100) == 0.0
    assert finite_time_regret([0.0, 0.5], [0.0, 0.0], 100) == 25.0  # no divergence: uniform play
