"""Errors of the service as problem details (RFC 9457): one sentence each, and never a 500."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from http import HTTPStatus

from lowregret.errors import ConflictError, InputError, LowRegretError, StoreError, UnknownDecisionError

MEDIA_TYPE = "application/problem+json"
log = logging.getLogger("lowregret.service")
_DATABASE = re.compile(r"'?postgres(ql)?://[^\s']*'?")


class RefusedError(LowRegretError):
    """A call that the service refuses, with a status and headers of its own.

    Parameters
    ----------
    status : int
        The status.
    kind : str
        The last part of the type of the problem.
    detail : str
        One sentence.
    headers : dict, optional
        Headers of the answer.
    """

    def __init__(self, status: int, kind: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.kind, self.headers = status, kind, headers or {}


KINDS: dict[type[Exception], tuple[int, str]] = {
    UnknownDecisionError: (404, "unknown-decision"),
    ConflictError: (409, "conflict"),
    StoreError: (503, "store"),
    InputError: (400, "input"),
}
"""The status and the kind of each error of the library."""


def problem_of(error: BaseException, hidden: Iterable[str] = ()) -> tuple[int, str, dict[str, str]]:
    """Return the status, the body and the headers of the answer to a call that failed.

    ``hidden`` are the names of the store, which a client need not know: a URL may contain a password.
    """
    headers: dict[str, str] = {}
    if isinstance(error, RefusedError):
        status, kind, headers = error.status, error.kind, error.headers
    else:
        status, kind = next(
            (found for known, found in KINDS.items() if isinstance(error, known)), (503, "internal")
        )
    detail = str(error)
    if kind == "internal":  # a defect of ours, which a log must show and a stranger need not see
        log.error("a call failed", exc_info=error)
        detail = "the service failed to answer this call: try again, or look into its log"
    for name in hidden:
        detail = detail.replace(repr(name), "the store").replace(name, "the store")
    detail = _DATABASE.sub("the store", detail)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers = {"Retry-After": "1", **headers}
    body = {
        "type": f"urn:lowregret:{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": " ".join(detail.split()),
    }
    return status, json.dumps(body), headers
