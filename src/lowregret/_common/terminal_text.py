"""Sentences and notes as a terminal shows them: wrapped at words, and not within names."""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from textwrap import fill

from lowregret._common.text import escaped

NBSP = "\N{NO-BREAK SPACE}"
"""Printed as a space at which no line ends."""


def terminal_width() -> int:
    """Return the number of columns: those of the terminal or of COLUMNS, else 80."""
    return shutil.get_terminal_size((80, 24)).columns


def table_width() -> int:
    """Return how wide a table may be: without limit if there is no terminal and COLUMNS is not set."""
    limited = sys.stdout.isatty() or "COLUMNS" in os.environ
    return terminal_width() if limited else 10_000


def wrapped(text: str, names: Iterable[str] = (), indent: str = "") -> str:
    """Return a sentence in lines, broken at words but not within names; later ones begin with ``indent``."""
    text = escaped(text)
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, name.replace(" ", NBSP))
    lines = fill(
        text, terminal_width(), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return lines.replace(NBSP, " ")


def notes_lines(notes: Mapping[str, str]) -> list[str]:
    """Return the notes on policies, each once, after the names of its policies."""
    lines = []
    for note in dict.fromkeys(filter(None, notes.values())):
        names = [name for name in notes if notes[name] == note]
        lines.append(wrapped(f"{', '.join(names)}: {note}", names, "  "))
    return lines
