"""Running: the same bits however the work is cut and wherever it is done, and what happens when it fails."""

import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event, Lock

import pytest
from forked import context
from helpers import SHARD_STEPS as STEPS

import lowregret as lr
from lowregret.experiments import run as running
from lowregret.experiments.executors import ThreadExecutor
from lowregret.experiments.policy_loading import Reference, UnknownClassError, load_code
from lowregret.experiments.run import FailedShardsError, Interrupted, run
from lowregret.experiments.sharding import make_shard_plan
from lowregret.experiments.worker import work


class Inline(Executor):
    """An executor that does the work at once, after some failures."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls: list = []

    def submit(self, fn, /, *args, **kwargs) -> Future:
        self.calls.append(args[0].name)
        future: Future = Future()
        try:
            if self.failures:
                raise self.failures.pop(0)
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.mark.parametrize("steps", [1, 2_000, STEPS, 10**9])
@pytest.mark.parametrize("threads", [1, 3])
def test_any_shard_size_and_any_number_of_threads(small, truth, same, steps: int, threads: int) -> None:
    same(run(small, threads=threads, shard_steps=steps), truth)


def test_processes(small, truth, same, tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=context()) as pool:
        same(small.run(tmp_path, executor=pool), truth)


FORK = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import lowregret as lr

environments = ["bernoulli:0.1,0.9", "bernoulli:0.2,0.8"]
experiment = lr.Experiment(environments=environments, policies=["MOSS", "EUCBV"], horizon=1_000, runs=10)
first = experiment.run()
with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
    second = experiment.run(executor=pool)
assert first.finals.equals(second.finals) and first.events.equals(second.events)
print("same")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_forked_processes_after_a_run_in_threads() -> None:
    """The threads of polars are not there in a forked process, which waited for them for ever."""
    process = subprocess.Popen(
        [sys.executable, "-c", FORK], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.communicate(timeout=300)[0] == "same\n"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_progress_counts_shards_and_steps(small) -> None:
    told: list = []
    run(small, shard_steps=STEPS, progress=told.append)
    assert [now.done for now in told] == list(range(25))
    assert told[-1].total == 24
    assert told[-1].steps == 3 * 2 * 30 * 500


def test_a_shard_that_fails_is_tried_again(small, truth, same) -> None:
    pool = Inline(*[OSError("lost")] * 3)
    same(run(small, executor=pool), truth)
    assert len(pool.calls) == 9


class Stubborn(Inline):
    """An executor on which one shard never succeeds."""

    def submit(self, fn, /, *args, **kwargs) -> Future:
        shard, arms = args
        bad = shard.first == 8 and shard.policy.name == "MOSS" and len(arms.groups) == 2
        self.failures = [OSError("no luck")] if bad else []
        return super().submit(fn, *args, **kwargs)


def test_a_shard_that_goes_on_failing_is_reported_and_the_rest_goes_on(small, truth, same, tmp_path) -> None:
    pool = Stubborn()
    with pytest.raises(FailedShardsError) as error:
        run(small, tmp_path, executor=pool, shard_steps=STEPS)
    told = str(error.value)
    assert told.startswith("failed: MOSS on 'coins (K=2)' (1 shard): no luck; ")
    assert told.endswith("; 21 of 24 shards are done and kept")
    assert max(pool.calls.count(name) for name in pool.calls) == 4
    same(run(small, tmp_path, shard_steps=STEPS), truth)


def test_a_bad_policy_is_not_tried_again() -> None:
    pool = Inline(lr.InputError("Mine: the score is nan"))
    experiment = lr.Experiment(environments="bernoulli:0.1,0.9", policies="MOSS", horizon=50, runs=4)
    with pytest.raises(FailedShardsError, match=r"^failed: MOSS on .*: Mine: the score is nan; 0 of 1 "):
        experiment.run(executor=pool)
    assert len(pool.calls) == 1


def test_a_class_that_one_worker_lacks_is_tried_on_another(small, truth, same, tmp_path: Path) -> None:
    with pytest.raises(UnknownClassError, match="cannot import the module: FileNotFoundError") as error:
        load_code(Reference("own", "Mine", str(tmp_path / "own.py"), "hash"))
    pool = Inline(pickle.loads(pickle.dumps(error.value)))  # as it comes from another process
    same(run(small, executor=pool), truth)
    assert len(pool.calls) == 7


def die(shard, arms):
    """Kill the process that does the work, once in every three shards."""
    if shard.first == 8:
        os.kill(os.getpid(), signal.SIGKILL)
    return work(shard, arms)


def test_an_executor_that_broke_keeps_what_was_done(small, truth, same, tmp_path: Path, monkeypatch) -> None:
    make = partial(ProcessPoolExecutor, 1, mp_context=context())
    with monkeypatch.context() as patch, make() as pool:
        patch.setattr(running, "work", die)
        with pytest.raises(FailedShardsError, match=r"^the workers went away .*run it again to continue$"):
            run(small, tmp_path, executor=pool, shard_steps=STEPS)
    same(run(small, tmp_path, executor=make, shard_steps=STEPS), truth)


class Breaking(ThreadPoolExecutor):
    """An executor that breaks after a few shards."""

    def submit(self, fn, /, *args, **kwargs) -> Future:
        self.count = getattr(self, "count", 0) + 1
        if self.count > 10:
            raise BrokenExecutor("gone")
        return super().submit(fn, *args, **kwargs)


def test_a_broken_executor_is_replaced_where_another_can_be_made(small, truth, same) -> None:
    same(run(small, executor=lambda: Breaking(1), shard_steps=STEPS), truth)


class Mortal(ThreadPoolExecutor):
    """An executor that some shards kill, and that takes the others under way with it."""

    made = 0

    def __init__(self, poison: set[str]) -> None:
        super().__init__(2)
        self.poison, self.lock, self.dead = poison, Lock(), False
        self.given: list[Future] = []
        Mortal.made += 1

    def submit(self, fn, /, *args, **kwargs) -> Future:
        with self.lock:
            if self.dead:
                raise BrokenExecutor("gone")
            self.given.append(Future())
            super().submit(self.play, fn, *args, self.given[-1])
            return self.given[-1]

    def play(self, fn, shard, arms, future: Future) -> None:
        result = None if shard.name in self.poison else fn(shard, arms)
        with self.lock:
            if result is None:
                self.dead = True
                for each in self.given:
                    if not each.done():
                        each.set_exception(BrokenExecutor("killed"))
            elif not future.done():
                future.set_result(result)


@pytest.mark.parametrize("count", [1, 3])
def test_a_shard_that_kills_its_worker_is_reported_and_holds_up_no_other(small, tmp_path, count: int) -> None:
    poison = {shard.name for shard in make_shard_plan(small, STEPS).pairs[1].shards[:count]}
    with pytest.raises(FailedShardsError) as error:
        run(small, tmp_path, executor=lambda: Mortal(poison), shard_steps=STEPS)
    told = str(error.value)
    assert f"failed: MOSS on 'coins (K=2)' ({count} shard{'s' * (count > 1)}): " in told
    assert f"; {24 - count} of 24 shards are done and kept" in told


def test_workers_that_always_die_are_not_replaced_for_ever(small, monkeypatch) -> None:
    monkeypatch.setattr(Mortal, "made", 0)
    every = {shard.name for shard in make_shard_plan(small, STEPS).shards}
    with pytest.raises(FailedShardsError, match=r"^the workers went away \(killed\); failed: .*none is kept"):
        run(small, executor=lambda: Mortal(every), shard_steps=STEPS)
    assert Mortal.made == running.MAX_BROKEN_POOLS


def test_workers_that_come_later_are_used(small, truth, same, monkeypatch) -> None:
    class Growing(ThreadPoolExecutor):
        """The first two end at once; the others wait until more are under way than one worker can take."""

        count, submitted, gave_up = 1, 0, False

        def __init__(self) -> None:
            super().__init__(8)
            self.several = Event()

        def workers(self) -> int:
            return self.count

        def submit(self, fn, /, *args, **kwargs) -> Future:
            self.submitted += 1
            if self.submitted == 5:  # of which two have ended
                self.several.set()
            self.count = 8
            return super().submit(self.play, self.submitted > 2, fn, *args, **kwargs)

        def play(self, waits: bool, fn, /, *args, **kwargs):
            if waits and not self.several.wait(60):
                self.gave_up = True
                self.several.set()
            return fn(*args, **kwargs)

    monkeypatch.setattr(running, "WORKERS_CHECK_INTERVAL", 0.0)
    with Growing() as pool:
        same(run(small, executor=pool, shard_steps=STEPS), truth)
    assert not pool.gave_up


def test_a_second_interrupt_leaves_a_users_executor_alone(small, monkeypatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "wait", stop)
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(Interrupted) as error:
            run(small, executor=pool, shard_steps=STEPS)
        assert str(error.value) == (
            "interrupted: 0 of 24 shards are done, and none is kept: give a folder for the results"
        )
        assert pool.submit(len, "ab").result() == 2


def test_an_interrupt_keeps_what_is_done_and_says_how_to_go_on(small, truth, same, tmp_path: Path) -> None:
    def stop(now) -> None:
        if now.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"^interrupted: \d+ of 24 shards are done and kept, run it again"):
        run(small, tmp_path, shard_steps=STEPS, progress=stop)
    told: list = []
    same(run(small, tmp_path, shard_steps=STEPS, progress=told.append), truth)
    assert told[0].already_done >= 3


def test_an_interrupt_while_results_are_kept_loses_none(small, tmp_path: Path, monkeypatch) -> None:
    fsync, manifest, lines = os.fsync, tmp_path / "manifest.jsonl", []

    def interrupted(descriptor: int) -> None:
        fsync(descriptor)
        if not lines and os.path.sameopenfile(descriptor, open_manifest.fileno()) and manifest.read_bytes():
            lines.extend(manifest.read_bytes().splitlines())
            raise KeyboardInterrupt

    manifest.touch()
    monkeypatch.setattr(os, "fsync", interrupted)
    with open(manifest) as open_manifest, pytest.raises(Interrupted) as error:
        run(small, tmp_path, threads=1, shard_steps=STEPS)
    kept = manifest.read_bytes().splitlines()
    assert lines and set(lines) <= set(kept)
    assert str(error.value).startswith(f"interrupted: {len(kept)} of 24 shards")


def test_no_more_shards_are_under_way_than_workers_can_take(small) -> None:
    class Counting(ThreadExecutor):
        most = 0

        def submit(self, fn, /, *args, **kwargs) -> Future:
            future = super().submit(fn, *args, **kwargs)
            Counting.most = max(Counting.most, self._work_queue.qsize())
            return future

    with Counting(1) as pool:
        run(small, executor=pool, shard_steps=STEPS)
    assert Counting.most <= 2


def test_a_worker_with_other_sources_is_refused(small, monkeypatch) -> None:
    from lowregret.experiments import worker as working

    monkeypatch.setattr(working, "ENGINE", "other")
    with pytest.raises(FailedShardsError, match="runs other sources of lowregret"):
        run(small, executor=Inline())


def test_no_threads_are_refused(small) -> None:
    with pytest.raises(lr.InputError, match="threads must be an integer of at least 1, got 0"):
        small.run(threads=0)


def test_several_experiments_in_one_queue(small, truth, same, tmp_path: Path) -> None:
    other = small.model_copy(update={"policies": ["MOSS"], "name": "other"})
    told: list = []
    first, second = running.run_all({tmp_path / "one": small, tmp_path / "two": other}, told.append)
    same(first, truth)
    same(second, other.run())
    assert told[-1].total == len(make_shard_plan(small).shards)  # those of both are computed once
    assert told[-1].share == 1.0
    running.run_all({tmp_path / "one": small, tmp_path / "two": other}, told.append)
    assert (told[-1].done, told[-1].already_done) == (0, told[-2].total)


def test_several_experiments_go_on_after_an_interrupt(small, truth, same, tmp_path: Path) -> None:
    def stop(now) -> None:
        if now.done == 2:
            raise KeyboardInterrupt

    other = small.model_copy(update={"seed": 6, "name": "other"})
    folders = {tmp_path / "one": small, tmp_path / "two": other}
    with pytest.raises(Interrupted, match=r"^interrupted: \d+ of 12 shards are done and kept, run it again"):
        running.run_all(folders, stop)
    told: list = []
    first, second = running.run_all(folders, told.append)
    assert told[0].already_done >= 2
    same(first, truth)
    same(second, other.run())


def test_a_period_is_that_of_simulations() -> None:
    shop = "bernoulli:0.3,0.4 | rhythm: every=50; weekend=1.75"
    experiment = {"environments": [shop], "policies": ["UCB1"], "horizon": 700, "runs": 6}
    stored = lr.Experiment(**experiment, period=50).run().finals["regret"].to_list()
    direct, plain = (
        lr.simulate("UCB1", shop, 700, 6, 0, period=period).finals["regret"].to_list()
        for period in (50, None)
    )
    assert stored == direct != plain
    with pytest.raises(lr.InputError, match="DiscountedUCB: period adjusts the mean of each arm"):
        _ = lr.Experiment(**{**experiment, "policies": ["DiscountedUCB"]}, period=50).resolved_environments
    with pytest.raises(lr.InputError, match="period"):
        lr.Experiment(**experiment, period=0)
