"""Compute what is missing of an experiment, on any executor, and keep each shard as it is finished."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeAlias

import polars as pl

from lowregret.environments.checks import whole
from lowregret.errors import InputError
from lowregret.experiments.plan import SHARD_STEPS, Plan, Shard, make_plan
from lowregret.experiments.results import Results, describe, open_results
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import Store, description
from lowregret.experiments.tables import long_tables
from lowregret.experiments.work import Finished, work

Done: TypeAlias = list[tuple[Shard, Finished]]
"""Shards with their results."""

RETRIES = 3
"""How often a shard that failed is tried again."""

POOLS = 5
"""How many executors may break in one run, where new ones can be made."""


class Progress(NamedTuple):
    """How far a run is, in shards and in steps.

    ``there`` shards were there when it began; ``done`` and ``steps`` count what was finished since, out of
    ``shards`` and ``all_steps`` that were missing, ``damaged`` ones among them.
    """

    done: int
    shards: int
    steps: int
    all_steps: int
    there: int
    damaged: int


class FailedShards(RuntimeError):  # noqa: N818  # it is what they are
    """Some shards could not be computed; all others are kept."""


class Interrupted(KeyboardInterrupt):
    """A run was stopped by the user; what was finished is kept.

    ``at_once`` says that the user was in a hurry, and shards are still under way in other threads.
    """

    at_once = False


def run(
    experiment: Experiment,
    out: str | Path | None = None,
    *,
    executor: Executor | Callable[[], Executor] | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    shard_steps: int = SHARD_STEPS,
) -> Results:
    """Compute what is not there yet and give the results; see `Experiment.run`.

    Parameters
    ----------
    experiment, out, executor, threads, progress
        As in `Experiment.run`.
    shard_steps : int
        About how many steps a shard has; the results do not depend on it.
    """
    threads = whole("run", "threads", (os.cpu_count() or 1) if threads is None else threads)
    make = (lambda: ThreadPoolExecutor(threads)) if executor is None else executor
    plan = make_plan(experiment, shard_steps)
    if out is None:
        return _run_in_memory(plan, make, progress)
    store = Store(Path(out))
    policies = {shard.name: pair.policy for pair in plan.pairs for shard in pair.shards}

    def keep(done: Done) -> None:
        store.put([(shard, policies[shard.name], finished) for shard, finished in done])

    with store.open():
        if store.published().get("plan") != plan.name:
            store.withdraw()
        missing = store.missing(plan)
        job = _Job(plan, keep, progress, damaged=len(store.damaged))
        _compute(job, missing, make)
        store.publish(plan)
    return open_results(out)


def _run_in_memory(
    plan: Plan, make: Executor | Callable[[], Executor], progress: Callable[[Progress], None] | None
) -> Results:
    kept: dict[str, bytes] = {}

    def keep(done: Done) -> None:
        kept.update({shard.name: finished.data for shard, finished in done})

    def rows(shards: Sequence[Shard]) -> pl.LazyFrame:
        files = {shard.name: pl.read_parquet(BytesIO(kept[shard.name])) for shard in shards}
        return pl.concat([file.with_columns(shard=pl.lit(name)) for name, file in files.items()]).lazy()

    _compute(_Job(plan, keep, progress), list(plan.shards), make)
    return Results(describe(description(plan)), long_tables(plan, rows))


@dataclass
class _Job:
    """The state of a run: what waits, what is under way, what is done and what failed."""

    plan: Plan
    keep: Callable[[Done], None]
    progress: Callable[[Progress], None] | None
    waiting: deque[Shard] = field(default_factory=deque)
    under_way: dict[Future[Finished], Shard] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    told: Progress = field(default_factory=lambda: Progress(0, 0, 0, 0, 0, 0))
    damaged: int = 0

    def begin(self, missing: list[Shard]) -> None:
        """Line up what is to be computed."""
        self.waiting.extend(missing)
        steps = sum(shard.steps for shard in missing)
        there = len(self.plan.shards) - len(missing)
        self.told = Progress(0, len(missing), 0, steps, there, self.damaged)
        if self.progress:
            self.progress(self.told)

    def settle(self, futures: Iterable[Future[Finished]]) -> BaseException | None:
        """Keep the results of shards, or line them up again; give the error if the executor broke."""
        done: Done = []
        broke: BaseException | None = None
        for future in futures:
            shard = self.under_way.pop(future)
            try:
                done.append((shard, future.result()))
            except (BrokenExecutor, CancelledError) as error:
                self.waiting.append(shard)
                broke = error
            except Exception as error:  # whatever happened to the worker
                self.failures[shard.name] += 1
                if isinstance(error, InputError) or self.failures[shard.name] > RETRIES:
                    self.failed[shard.name] = str(error) or type(error).__name__
                else:
                    self.waiting.append(shard)
        if done:
            self.keep(done)
            self.count([shard for shard, _ in done])
        return broke

    def count(self, shards: Sequence[Shard]) -> None:
        """Report shards that are kept, one by one; all of them count even if a report is interrupted."""
        told = [self.told]
        for shard in shards:
            told.append(told[-1]._replace(done=told[-1].done + 1, steps=told[-1].steps + shard.steps))
        self.told = told[-1]
        if self.progress:
            for now in told[1:]:
                self.progress(now)

    def kept(self) -> str:
        """Say how much is there."""
        return f"{self.told.there + self.told.done} of {len(self.plan.shards)} shards are done and kept"


def _compute(job: _Job, missing: list[Shard], make: Executor | Callable[[], Executor]) -> None:
    """Compute shards, with a new executor where one broke and another can be made."""
    job.begin(missing)
    broken = 0
    while job.waiting:
        error = None
        with _pool(make) as pool:
            try:
                error = _drive(job, pool)
            except KeyboardInterrupt:
                _wind_up(job, pool)
        if error is not None:
            broken += 1
            if isinstance(make, Executor) or broken == POOLS:
                reason = str(error) or type(error).__name__
                raise FailedShards(f"the workers went away ({reason}): {job.kept()}, run it again to go on")
    if job.failed:
        raise FailedShards(_failures(job))


def _drive(job: _Job, pool: Executor) -> BaseException | None:
    """Keep an executor busy until nothing is left, never with more than two shards per worker."""
    workers = getattr(pool, "_max_workers", None) or os.cpu_count() or 1
    error: BaseException | None = None
    while job.waiting or job.under_way:
        while job.waiting and error is None and len(job.under_way) < 2 * workers:
            try:
                future = pool.submit(work, job.waiting[0])
            except BrokenExecutor as problem:
                error = problem
            else:
                job.under_way[future] = job.waiting.popleft()
        if not job.under_way:
            break
        error = job.settle(wait(job.under_way, return_when=FIRST_COMPLETED).done) or error
    return error


def _wind_up(job: _Job, pool: Executor) -> None:
    """After an interrupt, keep what is nearly done; a second interrupt leaves at once."""
    job.waiting.clear()
    at_once = False
    try:
        for future in list(job.under_way):
            if future.cancel():
                del job.under_way[future]
        job.settle(wait(job.under_way).done)
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        at_once = True
    end = Interrupted(f"interrupted: {job.kept()}, run it again to go on")
    end.at_once = at_once
    raise end


@contextmanager
def _pool(make: Executor | Callable[[], Executor]) -> Iterator[Executor]:
    """Give an executor, and end it if it is ours."""
    if isinstance(make, Executor):
        yield make
        return
    pool = make()
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _failures(job: _Job) -> str:
    """Name what failed, by policy and environment, and why."""
    told: dict[str, tuple[int, str]] = {}
    for pair in job.plan.pairs:
        reasons = [job.failed[shard.name] for shard in pair.shards if shard.name in job.failed]
        if reasons:
            told[f"{pair.policy} on {pair.environment!r}"] = len(reasons), reasons[0]
    parts = [f"{name} ({count} shards): {reason}" for name, (count, reason) in list(told.items())[:3]]
    more = f"; and {len(told) - 3} more pairs" if len(told) > 3 else ""
    return f"failed: {'; '.join(parts)}{more}; {job.kept()}"
