"""``lowregret policies``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import unknown
from lowregret.cli.printing import console
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.policies import Policy


def policies(
    name: Annotated[str | None, typer.Argument(help="The policy to describe.", show_default=False)] = None,
) -> None:
    """List the policies, or describe one."""
    from inspect import getdoc

    from lowregret.cli.terminal_tables import text_table
    from lowregret.policies import POLICIES

    if name is None:
        rows = [
            {
                "policy": _signature(kind),
                "rule": (getdoc(kind) or "").partition("\n")[0],
                "needs": ", ".join(kind.needs) or "-",
                "source": kind.source,
            }
            for kind in POLICIES.values()
        ]
        console().print(text_table(rows))
    elif name in POLICIES:
        kind = POLICIES[name]
        needs = ", ".join(kind.needs) or "nothing"
        print(f"{_signature(kind)}\n\n{getdoc(kind)}\n\nNeeds: {needs}\nSource: {kind.source}")
    else:
        raise InputError(unknown("policy", name, POLICIES))


def _signature(kind: type[Policy]) -> str:
    """Return the name of a policy with its parameters and their defaults."""
    from dataclasses import MISSING

    from lowregret.policies.base import fields_of

    parameters = [
        field.name if field.default is MISSING else f"{field.name}={_plain(field.default)}"
        for field in fields_of(kind)
    ]
    return kind.__name__ + (f"({', '.join(parameters)})" if parameters else "")


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
