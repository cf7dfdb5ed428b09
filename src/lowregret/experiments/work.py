"""What a worker does: play the runs of one shard and write them as Parquet, in memory."""

from __future__ import annotations

import hashlib
import io
import os
import socket
from threading import Lock
from typing import NamedTuple

import numpy as np
import polars as pl

from lowregret.engine.simulate import Outcome, simulate
from lowregret.environments import Bandit
from lowregret.experiments.classes import load_class
from lowregret.experiments.plan import ENGINE, Shard, ungroup
from lowregret.policies import Policy

_loading = Lock()
"""Held while a policy is loaded and compiled, which two threads must not do at once."""


class Finished(NamedTuple):
    """The result of a shard: a Parquet file, its checksum, and the seconds it took."""

    data: bytes
    sha256: str
    seconds: float


def work(shard: Shard) -> Finished:
    """Compute a shard, in whatever process this is."""
    if shard.engine != ENGINE:
        where = f"process {os.getpid()} on {socket.gethostname()}"
        raise RuntimeError(f"{where} runs other sources of lowregret than the planner: install the same")
    bandit = ungroup(shard.arms)
    with _loading:
        policy = load_class(shard.policy)(**dict(shard.parameters))
        _compile(policy, bandit, shard)
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


def _compile(policy: Policy, bandit: Bandit, shard: Shard) -> None:
    """Let the engine compile for a policy by simulating no runs at all."""
    grid = np.array([shard.horizon], np.int64)
    simulate(policy, bandit, shard.horizon, 0, shard.seed, grid, threads=1, clip=shard.clip)


def _parquet(shard: Shard, outcome: Outcome) -> bytes:
    """Write one row per run: its number, regret at each time, pulls and eliminations by arm."""
    arms = outcome.pulls.shape[1]
    whole = pl.Array(pl.Int64, arms)
    eliminated = outcome.eliminated
    columns = [
        pl.Series("run", np.arange(shard.first, shard.first + shard.runs)),
        pl.Series("regret", outcome.regret, pl.Array(pl.Float64, len(shard.times))),
        pl.Series("pulls", outcome.pulls, whole),
        pl.Series("eliminated", [None] * shard.runs if eliminated is None else eliminated, whole),
    ]
    buffer = io.BytesIO()
    pl.DataFrame(columns).with_columns(pl.selectors.array().arr.to_list()).write_parquet(buffer)
    return buffer.getvalue()
