"""A Griffe extension: the methods that kinds of agents derive from ``Agent``, with signatures and docstrings.

``tell = Call(Agent.tell)`` in the table of calls stands for a method of each kind, a coroutine where calls
are awaited. ``time = Value(Agent.time)`` stands for a property, or for a coroutine as well.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

TABLE = "online.agent_kinds.Calls"
KINDS = ("online.agent_kinds.SyncCalls", "online.agent_kinds.AsyncCalls", "online.async_agent.AsyncAgent")
ROW = re.compile(r"(Call|Value|_waited|_awaited)\(Agent\.(\w+)\)")


class DerivedMethods(griffe.Extension):
    """Give the classes the members that they derive from those of ``Agent``."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Complete the classes by the rows of the table, and by those of their own."""
        for path in KINDS if pkg.name == "lowregret" else ():
            kind = pkg[path]
            shared = [] if path.endswith("Agent") else list(pkg[TABLE].attributes.values())
            for attribute in [*shared, *kind.attributes.values()]:
                if row := ROW.fullmatch(str(attribute.value)):
                    origin = pkg[f"online.agent.Agent.{row[2]}"]
                    kind.set_member(attribute.name, _member(origin, kind, not path.endswith("SyncCalls")))


def _member(origin: Any, kind: griffe.Class, awaited: bool) -> griffe.Function | griffe.Attribute:
    """Return a member of a class like a method or a property of ``Agent``."""
    is_function = isinstance(origin, griffe.Function)
    place = {"docstring": origin.docstring, "lineno": origin.lineno, "endlineno": origin.endlineno}
    if not is_function and not awaited:
        value = griffe.Attribute(origin.name, annotation=origin.annotation, parent=kind, **place)
        value.labels = origin.labels
        return value
    method = griffe.Function(
        origin.name,
        parameters=origin.parameters if is_function else griffe.Parameters(griffe.Parameter("self")),
        returns=origin.returns if is_function else origin.annotation,
        parent=kind,
        **place,
    )
    method.overloads = origin.overloads if is_function else None
    method.labels |= {"async"} if awaited else set()
    return method
