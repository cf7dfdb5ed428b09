"""Policies of lists: the lines that spare the simulator work, and the corners of lists."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowregret as lr
from lowregret.errors import InputError
from lowregret.policies import Arm, clock_at


class Rare(lr.Policy):
    """Every arm whose mean is not far from the best, seldom; no slope, so all arms are asked.

    Or no arm ever has a claim, so every list has all arms; or the claim is no number from some step on.
    """

    never: bool = False
    breaks: int = lr.NEVER
    uses_best = True

    def list_index(self, arm, clock):
        if self.never or clock.t >= self.breaks:
            return -1.0 if clock.t < self.breaks else float("nan")
        return arm.mean + 3.0 / arm.pulls - clock.best - 0.2


class EvenOnly(lr.DMED):
    """DMED over the arms of even number."""

    def initially_active(self, number):
        return number % 2 == 0


@given(
    pulls=st.integers(1, 10**6),
    mean=st.floats(0, 1),
    gap=st.floats(0, 1),
    later=st.floats(0, 1),
    waits=st.integers(0, 10**6),
    genuine=st.booleans(),
)
def test_the_claim_of_dmed_stays_below_its_line(pulls, mean, gap, later, waits, genuine):
    policy, arm = lr.DMED(genuine=genuine), Arm(0, pulls, mean, 0.0)
    best, best_later = min(mean + gap, 1.0), max(later, mean)
    now, then = (clock_at(t, 10**7, 5, b) for t, b in ((pulls + 5, best), (pulls + 5 + waits, best_later)))
    list_index_slope = policy.list_index_slope(arm, now)
    if list_index_slope < np.inf:
        line = policy.list_index(arm, now) + log(then.t / now.t) - list_index_slope * (best_later - best)
        assert policy.list_index(arm, then) <= line + 1e-9 + 1e-12 * abs(policy.list_index(arm, now))


@pytest.mark.parametrize(
    "policy", [lr.DMED(), lr.DMED(genuine=False), Rare(), Rare(never=True), EvenOnly()], ids=str
)
def test_lists_are_played_as_the_reference_plays_them(policy):
    draws = np.random.default_rng(3)
    for size, horizon in ((1, 30), (2, 500), (7, 1200), (33, 1200)):
        table = (draws.random((size, horizon)) < draws.random((size, 1)) * 0.3).astype(float)
        one, other = (lr.trace(policy, table, horizon, engine=e).arm for e in ("compiled", "reference"))
        assert one.tolist() == other.tolist()


def test_lists_keep_to_the_arms_that_are_in_play():
    arms = lr.trace(EvenOnly(), np.zeros((5, 60)), horizon=60).arm
    assert set(arms.tolist()) == {0, 2, 4}


def test_where_no_arm_has_a_claim_the_list_has_all():
    assert lr.trace(Rare(never=True), np.zeros((3, 9)), horizon=9).arm.tolist() == [0, 1, 2] * 3


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_claim_that_is_no_number_is_refused(engine):
    with pytest.raises(InputError, match=r"Rare\(breaks=9\): a score must be a number, got nan"):
        lr.trace(Rare(breaks=9), np.ones((3, 30)), horizon=30, engine=engine)
