"""Sentences, notes and messages on the terminal, wrapped at words."""

import shutil
import sys
from collections.abc import Iterable, Mapping
from json import dumps
from textwrap import fill
from typing import TextIO

from lowregret._common.text import escaped

NBSP = "\N{NO-BREAK SPACE}"
"""Printed as a space at which no line ends."""


def terminal_width() -> int:
    """Return the number of columns: those of the terminal or of COLUMNS, else 80."""
    return shutil.get_terminal_size((80, 24)).columns


def print_json(data: object) -> None:
    """Print data as one JSON object."""
    print(dumps(data, allow_nan=False))


def print_text(text: str, names: Iterable[str] = (), indent: str = "", file: TextIO | None = None) -> None:
    """Print a sentence, wrapped at words but not within names; ``indent`` begins every line but the first."""
    text, width = escaped(text), terminal_width()
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, name.replace(" ", NBSP))
    lines = fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    print(lines.replace(NBSP, " "), file=file)


def print_notes(notes: Mapping[str, str]) -> None:
    """Print how rewards were changed for policies, or whether their sources assume others: each note once."""
    for note in dict.fromkeys(filter(None, notes.values())):
        names = [name for name in notes if notes[name] == note]
        print_text(f"{', '.join(names)}: {note}", names, "  ")


def print_error(message: str) -> None:
    """Print a message on standard error: in one line, or wrapped on a terminal."""
    text = f"lowregret: {escaped(' '.join(message.split()))}"
    (print_text if sys.stderr.isatty() else print)(text, file=sys.stderr)
