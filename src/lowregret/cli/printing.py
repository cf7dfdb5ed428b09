"""What every command prints with."""

from __future__ import annotations

import sys
from json import dumps
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Give a console that prints text as it is, and does not fold what goes into a pipe."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 200
    return Console(width=width, markup=False, highlight=False, emoji=False)


def print_json(data: object) -> None:
    """Print data as one JSON object."""
    print(dumps(data, allow_nan=False))


def tell(message: str) -> None:
    """Print one line on standard error."""
    print(f"lowregret: {' '.join(message.split())}", file=sys.stderr)
