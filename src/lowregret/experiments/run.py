"""Compute the missing shards of an experiment on any executor, and store each as it finishes."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack, suppress
from io import BytesIO
from math import inf
from pathlib import Path
from time import monotonic
from typing import TypeAlias
from warnings import warn

import polars as pl

from lowregret._common.forks import check_threads
from lowregret._common.progress import Progress, Report, ignore, reporting, tick
from lowregret._common.text import count, warn_user
from lowregret._common.validation import integer
from lowregret.engine.backends.threads import SIGNAL_SECONDS
from lowregret.errors import InputError, LowRegretError
from lowregret.experiments.executors import ThreadExecutor, worker_count
from lowregret.experiments.policy_loading import UnknownClassError
from lowregret.experiments.shard_queue import ShardAttempt, ShardQueue
from lowregret.experiments.shard_tables import plan_tables
from lowregret.experiments.sharding import SHARD_STEPS, Shard, ShardPlan, make_shard_plan
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import ResultStore, description, open_results
from lowregret.experiments.worker import Arrays, Finished, as_finished, stop, work
from lowregret.results import Results

FinishedShards: TypeAlias = list[tuple[Shard, Finished]]

MAX_RETRIES = 3
"""How often a failed shard is tried again."""

MAX_BROKEN_POOLS = 5
"""How many executors in a row may break without finishing a shard, where new ones can be made."""

RERUN_ADVICE = ", run it again to continue"

STOP_TIMEOUT = 0.5
"""Seconds for which an interrupted run waits for the shards that are being computed."""

WORKERS_CHECK_INTERVAL = 1.0
"""Seconds between two looks at the number of workers."""


class FailedShardsError(LowRegretError):
    """Some shards could not be computed; all others are kept."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; the shards that are stored in a folder are kept."""


def run(
    experiment: Experiment,
    out: str | Path | None = None,
    *,
    executor: Executor | Callable[[], Executor] | None = None,
    threads: int | None = None,
    progress: bool | Report = True,
    shard_steps: int = SHARD_STEPS,
) -> Results:
    """Compute the missing shards and return the results; see `Experiment.run`."""
    check_threads("run")
    threads = integer("run", "threads", (os.cpu_count() or 1) if threads is None else threads)
    executor = (lambda: ThreadExecutor(threads)) if executor is None else executor
    plan = make_shard_plan(experiment, shard_steps)
    with reporting(progress) as report:
        if out is None:
            return _run_in_memory(plan, executor, report)
        return _run_in_folders({Path(out): plan}, executor, report)[0]


def run_all(experiments: Mapping[Path, Experiment], report: Report = ignore) -> list[Results]:
    """Compute the missing shards of several experiments in one queue; return their results in this order."""
    check_threads("run")
    plans = {folder: make_shard_plan(experiment) for folder, experiment in experiments.items()}
    return _run_in_folders(plans, lambda: ThreadExecutor(os.cpu_count() or 1), report)


def _run_in_folders(
    plans: Mapping[Path, ShardPlan], executor: Executor | Callable[[], Executor], report: Report
) -> list[Results]:
    with ExitStack() as stack:
        stores = {folder: ResultStore(folder) for folder in plans}
        missing: dict[str, Shard] = {}
        policies: dict[ResultStore, dict[str, str]] = {}  # by the names of the shards that a folder lacks
        for folder, plan in plans.items():
            store = stores[folder]
            stack.enter_context(store.open())
            if store.read_description().get("plan") != plan.name:
                _warn_of_other_results(store, plan)
                store.remove_tables()
            shards = {shard.name: shard for shard in store.missing(plan)}
            if shards:
                store.write_plan(plan)
            missing |= shards
            pairs = ((shard.name, pair.policy) for pair in plan.pairs for shard in pair.shards)
            policies[store] = {name: policy for name, policy in pairs if name in shards}

        def write(done: FinishedShards) -> None:
            for store, own in policies.items():
                store.write_shards([(s, own[s.name], finished) for s, finished in done if s.name in own])

        if damaged := sum(len(store.damaged) for store in stores.values()):
            warn(f"{damaged} of the finished shards are damaged and are computed again", stacklevel=3)
        shards_in_order = sorted(missing.values(), key=lambda shard: shard.first)
        _Job(tuple(plans.values()), shards_in_order, write, report).compute(executor)
        for store, plan in zip(stores.values(), plans.values(), strict=True):
            store.write_tables(plan)
        return [open_results(folder) for folder in plans]


