"""Exceptions that lowregret raises; each message is one sentence that names the value and what is allowed."""


class LowRegretError(Exception):
    """Base class of every error that lowregret raises on purpose.

    Examples
    --------
    >>> try:
    ...     lr.EUCBV(rho=-1)
    ... except lr.LowRegretError as error:
    ...     print(error)
    EUCBV: rho must be positive, got -1
    """


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
    """A decision that an agent does not make, because it is paused or retired."""


class StoreError(LowRegretError):
    """An agent file or experiment folder that cannot be used: full, locked, moved or damaged.

    Nothing was changed, unless the message says that a call may have been stored.

    Examples
    --------
    >>> issubclass(lr.StoreError, lr.LowRegretError), issubclass(lr.StoreError, lr.InputError)
    (True, False)
    """
