"""The log of an agent as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from lowregret.online.decisions import Event

if TYPE_CHECKING:
    from lowregret.online.stores import Store

CHUNK = 10_000
"""How many events are read at a time."""
EVENTS = {
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
REWARDS = {
    "decision": pl.Int64,
    "time": pl.Int64,
    "timestamp": pl.Float64,
    "arm": pl.String,
    "reward": pl.Float64,
    "propensity": pl.Float64,
}


def all_events(store: Store, after: int | None = None, stop: int | None = None) -> Iterator[Event]:
    """Yield the events after a position up to another one: by default all that the store holds."""
    if after is None:
        first = store.first()
        after = 0 if first is None else first[0]
    while stop is None or after < stop:
        events = store.events(after, CHUNK if stop is None else min(CHUNK, stop - after))
        if not events:
            return
        yield from events
        after += len(events)


def event_table(store: Store) -> pl.DataFrame:
    """Return the events, one row each."""
    return _dated(pl.DataFrame(list(all_events(store)), schema=EVENTS, orient="row"))


def reward_table(store: Store) -> pl.DataFrame:
    """Return the decisions whose rewards are known, in their order."""
    asked: dict[int, Event] = {}
    rewards: dict[int, float] = {}
    matured = 0
    for event in all_events(store):
        number = event.decision or 0
        if event.kind == "asked":
            asked[number] = event
        elif event.kind == "told" and event.reward is not None:
            rewards[number] = event.reward
        elif event.kind == "forgot":
            asked.pop(number, None)
        elif event.kind == "matured":
            if event.reward is not None:
                for each in range(matured + 1, number + 1):
                    rewards.setdefault(each, event.reward)
            matured = number
    known = [(asked[number], reward) for number, reward in sorted(rewards.items()) if number in asked]
    rows = [
        (event.decision, event.time, event.timestamp, event.arm, reward, event.propensity)
        for event, reward in known
    ]
    return _dated(pl.DataFrame(rows, schema=REWARDS, orient="row"))


def _dated(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with timestamps as dates in UTC."""
    moments = (pl.col("timestamp") * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us", "UTC"))
    return table.with_columns(moments.alias("timestamp"))
