"""What a user is told when something cannot be done."""


class InputError(ValueError):
    """Bad input, refused before any work: one sentence that names the value and what is allowed.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.EUCBV(rho=-1)
    Traceback (most recent call last):
    lowregret.errors.InputError: EUCBV: rho must be positive, got -1
    """


class StoreError(InputError):
    """A file or folder that cannot be used, whatever one asks of it: full, held by another, moved, damaged.

    Nothing was changed.

    Examples
    --------
    >>> import lowregret as lr
    >>> issubclass(lr.StoreError, lr.InputError)
    True
    """
