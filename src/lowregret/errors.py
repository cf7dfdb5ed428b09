"""The one error a user can cause."""


class InputError(ValueError):
    """Bad input, refused before any work: one sentence that names the value and what is allowed.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.EUCBV(rho=-1)
    Traceback (most recent call last):
    lowregret.errors.InputError: EUCBV: rho must be positive, got -1
    """
