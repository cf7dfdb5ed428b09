"""The compiled engine against the plain one, pull by pull."""

import numpy as np
import pytest
from helpers import POLICIES, bandits
from hypothesis import given, settings
from hypothesis import strategies as st

from lowregret.engine import reference
from lowregret.engine.arms import rows_of
from lowregret.engine.simulate import simulate, trace


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(max_examples=15)
@given(bandit=bandits(), horizon=st.integers(1, 3000), seed=st.integers(0, 2**64 - 1), run=st.integers(0, 9))
def test_every_step_is_the_same(policy, bandit, horizon, seed, run):
    played = reference.run(policy, bandit, horizon, seed, run)
    traced = trace(policy, rows_of(bandit), bandit.data, horizon, seed, run, shuffled=True)
    assert traced.arm.tolist() == played.arm.tolist()
    if traced.round is not None:
        assert traced.round.tolist() == played.round.tolist()
        assert traced.active.tolist() == played.active.tolist()


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(max_examples=8)
@given(data=st.data(), bandit=bandits(), horizon=st.integers(1, 1500), seed=st.integers(0, 2**64 - 1))
def test_recorded_regret_pulls_and_eliminations(policy, data, bandit, horizon, seed):
    times = data.draw(st.sets(st.integers(1, horizon), max_size=20)) | {horizon}
    grid = np.array(sorted(times), np.int64)
    outcome = simulate(policy, bandit, horizon, 2, seed, grid, threads=1)
    for run in range(2):
        played = reference.run(policy, bandit, horizon, seed, run)
        counts = np.stack([np.bincount(played.arm[:t], minlength=len(bandit)) for t in grid])
        assert outcome.pulls[run].tolist() == counts[-1].tolist()
        np.testing.assert_allclose(outcome.regret[run], counts @ bandit.gaps, rtol=1e-12, atol=1e-12)
        if outcome.eliminated is not None:
            assert outcome.eliminated[run].tolist() == played.eliminated.tolist()


@settings(max_examples=30)
@given(bandit=bandits(most=12), horizon=st.integers(1, 300), seed=st.integers(0, 2**64 - 1))
def test_impatient_policies_do_eliminate(bandit, horizon, seed):
    """Guards the tests above: an elimination that never happens would prove nothing."""
    policy = next(policy for policy in POLICIES if str(policy) == "Impatient")
    outcome = simulate(policy, bandit, horizon, 5, seed, np.array([horizon]), threads=1)
    times = outcome.eliminated
    assert ((times == 0).sum(axis=1) >= 1).all()
    if len(set(bandit.means)) > 1 and bandit.gaps.max() > 1.5 and horizon > 250:
        assert (times > 0).any()