def _warn_of_other_results(store: ResultStore, plan: ShardPlan) -> None:
    """Say that results with other horizons, or another seed, are no longer shown; more runs are no others."""
    old, new = store.read_description(), description(plan)
    changes = {
        f"the horizon {old['horizons'][name]:,} of {name!r}, now {horizon:,}"
        for name, horizon in new.horizons.items()
        if old.get("horizons", {}).get(name, horizon) != horizon
    }
    if old.get("seed", new.seed) != new.seed:
        changes.add(f"the seed {old['seed']}, now {new.seed}")
    if changes:
        warn_user(
            f"the results in {str(store.folder)!r} had {min(changes)}: they stay there but are not shown any "
            "more; use another folder to compare both"
        )


def _run_in_memory(plan: ShardPlan, executor: Executor | Callable[[], Executor], report: Report) -> Results:
    files_of_shards: dict[str, bytes] = {}

    def write(done: FinishedShards) -> None:
        files_of_shards.update({shard.name: finished.data for shard, finished in done})

    def rows(shards: Sequence[str]) -> pl.LazyFrame:
        files = {shard: pl.read_parquet(BytesIO(files_of_shards[shard])) for shard in shards}
        return pl.concat([file.with_columns(shard=pl.lit(name)) for name, file in files.items()]).lazy()

    _Job((plan,), plan.shards, write, report, stored=False).compute(executor)
    return Results(description(plan), plan_tables(plan, rows).__getitem__)


