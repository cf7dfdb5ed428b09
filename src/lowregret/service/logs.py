"""What an operator should know of, one line each: ``time=... level=... event=... key=value``."""

import json
import logging
import re
from time import monotonic
from typing import Any

from lowregret._common.progress import log_lines

SELDOM_SECONDS = 60.0
"""How long no second line of a kind is written that strangers can cause."""
log = logging.getLogger("lowregret.service")
library = logging.getLogger("lowregret.online")
_written: dict[str, tuple[float, int]] = {}
"""When a line of a kind was written last, and how many were left out since."""


def configure() -> None:
    """Write to standard error."""
    handler, form = logging.StreamHandler(), "time=%(asctime)s level=%(levelname)s %(message)s"
    handler.setFormatter(logging.Formatter(form, "%Y-%m-%dT%H:%M:%S%z"))
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO)
    log_lines(lambda text: write("progress", detail=text))
    note = logging.StreamHandler()
    form = f'{form.removesuffix("%(message)s")}event=note detail="%(message)s"'
    note.setFormatter(logging.Formatter(form, "%Y-%m-%dT%H:%M:%S%z"))
    library.handlers, library.propagate = [note], False


def write(event: str, level: int = logging.INFO, error: BaseException | None = None, **fields: Any) -> None:
    """Write a line; ``error`` adds its traceback."""
    line = " ".join(f"{key}={_text(value)}" for key, value in {"event": event, **fields}.items())
    log.log(level, "%s", line, exc_info=error)


def write_seldom(event: str, kind: object = "", error: BaseException | None = None, **fields: Any) -> None:
    """Write a warning, but at most one of its kind in 60 s; the next one says how many were left out."""
    key, now = f"{event} {kind}", monotonic()
    last, omitted = _written.get(key, (now - SELDOM_SECONDS, 0))
    due = now - last >= SELDOM_SECONDS
    _written[key] = (now, 0) if due else (last, omitted + 1)
    if due:
        write(event, logging.WARNING, error, **fields, omitted=omitted)


def _text(value: object) -> str:
    text = str(value)[:500]
    return text if re.fullmatch(r"[\w.:/{}-]+", text, re.ASCII) else json.dumps(text)
