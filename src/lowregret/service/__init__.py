"""The decision service: agents over HTTP, a client for them, and a dashboard."""

from __future__ import annotations

from importlib.util import find_spec

from lowregret.errors import InputError


def require_extra(*modules: str) -> None:
    """Refuse to go on without the packages of the extra ``service``."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise InputError(f"this needs {' and '.join(missing)}: pip install lowregret[service]")
