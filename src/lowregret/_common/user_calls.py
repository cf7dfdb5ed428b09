"""Calls of users: arguments with the names of other libraries, and tracebacks that end where users called."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from lowregret.errors import LowRegretError

P = ParamSpec("P")
Result = TypeVar("Result")

TRACEBACK_SWITCH = "LOWREGRET_TRACEBACK"
"""The environment variable with which tracebacks are whole."""

OTHER_ARGUMENTS = {
    "runs": "n_runs num_runs nb_runs n_simulations repetitions n_repetitions n_repeats n_reps",
    "horizon": "T n_steps steps n_rounds rounds timesteps n_timesteps time_horizon n_iter",
    "seed": "random_state random_seed rng",
    "threads": "n_jobs num_workers workers n_threads num_threads processes",
    "policies": "policy algorithm algorithms algos agents players strategies learners",
    "bandit": "environment env mab problem testbed arms",
    "arms": "actions options choices n_arms k",
    "policy": "learning_policy algorithm strategy",
    "progress": "verbose",
    "minimum_share": "epsilon exploration min_share",
}
"""Arguments as other libraries call them, by our names."""


def user_call(function: Callable[P, Result]) -> Callable[P, Result]:
    """Name our argument for one of another library, and leave our own frames out of tracebacks."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except TypeError as error:
            inside = error.__traceback__ is None or error.__traceback__.tb_next is not None
            known = signature(function).parameters
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
    return f"{owner}: name the arguments{' after ' + places[-1] if places else ''}, such as {named[0]}=..."


def unknown_argument(owner: str, named: Iterable[str], allowed: Iterable[str]) -> str:
    """Return the message for the first argument that is not allowed, "" where all are."""
    names = list(allowed)
    for name in named:
        if name not in names:
            ours = [one for one in names if name in OTHER_ARGUMENTS.get(one, "").split()]
            near = ours or get_close_matches(name, names, n=1, cutoff=0.66)
            advice = f"use {near[0]}" if near else f"it takes {', '.join(names)}"
            return f"{owner}: unknown argument {name!r}: {advice}"
    return ""
