"""Arms that take turns, and arms that are not in play from the start."""

from math import sqrt

import numpy as np
import pytest
from engine_runs import PlainRun, simulate
from helpers import bandits
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.errors import InputError


class Even(lr.Policy):
    """Leave out every second arm, and eliminate among the others."""

    index_trend = "constant"

    def initially_active(self, number):
        return number % 2 == 0

    def score(self, arm, clock):
        return arm.mean + 1.0 / sqrt(arm.pulls)

    def lower_bound(self, arm, clock, round):
        return arm.mean - 1.0 / sqrt(arm.pulls)


class Nothing(lr.RoundRobin):
    def initially_active(self, number):
        return False


def same_as_the_reference(policy, bandit, horizon, seed):
    grid = np.unique(np.linspace(1, horizon, 7).astype(np.int64))
    outcome = simulate(policy, bandit, horizon, 2, seed, grid, threads=1)
    for run in range(2):
        played = PlainRun(policy, bandit, horizon, seed, run)
        counts = np.stack([np.bincount(played.arm[:t], minlength=len(bandit)) for t in grid])
        assert outcome.pulls[run].tolist() == counts[-1].tolist()
        np.testing.assert_allclose(outcome.regret[run], counts @ bandit.gaps, rtol=1e-12, atol=1e-12)
        if outcome.eliminated is not None:
            assert outcome.eliminated[run].tolist() == played.eliminated.tolist()
    return outcome


@pytest.mark.parametrize(
    "policy", [lr.RoundRobin(), lr.FixedArm(0), lr.UCBImproved(), lr.MedianElimination(0.9, 0.9)], ids=str
)
@settings(max_examples=15)
@given(bandit=bandits(), horizon=st.integers(1, 1000), seed=st.integers(0, 2**64 - 1))
def test_turns_dealt_at_once_are_those_taken_one_by_one(policy, bandit, horizon, seed):
    same_as_the_reference(policy, bandit, horizon, seed)


@settings(max_examples=10)
@given(bandit=bandits(), horizon=st.integers(1, 500), seed=st.integers(0, 2**64 - 1))
def test_arms_that_are_not_in_play_are_never_pulled(bandit, horizon, seed):
    """Other ways to play: test_separable_index, test_arm_groups, test_posterior_sampling, test_arm_lists."""
    outcome = same_as_the_reference(Even(), bandit, horizon, seed)
    assert (outcome.pulls[:, 1::2] == 0).all()
    assert (outcome.eliminated[:, 1::2] == 0).all()


def test_a_policy_that_opens_no_arm_is_refused():
    with pytest.raises(InputError, match="Nothing: initially_active must return True for at least one arm"):
        lr.simulate(Nothing(), "bernoulli:0.1,0.2", 10, runs=1)


def test_what_takes_turns_has_no_score():
    with pytest.raises(InputError, match="Both: a policy has one of score and round_robin, not both"):

        class Both(lr.Policy):
            round_robin = True

            def score(self, arm, clock):
                return 0.0


def test_rewards_that_end_in_the_middle_of_a_turn():
    for engine in ("compiled", "reference"):
        with pytest.raises(InputError, match="rewards of arm 1 ran out"):
            lr.trace(lr.RoundRobin(), [[1, 1, 1], [0], [0, 0]], horizon=6, engine=engine)
        assert lr.trace(lr.RoundRobin(), [[1, 1], [0], [0]], engine=engine).arm.tolist() == [0, 1, 2, 0]
