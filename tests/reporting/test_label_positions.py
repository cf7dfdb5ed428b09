"""Labels are moved apart, and no further than needed."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowregret.reporting.line_chart import spread

PLACES = st.lists(st.floats(0, 100), min_size=1, max_size=10).map(lambda values: sorted(values, reverse=True))


@given(PLACES)
def test_labels_keep_their_order_their_distance_and_their_room(wanted: list[float]) -> None:
    placed = spread(wanted, gap=10, height=100)
    assert all(above - below >= 10 - 1e-9 for above, below in itertools.pairwise(placed))
    assert max(placed) <= 100 + 1e-9
    assert min(placed) >= -1e-9


def test_labels_with_room_stay() -> None:
    assert spread([90, 60, 5], gap=10, height=100) == [90, 60, 5]


def test_a_crowd_is_centred_on_where_it_wants_to_be() -> None:
    assert spread([50, 50, 50], gap=10, height=100) == pytest.approx([60, 50, 40])


def test_a_crowd_at_the_edge_stays_inside() -> None:
    assert spread([100, 100], gap=10, height=100) == [100, 90]
    assert spread([0, 0], gap=10, height=100) == [10, 0]
