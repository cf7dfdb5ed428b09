"""One line style per policy in every figure: its family sets the colour, its parameters the dash.

The colours are those of Okabe and Ito, which people with any kind of colour vision can distinguish.
Yellow is left out, since thin yellow lines vanish on white.
"""

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from lowregret.policies import POLICIES

VERMILION, BLUE, GREEN, PURPLE = "#D55E00", "#0072B2", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#616161"

YELLOW, INDIGO, PLUM, PALE, VIOLET = "#BBCC33", "#332288", "#600058", "#A6CEE3", "#6A3CF0"

COLOURS = {
    "eucbv": VERMILION,
    "ucb": BLUE,
    "UCBV": ORANGE,
    "moss": GREEN,
    "mossv": VIOLET,
    "ocucb": PURPLE,
    "thompson": SKY,
    "bayesucb": INDIGO,
    "klucb": PLUM,
    "divergence": YELLOW,
    "baselines": GREY,
    "rounds": BLACK,
}
"""A colour for each family of policies, which is a module of `lowregret.policies`, or for one policy of it.

A new policy has the colour of its module, and a new module one of the others, without a change here.
"""

FALLBACK = (PURPLE, SKY, ORANGE, BLACK, GREEN, BLUE, PALE)
"""The colours of other policies, in the order in which they are used."""

ON_DARK = {
    VERMILION: "#F0834A",
    BLUE: "#3D9BE0",
    GREEN: "#2FC79A",
    PURPLE: "#E29AC3",
    ORANGE: "#F0B429",
    SKY: "#8FD0F5",
    BLACK: "#F2F2F2",
    GREY: "#A8A8A8",
    YELLOW: "#CBDB4F",
    INDIGO: "#9D90F5",
    PLUM: "#D66BCB",
    PALE: "#D6E9F2",
    VIOLET: "#8A66FF",
}
"""The colours in place of these on a dark page."""

DASHES = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2))
"""The dashes of the policies of one colour; the first is a solid line."""


class Style(NamedTuple):
    """The line of one policy."""

    colour: str
    dash: tuple[int, ...]
    width: float


def colour_of(policy: str) -> str | None:
    """Return the colour that a policy of the package has in every figure; None for any other."""
    name = _class(policy)
    if name not in POLICIES:
        return None
    return COLOURS.get(name) or COLOURS.get(POLICIES[name].__module__.rpartition(".")[2])


def styles(policies: Iterable[str]) -> dict[str, Style]:
    """Return a style for every policy, given as printed; no two policies of one figure have the same."""
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
    """Return the colour of each class; one without a colour of its own takes the first that is free."""
    own = {_class(name): colour_of(name) for name in names}
    colours = {name: colour for name, colour in own.items() if colour is not None}
    for position, name in enumerate(name for name, colour in own.items() if colour is None):
        free = (colour for colour in FALLBACK if colour not in colours.values())
        colours[name] = next(free, FALLBACK[position % len(FALLBACK)])
    return colours


def _class(policy: str) -> str:
    return policy.partition("(")[0]
