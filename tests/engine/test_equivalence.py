"""The compiled engine against the plain one, pull by pull."""

import numpy as np
import pytest
from engine_runs import PlainRun, compiled_trace, simulate
from helpers import IMPATIENT, POLICIES, bandits
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_game import play

import lowregret as lr


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(max_examples=10)
@given(bandit=bandits(), horizon=st.integers(1, 500), seed=st.integers(0, 2**64 - 1), run=st.integers(0, 9))
def test_every_step_is_the_same(policy, bandit, horizon, seed, run):
    played = PlainRun(policy, bandit, horizon, seed, run)
    traced = compiled_trace(policy, bandit, horizon, seed, run)
    assert traced.arm.tolist() == played.arm.tolist()
    if traced.round is not None:
        assert traced.round.tolist() == played.round.tolist()
        assert traced.active.tolist() == played.active.tolist()


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(max_examples=5)
@given(data=st.data(), bandit=bandits(), horizon=st.integers(1, 300), seed=st.integers(0, 2**64 - 1))
def test_recorded_regret_pulls_and_eliminations(policy, data, bandit, horizon, seed):
    times = data.draw(st.sets(st.integers(1, horizon), max_size=20)) | {horizon}
    grid = np.array(sorted(times), np.int64)
    outcome = simulate(policy, bandit, horizon, 2, seed, grid, threads=1)
    for run in range(2):
        played = PlainRun(policy, bandit, horizon, seed, run)
        counts = np.stack([np.bincount(played.arm[:t], minlength=len(bandit)) for t in grid])
        assert outcome.pulls[run].tolist() == counts[-1].tolist()
        np.testing.assert_allclose(outcome.regret[run], counts @ bandit.gaps, rtol=1e-12, atol=1e-12)
        if outcome.eliminated is not None:
            assert outcome.eliminated[run].tolist() == played.eliminated.tolist()


@pytest.mark.parametrize(
    "policy", [*POLICIES, lr.DMED(), lr.ThompsonGauss(), lr.MedianElimination(0.9, 0.9)], ids=str
)
@settings(max_examples=6)
@given(bandit=bandits(most=12), horizon=st.integers(1, 150), seed=st.integers(0, 2**64 - 1))
def test_the_reference_is_an_independent_game(policy, bandit, horizon, seed):
    played = PlainRun(policy, bandit, horizon, seed, 3)
    assert (played.arm.tolist(), played.eliminated.tolist()) == play(policy, bandit, horizon, seed, 3)


def test_impatient_policies_do_eliminate():
    """Guards the tests above: an elimination that never happens would prove nothing."""
    bandit = lr.bernoulli([0.1, 0.5, 0.9, 0.3])
    outcome = simulate(IMPATIENT, bandit, 300, 50, 1, np.array([300]), threads=1)
    assert ((outcome.eliminated == 0).sum(axis=1) >= 1).all()
    assert (outcome.eliminated > 0).any(axis=1).mean() > 0.9
