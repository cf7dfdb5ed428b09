"""The first sentence of a report names the winner, and claims no more than the runs allow."""

import numpy as np
import pytest
from analysis_data import frames_of

from lowregret.reporting.headline import headline

NOISE = np.random.default_rng(0).normal(0.0, 0.2, 40)
LOW, HIGH = [2.0 + noise for noise in NOISE], [8.0 - noise for noise in NOISE]
CLOSE = [2.0 - noise for noise in NOISE]


@pytest.mark.parametrize(
    ("regrets", "sentence"),
    [
        (
            {"e": {"A": HIGH, "B": LOW}},
            "B has the lowest regret. Its difference from A is significant at 5%.",
        ),
        (
            {"e": {"A": HIGH, "B": LOW, "C": HIGH}, "f": {"A": HIGH, "B": LOW, "C": HIGH}},
            "B has the lowest regret in both environments. "
            "Its differences from all others are significant at 5%.",
        ),
        (
            {"e": {"A": LOW[:1], "B": HIGH[:1]}},
            "A has the lowest regret. Not certain: B is too close with 1 run.",
        ),
        ({"e": {"A": LOW}}, ""),
    ],
    ids=["two", "both", "one run", "alone"],
)
def test_the_winner_and_the_certainty(regrets, sentence):
    assert headline(frames_of(regrets)) == sentence


def test_each_environment_counts_and_a_close_rival_is_named():
    words = headline(
        frames_of({"e": {"A": LOW, "B": HIGH}, "f": {"A": LOW, "B": HIGH}, "g": {"A": HIGH, "B": LOW}})
    )
    assert words.startswith("A has the lowest regret in 2 of 3 environments, B in 1. ")
    words = headline(frames_of({"e": {"A": LOW, "B": CLOSE, "C": HIGH}}))
    assert "Not certain yet: A is too close" in words or "Not certain yet: B is too close" in words
    assert "C is" not in words


def test_a_clear_difference_in_few_runs_does_not_exclude_rare_failures():
    words = headline(frames_of({"e": {"A": LOW[:5], "B": HIGH[:5]}}, arms=2))
    assert words.startswith(
        "A has the lowest regret. Not certain yet: rare failures are not excluded with 5 runs; about "
    )
    assert words.endswith(" are needed.")
