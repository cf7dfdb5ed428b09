"""One look per policy in every figure: its class sets the colour, its parameters the dash.

The colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart.
Yellow is left out, since thin yellow lines vanish on white.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

VERMILION, BLUE, GREEN, PURPLE = "#D55E00", "#0072B2", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#616161"

YELLOW, INDIGO, PLUM, PALE = "#BBCC33", "#332288", "#600058", "#A6CEE3"

FAMILIES = {
    VERMILION: ("EUCBV",),
    BLUE: ("UCB1", "UCBTuned"),
    ORANGE: ("UCBV",),
    GREEN: ("MOSS", "MOSSAnytime"),
    PURPLE: ("OCUCB",),
    SKY: ("ThompsonBeta", "ThompsonGauss", "ThompsonNormal"),
    INDIGO: ("BayesUCBBeta", "BayesUCBGauss", "BayesUCBStudent"),
    PLUM: ("KLUCB", "KLUCBPlus", "KLUCBPlusPlus", "KLUCBGauss"),
    YELLOW: ("DMED", "IMED"),
    GREY: ("RoundRobin", "EpsilonGreedy", "FixedArm"),
    BLACK: ("UCBImproved", "MedianElimination", "CCB"),
}
"""A colour for each family; what sets its members apart is the dash."""

PINNED = {name: colour for colour, names in FAMILIES.items() for name in names}
"""The colour of each known policy, by class."""

FALLBACK = (PALE, PURPLE, ORANGE, SKY, BLACK, GREEN, BLUE)
"""The order in which other policies get theirs."""

DASHES = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2))
"""Solid first; then what sets apart the policies of one colour."""


class Style(NamedTuple):
    """How one policy is drawn."""

    colour: str
    dash: tuple[int, ...]
    width: float


def styles(policies: Iterable[str]) -> dict[str, Style]:
    """Give every policy its style; no two that are drawn together look the same.

    Parameters
    ----------
    policies : iterable of str
        Policies as printed, such as ``"EUCBV"`` and ``"EUCBV(rho=1)"``.

    Returns
    -------
    dict of str to Style
        In the order given.

    Examples
    --------
    >>> from lowregret.report.policy_styles import styles
    >>> chosen = styles(["EUCBV", "EUCBV(rho=1)"])
    >>> chosen["EUCBV"].colour == chosen["EUCBV(rho=1)"].colour
    True
    >>> [style.dash for style in chosen.values()]
    [(1, 0), (7, 3)]
    """
    names = list(dict.fromkeys(policies))
    colours = _colours(names)
    looks: dict[str, tuple[str, tuple[int, ...]]] = {}
    # The plain form of a policy comes first, so that it gets the solid line.
    for name in sorted(names, key=lambda name: "(" in name):
        own = colours[_class(name)]
        wanted = [*product([own], DASHES), *product(FALLBACK, DASHES)]
        looks[name] = next((look for look in wanted if look not in looks.values()), wanted[0])
    return {name: Style(*looks[name], 3.0 if _class(name) == "EUCBV" else 2.0) for name in names}


def _colours(names: list[str]) -> dict[str, str]:
    """Give each class its colour; a class without a pin takes the first that is free."""
    classes = list(dict.fromkeys(_class(name) for name in names))
    colours = {name: PINNED[name] for name in classes if name in PINNED}
    for position, name in enumerate(name for name in classes if name not in PINNED):
        free = (colour for colour in FALLBACK if colour not in colours.values())
        colours[name] = next(free, FALLBACK[position % len(FALLBACK)])
    return colours


def _class(policy: str) -> str:
    return policy.partition("(")[0]
