"""The decision service: agents over HTTP, a client for them, and a dashboard."""

from dataclasses import dataclass

MAX_GROUP = 256
MAX_CONNECTIONS = 1_000
"""The most connections of a worker, and the most calls that it answers at a time."""


@dataclass(frozen=True)
class Options:
    """What a service is started with."""

    store: str  # a path or a URL
    tokens: str | None = None  # their file, None if none are needed
    max_group: int = MAX_GROUP  # 1 turns group commit off
    access_log: bool = False  # whether to log every call
