"""Values of options: integers such as 1e4, and policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lowregret.policies import Policy


def integer_option(given: str | int) -> int:
    """Read an integer, also one such as 1e4 or 10_000."""
    try:
        return int(given)
    except ValueError:
        pass
    try:
        value = float(given)
        if value.is_integer() and abs(value) <= 2**53:
            return int(value)
    except ValueError:
        pass
    raise typer.BadParameter(f"{given!r} is not an integer such as 10000 or 1e4.")


def policies_option(given: Iterable[str]) -> list[Policy]:
    """Read policies: names, or ``module:Class`` with a module of this folder or of the path."""
    from lowregret.experiments.policy_loading import load_policy

    return [load_policy(text) for text in given]
