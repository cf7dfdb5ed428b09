"""Calls of users: arguments with the names of other libraries, and tracebacks that end where users called."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from lowregret._common.other_names import ARGUMENTS, ELSEWHERE, ours
from lowregret.errors import LowRegretError

P = ParamSpec("P")
Result = TypeVar("Result")

TRACEBACK_SWITCH = "LOWREGRET_TRACEBACK"
"""The environment variable with which tracebacks are whole."""


def user_call(function: Callable[P, Result]) -> Callable[P, Result]:
    """Name our argument for one of another library, and leave our own frames out of tracebacks."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except TypeError as error:
            inside = error.__traceback__ is None or error.__traceback__.tb_next is not None
            known = [name for name in signature(function).parameters if name != "self"]
            advice = unknown_argument(function.__name__, named, known) or _by_place(function, arguments)
            if inside or not advice:
                raise
            raise TypeError(advice) from None
        except LowRegretError as error:
            if os.environ.get(TRACEBACK_SWITCH):
                raise
            raise error.with_traceback(None) from None

    return call


def _by_place(function: Callable[..., object], arguments: tuple[object, ...]) -> str:
    """Return the message for more arguments than may be passed by their place, "" where they are not."""
    owner, parameters = function.__name__, signature(function).parameters.values()
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    if len(arguments) <= len(places):
        return ""
    if len(places) == 1 and all(isinstance(value, int | float) for value in arguments):
        return f"{owner} takes one list: write {owner}([{', '.join(map(repr, arguments))}])"
    named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    places = [name for name in places if name != "self"]
    if not named:
        return f"{owner} takes {' and '.join(places)} alone"
    return f"{owner}: name the arguments{' after ' + places[-1] if places else ''}, such as {named[0]}=..."


def unknown_argument(owner: str, named: Iterable[str], allowed: Iterable[str]) -> str:
    """Return the message for the first argument that is not allowed, "" where all are."""
    names = list(allowed)
    for name in named:
        if name not in names:
            return f"{owner}: unknown argument {name!r}: {argument_advice(name, names)}"
    return ""


def argument_advice(name: str, allowed: list[str]) -> str:
    """Return what to pass instead of an argument that a call does not have."""
    if use := ours(name, {one: ARGUMENTS.get(one, "") for one in allowed}):
        return f"use {use}"
    if near := get_close_matches(name, allowed, n=1, cutoff=0.66):
        return f"did you mean {near[0]!r}?"
    if use := ours(name, ELSEWHERE):
        return f"use {use}"
    return f"it takes {', '.join(allowed) or 'none'}"
