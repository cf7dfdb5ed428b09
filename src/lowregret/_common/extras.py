"""Import packages that only an extra of lowregret installs, or say which extra to install."""

from importlib import import_module
from typing import Any

from lowregret.errors import InputError


def import_extra(extra: str, module: str) -> Any:
    """Import a module of an extra; an error is one sentence that says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(f'this needs {error.name}: pip install "lowregret[{extra}]"') from None
