"""Ranks, against SciPy and by hand."""

import numpy as np
import pytest
from analysis_data import frames_of
from scipy import stats

from lowregret.analysis.ranks import average_ranks, ranks


def test_ranks_are_scipys_with_ties_averaged() -> None:
    values = np.random.default_rng(1).integers(0, 4, (4, 25)).astype(float)
    frames = frames_of({"e": {name: row.tolist() for name, row in zip("ABCD", values, strict=True)}})
    assert ranks(frames)["rank"].to_list() == pytest.approx(stats.rankdata(values, axis=0).mean(axis=1))


def test_equal_policies_share_their_rank() -> None:
    frames = frames_of({"e": {"A": [5.0, 7.0], "B": [5.0 + 1e-14, 7.0], "C": [9.0, 9.0]}})
    assert ranks(frames)["rank"].to_list() == [1.5, 1.5, 3.0]
    assert ranks(frames_of({"e": {"A": [0.0], "B": [0.0]}}))["rank"].to_list() == [1.5, 1.5]


def test_ties_do_not_depend_on_where_rounding_would_fall() -> None:
    """1 / (1e-9 * 1024) is 976,562.5: rounded to whole steps, equal regrets would fall to both sides."""
    frames = frames_of({"e": {"A": [1.0], "B": [1.0 + 1e-13], "C": [1024.0]}})
    assert ranks(frames)["rank"].to_list() == [1.5, 1.5, 3.0]
    frames = frames_of({"e": {"A": [1.0], "B": [1.0 + 2e-9 * 1024.0], "C": [1024.0]}})
    assert ranks(frames)["rank"].to_list() == [1.0, 2.0, 3.0]


def test_runs_that_some_policy_lacks_do_not_count() -> None:
    frames = frames_of({"e": {"A": [1.0, 9.0], "B": [2.0]}})
    assert ranks(frames).rows() == [("e", "A", 1, 1.0, None), ("e", "B", 1, 2.0, None)]


def test_averages_are_over_policies_that_play_everywhere() -> None:
    frames = frames_of(
        {
            "e": {"A": [3.0], "X": [2.0], "B": [1.0]},
            "f": {"A": [3.0], "B": [1.0]},
            "g": {"A": [1.0], "B": [2.0]},
        }
    )
    assert average_ranks(frames).rows() == [
        ("B", 3, pytest.approx(4 / 3), None, pytest.approx(1 / 3)),
        ("A", 3, pytest.approx(5 / 3), None, pytest.approx(1 / 3)),
    ]


def test_standard_errors_of_ranks() -> None:
    frames = frames_of({name: {"A": [1.0, 2.0, 3.0], "B": [2.0, 3.0, 1.0]} for name in "ef"})
    spread = stats.sem([1, 1, 2])
    assert ranks(frames)["se"].to_list() == pytest.approx([spread] * 4)
    assert average_ranks(frames)["se"].to_list() == pytest.approx([spread] * 2)  # the same runs
    assert average_ranks(frames)["se_environments"].to_list() == [0.0, 0.0]


def test_no_policy_plays_everywhere() -> None:
    assert average_ranks(frames_of({"e": {"A": [3.0]}, "f": {"B": [3.0]}})).is_empty()
