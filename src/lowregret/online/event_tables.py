"""The log of an agent as tables of polars: all events, and the rewards, as `replay` reads them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from math import inf, isfinite, isnan, nan

import polars as pl

from lowregret.online.decisions import ANSWERS, Event
from lowregret.online.stores import CHUNK_EVENTS, CompactedError, retry_if_changed

EVENT_COLUMNS = {
    "kind": pl.String,
    "decision": pl.Int64,
    "arm": pl.String,
    "reward": pl.Float64,
    "time": pl.Int64,
    "propensity": pl.Float64,
    "drawn": pl.Int64,
    "request": pl.String,
    "key": pl.String,
    "timestamp": pl.Float64,
}
REWARD_COLUMNS = {
    "decision": pl.Int64,
    "time": pl.Int64,
    "timestamp": pl.Float64,
    "arm": pl.String,
    "reward": pl.Float64,
    "propensity": pl.Float64,
}


def event_table(events: Iterable[Event]) -> pl.DataFrame:
    return _with_dates(pl.DataFrame(list(events), schema=EVENT_COLUMNS, orient="row"))


def reward_table(read: Callable[[], Iterable[Event]]) -> pl.DataFrame:
    """Return the decisions whose rewards are known, in their order."""
    return pl.concat(reward_tables(read))


def reward_tables(read: Callable[[], Iterable[Event]]) -> Iterator[pl.DataFrame]:
    """Yield the same in parts, at least one: the log is read twice, and only rewards are held in memory."""
    first, rewards = retry_if_changed(lambda: _rewards(read()))
    asked = _decisions(read)
    for _ in range(0, max(len(rewards), 1), CHUNK_EVENTS):
        rows = [
            (event.decision, event.time, event.timestamp, event.arm, rewards[place], event.propensity)
            for event in islice(asked, CHUNK_EVENTS)
            if 0 <= (place := (event.decision or 0) - first) < len(rewards) and isfinite(rewards[place])
        ]
        yield _with_dates(pl.DataFrame(rows, schema=REWARD_COLUMNS, orient="row"))


def _rewards(events: Iterable[Event]) -> tuple[int, array[float]]:
    """Return the first decision and the rewards of all: nan if it is not known, inf if it was discarded."""
    rewards, first, matured = array("d"), 0, 0
    for event in events:
        number = last = event.decision or 0
        if event.kind == "asked":
            first = first or number
            rewards.append(nan)
        elif event.kind == "matured":
            number, matured = matured + 1, last
        if first and event.kind in (*ANSWERS, "matured", "withdrew"):
            for place in range(max(number - first, 0), last - first + 1):
                if isnan(rewards[place]) or event.kind == "withdrew":
                    rewards[place] = inf if event.reward is None else event.reward
    return first, rewards


def _decisions(read: Callable[[], Iterable[Event]]) -> Iterator[Event]:
    """Yield the decisions in a log, those that are left where others drop some meanwhile."""
    last, complete = 0, False
    while not complete:
        with suppress(CompactedError):
            for event in read():
                if event.kind == "asked" and (event.decision or 0) > last:
                    last = event.decision or 0
                    yield event
            complete = True


def _with_dates(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with timestamps as dates in UTC."""
    moments = (pl.col("timestamp") * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us", "UTC"))
    return table.with_columns(moments.alias("timestamp"))
