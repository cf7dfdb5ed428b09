"""stub."""


def open_agent() -> None:
    """Stub."""
