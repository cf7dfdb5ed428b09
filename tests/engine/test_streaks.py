"""Streaks against their definition, and room for pulls ahead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowregret.engine.kernels.lazy.streaks import DEPTH, find_streaks, new_lookahead


@given(
    scores=st.lists(st.integers(-3, 3), min_size=1, max_size=DEPTH),
    lowers=st.lists(st.integers(-9, 9), min_size=DEPTH, max_size=DEPTH),
    score=st.integers(-1, 3),
)
def test_a_streak_ends_where_the_score_falls_below_the_one_at_which_it_began(scores, lowers, score):
    ahead, length = new_lookahead(2), len(scores)
    ahead.scores[:length], ahead.lower_bounds[:] = scores, lowers
    find_streaks(ahead, 1, length, float(score))
    expected, begin = [], 0
    for end in range(1, length + 1):
        if scores[end - 1] < score or end == length:
            score = min(score, scores[end - 1])
            expected.append((end, score, max(lowers[begin:end])))
            begin = end
    found = ahead.streaks[1, : ahead.arms[1]["streaks"]]
    assert [tuple(streak) for streak in found] == expected
    assert ahead.arms[1]["pulled"] == ahead.arms[1]["streak"] == 0


def test_a_score_that_is_nan_ends_a_streak():
    ahead = new_lookahead(1)
    ahead.scores[:3] = 2.0, np.nan, 2.0
    find_streaks(ahead, 0, 3, 1.0)
    assert ahead.streaks[0, 0]["end"] == 2
    assert np.isnan(ahead.streaks[0, 0]["score"])


@pytest.mark.parametrize(("arms", "depth"), [(1, DEPTH), (10_000, 13), (1_000_000, 2)])
def test_the_room_is_limited(arms, depth):
    assert new_lookahead(arms).streaks.shape == (arms, depth)
