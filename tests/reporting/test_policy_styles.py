"""Every policy has its own look, the same in every figure."""

from itertools import combinations

import pytest

from lowregret.policies import POLICIES
from lowregret.reporting.policy_styles import COLOURS, DASHES, FALLBACK_COLOURS, colour_of, styles


def seen_by_deuteranopes(colour: str) -> tuple[float, ...]:
    """Simulate red-green blindness (Vienot, Brettel and Mollon 1999), in linear light."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    )
    mixed = 0.29275 * red + 0.70725 * green
    return mixed, mixed, -0.02234 * red + 0.02234 * green + blue


def test_every_policy_has_a_style_of_its_own() -> None:
    assert len({(style.colour, style.dash) for style in styles(POLICIES).values()}) == len(POLICIES)


def test_those_the_paper_plots_together_differ_in_colour() -> None:
    plotted = ["EUCBV", "UCB1", "UCBV", "MOSS", "OCUCB", "ThompsonBeta", "BayesUCBBeta", "KLUCBPlus", "DMED"]
    assert len({colour_of(name) for name in [*plotted, "UCBImproved"]}) == 10


def test_pinned_colours_differ_for_red_green_blind_eyes() -> None:
    for one, other in combinations(set(COLOURS.values()), 2):
        pairs = zip(seen_by_deuteranopes(one), seen_by_deuteranopes(other), strict=True)
        assert sum((a - b) ** 2 for a, b in pairs) > 0.01, (one, other)


def test_a_colour_does_not_depend_on_the_company() -> None:
    alone, together = styles(["MOSS"]), styles(["Mine", "UCB1", "EUCBV", "MOSS"])
    assert alone["MOSS"] == together["MOSS"]


def test_every_policy_of_the_package_has_one_colour_in_all_figures() -> None:
    assert [name for name in POLICIES if colour_of(name) is None] == []
    assert styles(["UCB1", "PHE"])["PHE"].colour == styles(["PHE", "Mine", "MOSS"])["PHE"].colour


def test_a_changed_parameter_keeps_the_colour_and_changes_the_dash() -> None:
    chosen = styles(["UCB1(alpha=1)", "UCB1"])
    assert chosen["UCB1"].colour == chosen["UCB1(alpha=1)"].colour == colour_of("UCB1")
    assert chosen["UCB1"].dash == DASHES[0]
    assert chosen["UCB1(alpha=1)"].dash == DASHES[1]


@pytest.mark.parametrize(
    "policies",
    [
        ["Mine", "Yours", "EUCBV", "MOSS"],
        [f"UCB1(alpha={alpha})" for alpha in range(20)],
        [f"Policy{number}" for number in range(20)],
        ["EUCBV", *(f"Mine(size={size})" for size in range(8)), "Yours"],
    ],
)
def test_no_two_look_the_same(policies: list[str]) -> None:
    looks = [(style.colour, style.dash) for style in styles(policies).values()]
    assert len(set(looks)) == len(policies)


def test_others_take_the_free_colours_in_order() -> None:
    chosen = styles(["Mine", "FixedArm", "Yours"])
    assert [chosen["Mine"].colour, chosen["Yours"].colour] == list(FALLBACK_COLOURS[:2])


def test_more_policies_than_looks_are_still_drawn() -> None:
    policies = [f"Policy{number}" for number in range(100)]
    assert list(styles(policies)) == policies
