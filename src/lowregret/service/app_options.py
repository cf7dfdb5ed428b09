"""What a service is started with; apart from the application, so that the command line is quick."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TOGETHER = 256
"""The most calls of one transaction."""


@dataclass(frozen=True)
class Options:
    """What a service is started with.

    Attributes
    ----------
    store : str
        The store: a path or a URL.
    tokens : str or None
        The file of tokens, None if none are needed.
    most_together : int
        The most calls of one transaction; 1 turns group commit off.
    """

    store: str
    tokens: str | None = None
    most_together: int = MOST_TOGETHER
