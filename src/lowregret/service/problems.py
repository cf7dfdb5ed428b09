"""Errors of the service as problem details (RFC 9457): one sentence each, and never a 500."""

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from lowregret import errors
from lowregret.online.stores import UnreachableError
from lowregret.online.stores.locations import without_urls
from lowregret.service.logs import write_seldom

PROBLEM_MEDIA_TYPE = "application/problem+json"


class RefusedError(errors.LowRegretError):
    """A call that the service refuses, with a status and headers of its own."""

    def __init__(self, status: int, kind: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.kind, self.headers = status, kind, headers or {}


ERROR_KINDS: dict[type[Exception], tuple[int, str]] = {
    errors.UnknownDecisionError: (404, "unknown-decision"),
    errors.PausedError: (409, "paused"),
    errors.ConflictError: (409, "conflict"),
    errors.StoreError: (503, "store"),
    errors.InputError: (400, "input"),
}
"""The status and the kind of each error of the library."""


def problem_of(error: BaseException, hidden: Iterable[str] = ()) -> tuple[int, str, dict[str, str]]:
    """Return the status, the body and the headers of the answer to a call that failed."""
    headers: dict[str, str] = {}
    if isinstance(error, RefusedError):
        status, kind, headers = error.status, error.kind, error.headers
    else:
        status, kind = _kind_of(error)
    detail = str(error)
    if kind == "internal":  # a defect of ours, which a log must show and a stranger need not see
        write_seldom("call_failed", type(error).__name__, error)
        detail = "the service failed to answer this call: try again, or look into its log"
    if isinstance(error, UnreachableError):
        detail = "the store cannot be reached at present: try again"
    for name in hidden:
        detail = detail.replace(repr(name), "the store").replace(name, "the store")
    detail = without_urls(detail)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers = {"Retry-After": "1", **headers}
    body: dict[str, Any] = {
        "type": f"urn:lowregret:{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": " ".join(detail.split()),
    }
    if isinstance(error, errors.LowRegretError) and error.rejected:
        body["rejected"] = [
            {"index": place, "type": f"urn:lowregret:{_kind_of(cause)[1]}", "detail": str(cause)}
            for place, cause in error.rejected.items()
        ]
    return status, json.dumps(body), headers


def _kind_of(error: BaseException) -> tuple[int, str]:
    return next(
        (entry for error_type, entry in ERROR_KINDS.items() if isinstance(error, error_type)),
        (503, "internal"),
    )
