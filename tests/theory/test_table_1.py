"""Table 1: every entry against its formula, worked out here with other numbers."""

from math import log, sqrt

import pytest

from lowregret.environments import paper
from lowregret.theory.regret_bounds import table_1


def values(gaps, variances, horizon):
    return {line.name: line.value for line in table_1(gaps, variances, horizon)}


def test_every_entry_by_hand():
    # K = 3, D = 1/4, S = 1/5, T = 4800: T D^2 = 300, T D^2 / K = 100, H_1 = 16 + 16 + 4 = 36, H_2 = 12.
    known = values([0.25, 0.5, 0.0], [0.2, 0.05, 0.1], 4_800)
    assert known == {
        "EUCBV, gap-dependent": pytest.approx(2.4 * log(100)),
        "UCB1, gap-dependent": pytest.approx(12 * log(4_800)),
        "UCBV, gap-dependent": pytest.approx(2.4 * log(4_800)),
        "UCBImproved, gap-dependent": pytest.approx(12 * log(300)),
        "MOSS, gap-dependent": pytest.approx(36 * log(100)),
        "OCUCB, gap-dependent": pytest.approx(12 * log(4_800 / 36)),
        "OCUCB, gap-dependent, by arm": pytest.approx(4 * log(4_800 / 36) + 2 * log(400)),
        "EUCBV, gap-independent": pytest.approx(120),
        "UCB1, gap-independent": pytest.approx(120 * sqrt(log(4_800))),
        "UCBV, gap-independent": pytest.approx(120 * sqrt(log(4_800))),
        "UCBImproved, gap-independent": pytest.approx(120 * sqrt(log(3))),
        "MOSS, gap-independent": pytest.approx(120),
        "OCUCB, gap-independent": pytest.approx(120),
    }


def test_an_order_is_never_called_a_bound():
    lines = table_1(paper(1).gaps, paper(1).variances, 60_000)
    assert {line.kind for line in lines} == {"order without constant"}
    assert {line.note for line in lines} == {""}


def test_negative_logarithms_are_told():
    notes = {line.name: line.note for line in table_1(paper(3).gaps, paper(3).variances, 400_000)}
    # T D^2 / K = 0.1 and T / H_1 < 1, but T D^2 = 10.
    for policy in ("EUCBV", "MOSS", "OCUCB"):
        assert "negative" in notes[f"{policy}, gap-dependent"]
    for policy in ("UCB1", "UCBV", "UCBImproved"):
        assert notes[f"{policy}, gap-dependent"] == ""


@pytest.mark.parametrize("gaps", [[0.0], [0.0, 0.0, 0.0]])
def test_equal_arms_have_no_gap_dependent_order(gaps):
    for line in table_1(gaps, [0.25] * len(gaps), 1):
        assert (line.value is None) == ("gap-dependent" in line.name)


def test_the_tiniest_gap_gives_no_infinite_numbers():
    known = values([1e-200, 0.0], [0.25, 0.25], 10)
    assert known["MOSS, gap-dependent"] is None
    assert known["OCUCB, gap-dependent, by arm"] is None
