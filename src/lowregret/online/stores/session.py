"""Sessions of a store that stages its writes, which an interrupt may end at any moment."""

from __future__ import annotations

from collections.abc import Callable


class Session:
    """A session.

    An interrupt between the first line of a ``with`` statement and its body, or between its body and its
    end, cannot be caught here. The transaction is then left open, but empty, because writes are staged in
    memory; the next session rolls it back. This is not a generator, because a generator that is left over
    would roll back another transaction when it is garbage-collected.

    Parameters
    ----------
    begin, commit, roll_back : callable
        Begin a transaction, commit it, and roll back one that was not committed.
    """

    def __init__(
        self, begin: Callable[[], None], commit: Callable[[], None], roll_back: Callable[[], None]
    ) -> None:
        self._begin, self._commit, self._roll_back = begin, commit, roll_back

    def __enter__(self) -> None:
        try:
            self._begin()
        except BaseException:
            self._roll_back()
            raise

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            self._roll_back()
