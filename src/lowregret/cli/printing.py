"""The console, and messages on standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from json import dumps
from typing import TYPE_CHECKING

from lowregret._common.text import escaped

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Return a console that prints text without markup, 200 columns wide if the output is not a terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 200
    return Console(width=width, markup=False, highlight=False, emoji=False)


def print_json(data: object) -> None:
    """Print data as one JSON object."""
    print(dumps(data, allow_nan=False))


def print_notes(notes: Mapping[str, str]) -> None:
    """Print how rewards were changed for a policy, and whether its source assumes others."""
    for name, note in notes.items():
        if note:
            console().print(escaped(f"{name}: {note}"), soft_wrap=True, markup=False)


def tell(message: str) -> None:
    """Print one line on standard error."""
    print(f"lowregret: {escaped(' '.join(message.split()))}", file=sys.stderr)
