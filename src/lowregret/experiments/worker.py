"""What a worker does: play the runs of one shard and write them as Parquet, in memory."""

from __future__ import annotations

import hashlib
import io
import os
import socket
from collections.abc import Iterable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import polars as pl

from lowregret.engine.cpu import simulate
from lowregret.engine.state import Floats, Integers
from lowregret.experiments.plan import ENGINE, ArmGroups, Shard, ungroup
from lowregret.experiments.policy_loading import load_class


class Finished(NamedTuple):
    """The result of a shard: a Parquet file, its checksum, and the seconds it took."""

    data: bytes
    sha256: str
    seconds: float


class Arrays(NamedTuple):
    """The result of a shard from a process that cannot write Parquet: the arrays of an ``Outcome``."""

    regret: Floats
    pulls: Integers
    eliminated: Integers | None
    seconds: float
    rewards: Floats | None


_forked = False
"""Whether this process was forked from one that had loaded this module.

The threads of polars do not exist in such a process, and a call that needs them waits for ever.
"""


def _set_forked() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_set_forked)


_halts: WeakValueDictionary[str, Integers] = WeakValueDictionary()
"""What stops each shard that this process computes now, by its name."""


def stop(shards: Iterable[Shard]) -> None:
    """Stop those of the shards that threads of this process compute now: they raise ``Stopped``."""
    for shard in shards:
        if (halt := _halts.get(shard.name)) is not None:
            halt[0] = 1


def work(shard: Shard, arms: ArmGroups) -> Finished | Arrays:
    """Compute a shard on the arms of its environment, in whatever process this is."""
    if shard.engine != ENGINE:
        where = f"process {os.getpid()} on {socket.gethostname()}"
        raise RuntimeError(f"{where} runs other sources of lowregret than the planner: install the same")
    bandit = ungroup(arms)
    policy = load_class(shard.policy)(**dict(shard.parameters))
    times, halt = np.array(shard.times, np.int64), np.zeros(1, np.int64)
    _halts[shard.name] = halt
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
        halt=halt,
        record_rewards=shard.record_rewards,
        delay=shard.delay,
        batch=shard.batch,
    )
    arrays = Arrays(outcome.regret, outcome.pulls, outcome.eliminated, outcome.seconds, outcome.rewards)
    return arrays if _forked else written(shard, arrays)


def written(shard: Shard, result: Finished | Arrays) -> Finished:
    """Return the result of a shard as a Parquet file."""
    if isinstance(result, Finished):
        return result
    data = _parquet(shard, result)
    return Finished(data, hashlib.sha256(data).hexdigest(), result.seconds)


def _parquet(shard: Shard, outcome: Arrays) -> bytes:
    """Write one row per run: its number, regret at each time, pulls and eliminations by arm."""
    arms = outcome.pulls.shape[1]
    eliminated = [None] * shard.runs if outcome.eliminated is None else outcome.eliminated
    columns = [
        pl.Series("run", np.arange(shard.first, shard.first + shard.runs)),
        _lists("regret", outcome.regret, pl.Float64, len(shard.times)),
        _lists("pulls", outcome.pulls, pl.Int64, arms),
        _lists("eliminated", eliminated, pl.Int64, arms),
    ]
    if outcome.rewards is not None:
        columns.append(_lists("rewards", outcome.rewards, pl.Float64, arms))
    buffer = io.BytesIO()
    # The quickest to write; nobody looks for values in a shard.
    pl.DataFrame(columns).write_parquet(buffer, compression="lz4", statistics=False)
    return buffer.getvalue()


def _lists(name: str, values: Any, kind: type[pl.DataType], width: int) -> pl.Series:
    return pl.Series(name, values, pl.Array(kind, width)).cast(pl.List(kind))
