"""Words of messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from unicodedata import category

CONTROL = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories of control characters, lone surrogates and line separators."""


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as "1 run" and "2,000 runs"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def has_control_characters(text: str) -> bool:
    """Return whether a terminal, a chart or a file could not show a string on one line as it is."""
    return any(category(character) in CONTROL for character in text)


def escaped(text: str) -> str:
    """Return a string with control characters escaped as Python does, so that a terminal shows them."""
    return "".join(
        character.encode("unicode_escape").decode() if category(character) in CONTROL else character
        for character in text
    )


def unknown(what: str, name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return the message for an unknown name: what was probably meant, or else what there is."""
    names = list(known)
    lower = {each.lower(): each for each in reversed(names)}
    longer = [each for each in lower if len(name) > 2 and each.startswith(name.lower())]
    near = sorted(longer, key=lambda each: (len(each), each)) or get_close_matches(
        name.lower(), lower, n=1, cutoff=0.7
    )
    advice = f"did you mean {lower[near[0]]!r}?" if near else otherwise or f"use one of {', '.join(names)}"
    return f"unknown {what} {name!r}: {advice}"
