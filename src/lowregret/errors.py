"""Exceptions that lowregret raises; each message is one sentence that names the value and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MAX_NAMED = 3
"""How many rejected rewards a message describes."""


class LowRegretError(Exception):
    """Base class of every error that lowregret raises on purpose.

    Attributes
    ----------
    rejected : mapping of int to LowRegretError
        Where a call with several rewards rejected some and recorded the others: the errors of those that it
        rejected, by their places from 0. Else empty.

    Examples
    --------
    >>> try:
    ...     lr.EUCBV(rho=-1)
    ... except lr.LowRegretError as error:
    ...     print(error)
    EUCBV: rho must be positive, got -1
    """

    rejected: Mapping[int, LowRegretError] = MappingProxyType({})


class InputError(LowRegretError, ValueError):
    """Invalid input, rejected before any work is done.

    Examples
    --------
    >>> lr.EUCBV(rho=-1)
    Traceback (most recent call last):
    lowregret.errors.InputError: EUCBV: rho must be positive, got -1
    """


class UnknownDecisionError(LowRegretError, LookupError):
    """A decision that this agent did not make, or no longer remembers.

    Examples
    --------
    >>> lr.Agent(lr.UCB1(), ["red", "green"]).tell("5f-1", 1)
    Traceback (most recent call last):
    lowregret.errors.UnknownDecisionError: unknown decision '5f-1': this agent did not make it
    """


class ConflictError(LowRegretError):
    """A request that contradicts one accepted earlier, such as a second, different reward for a decision.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
    >>> choice = agent.ask(request="visit")
    >>> agent.ask(2, request="visit")
    Traceback (most recent call last):
    lowregret.errors.ConflictError: request 'visit' asked for 1 decision before, not for 2
    """


class PausedError(ConflictError):
    """A decision that an agent does not make, because it is paused or retired.

    Examples
    --------
    >>> agent = lr.Agent(lr.UCB1(), ["red", "green"])
    >>> agent.pause()
    True
    >>> try:
    ...     agent.ask()
    ... except lr.PausedError:
    ...     print("show the default")
    show the default
    """


class StoreError(LowRegretError):
    """An agent file or experiment folder that cannot be used: full, locked, moved or damaged.

    Nothing was changed, unless the message says that a call may have been stored.

    Examples
    --------
    >>> issubclass(lr.StoreError, lr.LowRegretError), issubclass(lr.StoreError, lr.InputError)
    (True, False)
    """


def rejection(rejected: Mapping[int, LowRegretError], total: int) -> LowRegretError:
    """Return the error of a call with ``total`` rewards that rejected some of them, and no others."""
    first, *_ = rejected.values()
    if total == 1:
        return first
    has_conflict = any(isinstance(error, ConflictError) for error in rejected.values())
    details = "; ".join(str(error) for error in list(rejected.values())[:MAX_NAMED])
    more = f"; and {len(rejected) - MAX_NAMED:,} more" if len(rejected) > MAX_NAMED else ""
    recorded = "the others are recorded" if len(rejected) < total else "none is recorded"
    kind = ConflictError if has_conflict else UnknownDecisionError
    error = kind(f"{len(rejected):,} of {total:,} rewards are rejected, {recorded}: {details}{more}")
    error.rejected = dict(rejected)
    return error
