"""One line style per policy in every figure: its family sets the colour, its parameters the dash.

The colours are those of Okabe and Ito, which people with any kind of colour vision can distinguish.
Yellow is left out, since thin yellow lines vanish on white.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from lowregret.policies import POLICIES

VERMILION, BLUE, GREEN, PURPLE = "#D55E00", "#0072B2", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, STONE = "#E69F00", "#56B4E9", "#000000", "#616161"

YELLOW, INDIGO, PLUM, PALE, VIOLET = "#BBCC33", "#332288", "#600058", "#A6CEE3", "#6A3CF0"
CRIMSON, OLIVE, TAN, LILAC, MAGENTA = "#D90057", "#475900", "#D9986C", "#B679F2", "#C8009F"

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
    "baselines": STONE,
    "rounds": BLACK,
    "subsampling": OLIVE,
    "maillard": CRIMSON,
    "mots": TAN,
    "npts": LILAC,
    "tsallis": MAGENTA,
    # Those below share a colour with a relative, or with a family that is rarely in the same figure.
    "adaucb": PURPLE,
    "empirical": YELLOW,
    "expts": TAN,
    "perturbed_history": OLIVE,
    "discounted": BLUE,
    "DiscountedThompson": SKY,
    "sliding_window": BLACK,
    "change_detection": PLUM,
    "fixed_budget": OLIVE,
    "fixed_confidence": CRIMSON,
    "thresholding": TAN,
}
"""A colour for each family of policies, which is a module of `lowregret.policies`, or for one policy of it.

Each policy of the package has one, so that it looks the same in every figure.
"""

FALLBACK_COLOURS = (PURPLE, SKY, ORANGE, BLACK, GREEN, BLUE, PALE)
"""The colours of other policies, in the order in which they are used."""

COLOURS_ON_DARK = {
    VERMILION: "#F0834A",
    BLUE: "#3D9BE0",
    GREEN: "#2FC79A",
    PURPLE: "#E29AC3",
    ORANGE: "#F0B429",
    SKY: "#8FD0F5",
    BLACK: "#F2F2F2",
    STONE: "#A8A8A8",
    YELLOW: "#CBDB4F",
    INDIGO: "#9D90F5",
    PLUM: "#D66BCB",
    PALE: "#D6E9F2",
    VIOLET: "#8A66FF",
    CRIMSON: "#FF4D88",
    OLIVE: "#A9BF4D",
    TAN: "#E0B08C",
    LILAC: "#C79BF5",
    MAGENTA: "#F25CD0",
}
"""The colours in place of these on a dark page."""

DASHES = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2))
"""The dashes of the policies of one colour; the first is a solid line."""


class Style(NamedTuple):
    """The line of one policy."""

    colour: str
    dash: tuple[int, ...]


def colour_of(policy: str) -> str | None:
    """Return the colour that a policy of the package has in every figure; None for any other."""
    name = _class_name(policy)
    if name not in POLICIES:
        return None
    return COLOURS.get(name) or COLOURS.get(POLICIES[name].__module__.rpartition(".")[2])


def styles(
    policies: Iterable[str], original_names: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Style]:
    """Return a style for every policy, given as printed; no two policies of one figure have the same.

    A label has the style of the policy that it stands for, by ``original_names``.
    """
    if original_names:
        labels = {original_names.get(label, label): label for label in policies}
        return {labels[name]: style for name, style in styles(labels).items()}
    names = list(dict.fromkeys(policies))
    colours = _colours(names)
    looks: dict[str, tuple[str, tuple[int, ...]]] = {}
    # The plain form of a policy comes first, and then the one that names its family, for the solid line.
    for name in sorted(names, key=lambda name: ("(" in name, not _names_its_family(name))):
        own = colours[_class_name(name)]
        wanted = [*product([own], DASHES), *product(FALLBACK_COLOURS, DASHES)]
        looks[name] = next((look for look in wanted if look not in looks.values()), wanted[0])
    return {name: Style(*looks[name]) for name in names}


def _colours(names: list[str]) -> dict[str, str]:
    """Return the colour of each class; one without a colour of its own takes the first that is free."""
    own = {_class_name(name): colour_of(name) for name in names}
    colours = {name: colour for name, colour in own.items() if colour is not None}
    for position, name in enumerate(name for name, colour in own.items() if colour is None):
        free = (colour for colour in FALLBACK_COLOURS if colour not in colours.values())
        colours[name] = next(free, FALLBACK_COLOURS[position % len(FALLBACK_COLOURS)])
    return colours


def _names_its_family(policy: str) -> bool:
    name = _class_name(policy)
    return name in POLICIES and POLICIES[name].__module__.endswith(f".{name.lower()}")


def _class_name(policy: str) -> str:
    return policy.partition("(")[0]
