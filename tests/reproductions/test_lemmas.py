"""Lemma 3 and the bound on the elimination of the optimal arm, against their definitions."""

from math import ceil, e, log, log2, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowregret.environments import paper
from lowregret.reproductions.sheet import paper_function
from lowregret.theory.formulas import elimination_round, last_round

elimination_bound = paper_function("eucbv", "lemmas:elimination_bound")
lemma_3 = paper_function("eucbv", "lemmas:lemma_3")


def test_no_round_of_the_proof_is_reached_on_the_testbeds():
    for number in (1, 2, 3, 4):
        bandit = paper(number)
        gaps = set(bandit.gaps[bandit.gaps > 0].tolist())
        assert all(elimination_round(gap) > last_round(bandit.horizon) + 1 for gap in gaps)
        # m_i <= M would need about T > 64^2 e / D^4.
        assert all(bandit.horizon < 4096 * e / gap**4 for gap in gaps)


def test_lemma_3_by_hand():
    # D = 1/2: round 9, eps = 1/512. K = 2, T = 2^10: psi T eps = 2^18 / 2^9 = 2^9.
    lemma = lemma_3(0.5, 2, 1024)
    assert lemma.round == 9
    assert lemma.logarithm == pytest.approx(9 * log(2))
    assert lemma.pulls == ceil(9 * log(2) * 256)
    assert lemma.bound == pytest.approx(2 / 2**6.75)
    # In the form of the paper's exponent 3 rho / 2.
    assert lemma_3(0.03, 20, 60_000).bound == pytest.approx(2 / (60_000**2 / 400 / 2**17) ** (3 * 0.5 / 2))


def test_lemma_3_does_not_apply_to_a_short_horizon():
    # psi T eps = (T / K)^2 / 512.
    assert lemma_3(0.5, 2, 45) is None
    assert lemma_3(0.5, 2, 46) is not None
    assert lemma_3(1e-200, 2, 2**53) is None


@given(st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=5), st.integers(1, 10**8))
def test_the_elimination_bound_is_the_double_sum_of_the_proof(gaps, horizon):
    arms = len(gaps) + 1
    total = 0.0
    last = elimination_round(sqrt(e / horizon))
    for m in range(last):
        for gap in gaps:
            if elimination_round(gap) > m:
                total += 368 * arms**4 / (horizon**1.25 * sqrt(2.0**-m))
    assert elimination_bound([*gaps, 0.0], horizon) == pytest.approx(total, rel=1e-9)


def test_the_elimination_bound_is_0_if_all_arms_are_optimal():
    assert elimination_bound([0.0, 0.0], 100) == 0.0
    assert log2(elimination_bound(paper(1).gaps, 60_000)) > 0
