"""The decision service: agents over HTTP, a client for them, and a dashboard."""

from dataclasses import dataclass

MAX_GROUP = 256
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
    max_group : int
        The most calls of one transaction; 1 turns group commit off.
    access_log : bool
        Whether to log every call.
    """

    store: str
    tokens: str | None = None
    max_group: int = MAX_GROUP
    access_log: bool = False
