"""What a worker does: play the runs of one shard and write them as Parquet, in memory."""

from __future__ import annotations

import hashlib
import io
import os
import socket
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lowregret.engine.cpu import simulate
from lowregret.engine.outcome import Outcome
from lowregret.experiments.plan import ENGINE, ArmGroups, Shard, ungroup
from lowregret.experiments.policy_loading import load_class


class Finished(NamedTuple):
    """The result of a shard: a Parquet file, its checksum, and the seconds it took."""

    data: bytes
    sha256: str
    seconds: float


def work(shard: Shard, arms: ArmGroups) -> Finished:
    """Compute a shard on the arms of its environment, in whatever process this is."""
    if shard.engine != ENGINE:
        where = f"process {os.getpid()} on {socket.gethostname()}"
        raise RuntimeError(f"{where} runs other sources of lowregret than the planner: install the same")
    bandit = ungroup(arms)
    policy = load_class(shard.policy)(**dict(shard.parameters))
    times = np.array(shard.times, np.int64)
    outcome = simulate(
        policy,
        bandit,
        shard.horizon,
        shard.runs,
        shard.seed,
        times,
        threads=1,
        clip=shard.clip,
        first_run=shard.first,
    )
    data = _parquet(shard, outcome)
    return Finished(data, hashlib.sha256(data).hexdigest(), outcome.seconds)


def _parquet(shard: Shard, outcome: Outcome) -> bytes:
    """Write one row per run: its number, regret at each time, pulls and eliminations by arm."""
    arms = outcome.pulls.shape[1]
    eliminated = [None] * shard.runs if outcome.eliminated is None else outcome.eliminated
    columns = [
        pl.Series("run", np.arange(shard.first, shard.first + shard.runs)),
        _lists("regret", outcome.regret, pl.Float64, len(shard.times)),
        _lists("pulls", outcome.pulls, pl.Int64, arms),
        _lists("eliminated", eliminated, pl.Int64, arms),
    ]
    buffer = io.BytesIO()
    # The quickest to write; nobody looks for values in a shard.
    pl.DataFrame(columns).write_parquet(buffer, compression="lz4", statistics=False)
    return buffer.getvalue()


def _lists(name: str, values: Any, kind: type[pl.DataType], width: int) -> pl.Series:
    return pl.Series(name, values, pl.Array(kind, width)).cast(pl.List(kind))
