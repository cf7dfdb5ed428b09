"""The results so far of an experiment that is running or was stopped.

``plan.json`` is written when a run begins. It holds what the tables need besides the shards: the description
of the experiment, the times and arms of every environment, and the shards of every pair.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from lowregret._common.durable_files import as_store_error, checksum, replace_file, sync
from lowregret.errors import InputError
from lowregret.experiments.long_tables import long_tables, recorded
from lowregret.experiments.sharding import ShardPlan
from lowregret.experiments.store import ResultStore, description
from lowregret.results import Description, Results

FILE = "plan.json"


class StoredShard(NamedTuple):
    """A shard by its name, and the number of its runs."""

    name: str
    runs: int


class StoredPair(NamedTuple):
    """A policy on an environment, with its shards in the order of runs."""

    environment: str
    policy: str
    shards: Sequence[StoredShard]


def write_plan(folder: Path, plan: ShardPlan) -> None:
    """Write what is to be computed to the folder of an experiment."""
    times, arms = recorded(plan)
    data = {
        "description": asdict(description(plan)),
        "times": times,
        "arms": arms.to_dict(as_series=False),
        "pairs": [
            [pair.environment, pair.policy, [[shard.name, shard.runs] for shard in pair.shards]]
            for pair in plan.pairs
        ],
    }
    with as_store_error(folder):
        replace_file(folder / FILE, json.dumps(data).encode())
        sync(folder)


def open_unfinished(store: ResultStore) -> Results | None:
    """Open what is finished of an experiment; None where its folder does not say what was planned.

    Every shard is checked against its checksum; those that are damaged are left out.
    """
    data = _read(store.folder / FILE)
    if data is None:
        return None
    pairs = [
        StoredPair(environment, policy, [StoredShard(*shard) for shard in shards])
        for environment, policy, shards in data["pairs"]
    ]
    there = {shard for pair in pairs for shard in pair.shards if _is_there(store, shard)}
    kept = [pair._replace(shards=[shard for shard in pair.shards if shard in there]) for pair in pairs]
    done = [pair for pair in kept if pair.shards]
    if not done:
        raise InputError(f"{str(store.folder)!r} has no finished shard yet: run it again to continue")
    planned = sum(shard.runs for pair in pairs for shard in pair.shards)
    tables = long_tables(done, data["times"], pl.DataFrame(data["arms"]), store.rows)
    return Results(
        replace(Description.from_dict(data["description"]), planned_runs=planned), tables.__getitem__
    )


def _is_there(store: ResultStore, shard: StoredShard) -> bool:
    entry = store.entries.get(shard.name)
    return entry is not None and checksum(store.path(shard)) == entry.sha256


def _read(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
