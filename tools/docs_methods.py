"""A Griffe extension: methods that a class takes from elsewhere, with their signatures and docstrings.

``forget = agent_changes.forget`` takes a function of another module, and ``ask = _awaited(Agent.ask)``
derives a coroutine from a method or a property of ``Agent``.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

CLASSES = (
    "online.agent.Agent",
    "online.async_agent.AsyncCalls",
    "online.async_agent.AsyncAgent",
    "service.client.RemoteAgent",
)
TAKEN = re.compile(r"(agent_\w+)\.(\w+)|(_awaited|_sent|_sent_property)\(Agent\.(\w+).*")
"""A function of a module of ``online``, or a wrapper of a member of ``Agent``."""


class TakenMethods(griffe.Extension):
    """Replace the attributes that hold methods by the methods."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Complete the classes, in an order in which each needs only those before it."""
        for path in CLASSES if pkg.name == "lowregret" else ():
            kind = pkg[path]
            for attribute in list(kind.attributes.values()):
                if taken := TAKEN.fullmatch(str(attribute.value)):
                    module, function, wrapper, member = taken.groups()
                    origin = pkg[f"online.{module}.{function}" if module else f"online.agent.Agent.{member}"]
                    if wrapper == "_sent_property":
                        attribute.annotation, attribute.docstring = origin.annotation, origin.docstring
                        attribute.value, attribute.labels = None, origin.labels
                        continue
                    kind.set_member(attribute.name, _method(origin, kind, wrapper))


def _method(origin: Any, kind: griffe.Class, wrapper: str | None) -> griffe.Function:
    """Return a method of a class like another function or property."""
    is_function = isinstance(origin, griffe.Function)
    method = griffe.Function(
        origin.name,
        parameters=origin.parameters if is_function else griffe.Parameters(griffe.Parameter("self")),
        returns=origin.returns if is_function else origin.annotation,
        docstring=origin.docstring,
        lineno=origin.lineno,
        endlineno=origin.endlineno,
        parent=kind,
    )
    method.overloads = origin.overloads if is_function else None
    method.labels |= {"async"} if wrapper == "_awaited" else set()
    return method
