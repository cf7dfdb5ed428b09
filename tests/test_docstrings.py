"""Every public name has a complete docstring, with an example that runs (pytest runs them as doctests).

Public names are those of ``lowregret`` and ``lowregret.testing``, and the public methods and properties of
their classes. The policies of the package have the methods of ``Policy``, so only their classes count.

A docstring is complete if it has a summary; describes every parameter under Parameters (of a class also under
Attributes); says what is returned, if that is not None, under Returns or in a summary that begins with
Return, Make or Draw; and has an example, none of it skipped.
For a method or property, the example may be that of its class, if it uses or overrides the method.
"""

import inspect
import re
from functools import cached_property
from typing import NoReturn

import pytest

import lowregret as lr

SECTION = re.compile(r"^(\w+)\n-{3,}\n(.*?)(?=^\w+\n-{3,}\n|\Z)", re.DOTALL | re.MULTILINE)
SAYS = re.compile(r"(Return|Make|Draw)\b")
NAMES = re.compile(r"^([*\w][\w*, ]*?)(?: : .*)?$", re.MULTILINE)


def public_names():
    """Yield each public name with its object and the docstring of its class, if it has one."""
    for name in dir(lr):
        value = getattr(lr, name)
        if inspect.ismodule(value):
            for inner, part in vars(value).items():
                if inspect.isfunction(part) and part.__module__ == value.__name__ and inner[0] != "_":
                    yield f"{name}.{inner}", part, ""
        elif inspect.isclass(value) or inspect.isfunction(value):
            yield name, value, ""
            if inspect.isclass(value) and (value is lr.Policy or not issubclass(value, lr.Policy)):
                yield from members(name, value)


def members(name, kind):
    """Yield the methods and properties that the package defines for a class."""
    for base in kind.__mro__:
        if not base.__module__.startswith("lowregret"):
            continue
        for inner, part in vars(base).items():
            part = getattr(part, "__func__", part)
            method = inspect.isfunction(part) or isinstance(part, property | cached_property)
            own = getattr(part, "__qualname__", "") == f"{base.__name__}.{inner}"
            method = method and (own or not hasattr(part, "__wrapped__"))  # else its docstring is another's
            if method and inner[0] != "_" and inspect.getattr_static(kind, inner) is vars(base)[inner]:
                yield f"{name}.{inner}", part, f"{inspect.getdoc(kind)}\n{inspect.getdoc(base)}"


def problems(value, of_class):
    """Return what a docstring lacks."""
    text = inspect.getdoc(value) or ""
    sections = dict(SECTION.findall(text))
    lacking = []
    if not text.partition("\n")[0].rstrip().endswith("."):
        lacking.append("a summary of one line")
    if not isinstance(value, property | cached_property):
        described = sections.get("Parameters", "") + (
            sections.get("Attributes", "") if inspect.isclass(value) else ""
        )
        names = {name.strip(" *") for line in NAMES.findall(described) for name in line.split(",")}
        lacking += [name for name in parameters(value) if name not in names]
        returned = None if inspect.isclass(value) else inspect.signature(value).return_annotation
        if returned not in (None, "None", NoReturn) and "Returns" not in sections and not SAYS.match(text):
            lacking.append("Returns")
    if (">>>" not in text and not used(value, of_class)) or "+SKIP" in text:
        lacking.append("an example")
    return lacking


def parameters(value):
    """Return the names of the parameters that a caller may give."""
    if inspect.isclass(value) and issubclass(value, Exception):
        return []
    names = inspect.signature(value).parameters
    return [name for name in names if name not in ("self", "cls", "args", "kwargs") and name[0] != "_"]


def used(value, text):
    """Return whether the example in a docstring uses or overrides a method or property."""
    name = getattr(value, "attrname", None) or getattr(value, "fget", value).__name__  # a cached property
    code = "\n".join(line for line in text.splitlines() if line.lstrip()[:3] in (">>>", "..."))
    return re.search(rf"(\.|def ){name}\b", code) is not None


NAMED = {name: (value, of_class) for name, value, of_class in public_names()}


def test_there_are_public_names():
    assert {"simulate", "Agent.ask", "Agent.summary", "Bandit.means", "testing.check_policy"} <= set(NAMED)


def test_docstrings_are_complete():
    incomplete = {name: lacking for name in NAMED if (lacking := problems(*NAMED[name]))}
    assert not incomplete, "\n".join(f"{name} lacks {', '.join(parts)}" for name, parts in incomplete.items())


@pytest.mark.parametrize("name", sorted(lr.policies.POLICIES))
def test_a_policy_begins_with_what_it_does_and_when_to_use_it(name):
    """Not with a formula, which follows; and See Also names policies that there are."""
    text = inspect.getdoc(lr.policies.POLICIES[name]) or ""
    first = text.partition("\n")[0]
    if "See Also" in text:  # those for identification begin with a sentence
        relatives = re.findall(
            r"^(\w+) : [A-Z]", text.partition("See Also")[2].partition("Examples")[0], re.M
        )
        assert relatives and set(relatives) <= set(lr.policies.POLICIES) - {name}
        assert not re.search(r"sqrt|log\(|\^", first), first
