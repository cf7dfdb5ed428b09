"""What a worker does: play the runs of one shard and write them as Parquet, in memory."""

import hashlib
import io
import os
import socket
from collections.abc import Iterable
from time import perf_counter
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret._common.progress import reporting
from lowregret.engine.backends import run
from lowregret.engine.problem import RECORDS, Control, Problem
from lowregret.experiments.policy_loading import load_code
from lowregret.experiments.sharding import ENGINE, ArmGroups, Shard, bandit_of


class Finished(NamedTuple):
    """The result of a shard: a Parquet file, its checksum, the seconds of its runs and those before them."""

    data: bytes
    sha256: str
    seconds: float
    setup_seconds: float = 0.0


class Arrays(NamedTuple):
    """The result of a shard from a process that cannot write Parquet: the arrays of an ``Outcome``."""

    regret: Floats
    pulls: Integers
    eliminated: Integers | None
    records: dict[str, Any]
    seconds: float
    setup_seconds: float


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
    began = perf_counter()
    bandit = bandit_of(arms)
    policy = load_code(shard.policy)(**dict(shard.parameters))
    control = Control(threads=1)
    _halts[shard.name] = control.halt
    problem = Problem(
        policy,
        bandit,
        shard.horizon,
        shard.seed,
        first_run=shard.first,
        runs=shard.runs,
        grid=np.array(shard.times, np.int64),
        clip=shard.clip,
        delay=shard.delay,
        batch=shard.batch,
        period=shard.period,
        record=frozenset(shard.record),
        shuffle=shard.shuffle,
        ties=shard.ties,
    )
    with reporting(False):  # the process that planned the work reports
        outcome = run(problem, shard.backend, control)
    records, setup = dict(outcome.records), perf_counter() - began - outcome.seconds
    arrays = Arrays(outcome.regret, outcome.pulls, outcome.eliminated, records, outcome.seconds, setup)
    return arrays if _forked else as_finished(shard, arrays)


def as_finished(shard: Shard, result: Finished | Arrays) -> Finished:
    if isinstance(result, Finished):
        return result
    data = _parquet(shard, result)
    return Finished(data, hashlib.sha256(data).hexdigest(), result.seconds, result.setup_seconds)


def _parquet(shard: Shard, outcome: Arrays) -> bytes:
    """Write one row per run: its number, regret at each time, pulls and eliminations by arm."""
    arms = outcome.pulls.shape[1]
    eliminated = [None] * shard.runs if outcome.eliminated is None else outcome.eliminated
    columns = [
        pl.Series("run", np.arange(shard.first, shard.first + shard.runs)),
        _lists("regret", outcome.regret, np.float64, len(shard.times)),
        _lists("pulls", outcome.pulls, np.int64, arms),
        _lists("eliminated", eliminated, np.int64, arms),
    ]
    columns += [
        _lists(name, values, RECORDS[name].dtype, values.shape[1]) for name, values in outcome.records.items()
    ]
    buffer = io.BytesIO()
    # The quickest to write; nobody looks for values in a shard.
    pl.DataFrame(columns).write_parquet(buffer, compression="lz4", statistics=False)
    return buffer.getvalue()


def _lists(name: str, values: Any, dtype: type, width: int) -> pl.Series:
    kind = pl.Float64 if dtype is np.float64 else pl.Int64
    return pl.Series(name, values, pl.Array(kind, width)).cast(pl.List(kind))
