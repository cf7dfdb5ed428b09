"""The tournament tree against a plain search."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lowregret.engine.kernels.lazy.tournament import MIN_SCORE, enter, new_tournament, rebuild, rival

scores = st.sampled_from([0.0, 0.5, 1.0, np.inf, MIN_SCORE])


@given(st.lists(scores, min_size=1, max_size=40), st.data())
def test_the_tree_names_the_first_of_the_best(values, data):
    tree = new_tournament(len(values))
    size = len(tree.best) // 2
    tree.best[size : size + len(values)] = values
    rebuild(tree)
    for _ in range(10):
        assert tree.place[1] == int(np.argmax(values))
        assert tree.best[1] == max(values)
        i = data.draw(st.integers(0, len(values) - 1))
        others = [(-value, place) for place, value in enumerate(values) if place != i]
        score, place = rival(tree, i)
        assert (-score, place) == (min(others) if others else (np.inf, -1))
        values[i] = data.draw(scores)
        enter(tree, i, values[i])
