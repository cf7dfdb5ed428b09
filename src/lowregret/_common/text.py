"""Words of messages: numbers with their nouns, names that were meant, strings without control characters."""

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from inspect import stack
from typing import NamedTuple
from unicodedata import category
from warnings import warn

CONTROLS = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories of control characters, lone surrogates and line separators."""


class Rule(NamedTuple):
    """What one number must satisfy, and the words for it; here, since this file needs no NumPy."""

    words: str
    holds: Callable[[float], bool]


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as "1 run" and "2,000 runs"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def has_control_characters(text: str) -> bool:
    """Return whether a terminal, a chart or a file could not show a string on one line as it is."""
    return any(category(character) in CONTROLS for character in text)


def escaped(text: str) -> str:
    """Return a string with control characters escaped as Python does, so that a terminal shows them."""
    return "".join(
        character.encode("unicode_escape").decode() if category(character) in CONTROLS else character
        for character in text
    )


def file_names(texts: Iterable[str], longest: int = 60) -> dict[str, str]:
    """Return a different file name for each text, of letters, digits and hyphens, which LaTeX accepts."""
    names: dict[str, str] = {}
    for text in texts:
        plain = re.sub("[^a-z0-9]+", "-", text.lower())[:longest].strip("-") or "figure"
        name, number = plain, 2
        while name in names.values():
            name, number = f"{plain}-{number}", number + 1
        names[text] = name
    return names


def unknown_name_message(what: str, name: str, names: Iterable[str], otherwise: str | None = None) -> str:
    """Return the message for an unknown name: what was probably meant, or else what there is."""
    names = list(names)
    lower = {candidate.lower(): candidate for candidate in reversed(names)}
    longer = [candidate for candidate in lower if len(name) > 2 and candidate.startswith(name.lower())]
    near = sorted(longer, key=lambda candidate: (len(candidate), candidate)) or get_close_matches(
        name.lower(), lower, n=1, cutoff=0.66
    )
    advice = f"did you mean {lower[near[0]]!r}?" if near else otherwise or f"use one of {', '.join(names)}"
    return f"unknown {what} {name!r}: {advice}"


def warn_user(message: str) -> None:
    """Warn at the line, outside of this package, that led here."""
    names = [str(info.frame.f_globals.get("__name__")) for info in stack(0)]
    outside = [level for level, name in enumerate(names, 1) if not name.startswith("lowregret.")]
    warn(message, stacklevel=(outside or [1])[0])
