"""Print sentences, notes, JSON and errors: all that commands print, but for tables."""

import sys
from collections.abc import Iterable, Mapping
from json import dumps
from typing import TextIO

from lowregret._common.terminal_text import notes_lines, wrapped
from lowregret._common.text import escaped


def print_json(data: object) -> None:
    """Print data as one JSON object."""
    print(dumps(data, allow_nan=False))


def print_text(text: str, names: Iterable[str] = (), indent: str = "", file: TextIO | None = None) -> None:
    """Print a sentence, wrapped at words but not within names; ``indent`` begins every line but the first."""
    print(wrapped(text, names, indent), file=file)


def print_notes(notes: Mapping[str, str]) -> None:
    """Print how rewards were changed for policies, or whether their sources assume others: each note once."""
    for line in notes_lines(notes):
        print(line)


def print_error(message: str) -> None:
    """Print a message on standard error: in one line, or wrapped on a terminal."""
    text = f"lowregret: {escaped(' '.join(message.split()))}"
    (print_text if sys.stderr.isatty() else print)(text, file=sys.stderr)