class _Job:
    """The shards of a run that wait, run and failed, and how many are done."""

    def __init__(
        self,
        plans: tuple[ShardPlan, ...],
        missing: Sequence[Shard],
        write: Callable[[FinishedShards], None],
        report: Report,
        stored: bool = True,
    ) -> None:
        self.plans, self.write, self.report, self.stored = plans, write, report, stored
        self.environments = {name: arms for plan in plans for name, arms in plan.environments.items()}
        self.total = len({shard.name for plan in plans for shard in plan.shards})
        self.waiting = ShardQueue(missing)
        self.running: dict[Future[Finished | Arrays], ShardAttempt] = {}
        self.failed: dict[str, str] = {}
        what, already_done = ", ".join(plan.experiment.name for plan in plans), self.total - len(missing)
        self.reported = Progress(what, 0, len(missing), "shards", 0.0, already_done=already_done)
        report(self.reported)

    def compute(self, executor: Executor | Callable[[], Executor]) -> None:
        """Compute the shards; replace an executor that broke where another can be made."""
        broken = 0
        while self.waiting:
            error, before = None, self.reported.done
            pool = executor if isinstance(executor, Executor) else executor()
            try:
                error = self.drive(pool)
            except KeyboardInterrupt:
                self.stop()
            finally:
                if pool is not executor:
                    pool.shutdown(wait=False, cancel_futures=True)
            if error is not None:
                broken = broken + 1 if self.reported.done == before else 1
                if isinstance(executor, Executor) or broken == MAX_BROKEN_POOLS:
                    raise FailedShardsError(self.describe_lost_workers(error))
        if self.failed:
            raise FailedShardsError(self.describe_failures())

    def drive(self, pool: Executor) -> BaseException | None:
        """Keep an executor busy until no shard is left."""
        error: BaseException | None = None
        asked = -inf
        while self.waiting or self.running:
            if monotonic() - asked >= WORKERS_CHECK_INTERVAL:  # workers may join and leave
                workers, asked = worker_count(pool), monotonic()
            try:
                while error is None and self.submit(pool, workers):
                    pass
            except BrokenExecutor as problem:
                error = problem
            if not self.running:
                break
            done = wait(self.running, SIGNAL_SECONDS, FIRST_COMPLETED).done
            tick()
            error = self.collect(done) or error if done else error
        return error

    def submit(self, pool: Executor, workers: int) -> bool:
        """Send the next shard to an executor, if one may run beside those that are running.

        Threads compile one policy at a time; workers elsewhere have two shards each, so that none waits.
        """
        in_threads = isinstance(pool, ThreadPoolExecutor)
        most = workers if in_threads else 2 * workers
        full = len(self.running) >= (1 if self.waiting.next_is_alone() else most)
        if not self.waiting or full or any(attempt.alone for attempt in self.running.values()):
            return False
        attempt = self.waiting.pop(1 if in_threads else most)
        try:
            future = pool.submit(work, attempt.shard, self.environments[attempt.shard.environment])
        except BaseException:
            self.waiting.put_back(attempt)
            raise
        self.running[future] = attempt
        return True

    def collect(self, futures: Iterable[Future[Finished | Arrays]]) -> BaseException | None:
        """Store the results of shards or queue them again; return the error if the executor broke."""
        done: dict[Future[Finished | Arrays], tuple[Shard, Finished]] = {}
        broke: BaseException | None = None
        for future in futures:
            attempt = self.running[future]
            try:
                done[future] = attempt.shard, as_finished(attempt.shard, future.result())
                continue
            except (BrokenExecutor, CancelledError) as error:
                self.fail(attempt, error, alone=True)
                broke = error
            except Exception as error:  # whatever happened to the worker
                self.fail(attempt, error)
            del self.running[future]
        if done:
            self.write(list(done.values()))
            for future in done:
                del self.running[future]
            self.count(list(done.values()))
        return broke

    def fail(self, attempt: ShardAttempt, error: BaseException, *, alone: bool = False) -> None:
        """Queue a shard again, or record that it failed."""
        permanent = isinstance(error, InputError) and not isinstance(error, UnknownClassError)
        if permanent or attempt.failures >= MAX_RETRIES:
            self.waiting.drop(attempt)
            self.failed[attempt.shard.name] = str(error) or type(error).__name__
        else:
            self.waiting.retry(attempt, alone=alone)

    def count(self, results: FinishedShards) -> None:
        """Report stored shards one by one; all of them count even if a report is interrupted."""
        states = [self.reported]
        for shard, finished in results:
            self.waiting.finish(shard, finished)
            last, share = states[-1], self.waiting.share()
            states.append(last._replace(done=last.done + 1, steps=last.steps + shard.steps, share=share))
        self.reported = states[-1]
        for state in states[1:]:
            self.report(state)

    def describe_done(self, advice: str = "") -> str:
        """Return how many shards are done, and whether they are kept; if so, with some advice."""
        done = f"{self.reported.already_done + self.reported.done} of {self.total} shards are done"
        if not self.stored:
            return f"{done}, and none is kept: give a folder for the results"
        return f"{done} and kept{advice}"

    def stop(self) -> None:
        """After an interrupt, stop the running shards, and store those that end in a moment."""
        with suppress(KeyboardInterrupt):  # a second one leaves them alone
            for future in list(self.running):
                if future.cancel():
                    del self.running[future]
            stop(attempt.shard for attempt in self.running.values())
            self.collect(wait(self.running, timeout=STOP_TIMEOUT).done)
        raise Interrupted(f"interrupted: {self.describe_done(RERUN_ADVICE)}")

    def describe_lost_workers(self, error: BaseException) -> str:
        """Return the message for lost workers, with the shards at which they were lost repeatedly."""
        reason = str(error) or type(error).__name__
        for attempt in self.waiting.last:
            self.failed[attempt.shard.name] = "its worker went away"
        lost = self.describe_failures(RERUN_ADVICE) if self.failed else self.describe_done(RERUN_ADVICE)
        return f"the workers went away ({reason}){'; ' if self.failed else ': '}{lost}"

    def describe_failures(self, advice: str = "") -> str:
        """Return which pairs failed and why, and how many shards are done."""
        failed: dict[str, tuple[int, str]] = {}
        for pair in (pair for plan in self.plans for pair in plan.pairs):
            reasons = [self.failed[shard.name] for shard in pair.shards if shard.name in self.failed]
            if reasons:
                failed[f"{pair.policy} on {pair.environment!r}"] = len(reasons), reasons[0]
        first = list(failed.items())[:3]
        parts = [f"{name} ({count(shards, 'shard')}): {reason}" for name, (shards, reason) in first]
        more = f"; and {len(failed) - 3} more pairs" if len(failed) > 3 else ""
        return f"failed: {'; '.join(parts)}{more}; {self.describe_done(advice)}"
