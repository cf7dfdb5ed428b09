"""Dask: the same bits from any number of workers, and a worker that dies costs only its shards."""

import os
import signal
import sys
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest
from helpers import SHARD_STEPS as STEPS
from helpers import fail_on

import lowregret as lr
from lowregret.experiments import executors
from lowregret.experiments import run as run_module
from lowregret.experiments.executors import LARGE_ENVIRONMENT, DaskExecutor, dask_cluster
from lowregret.experiments.run import FailedShardsError, Interrupted, run
from lowregret.experiments.sharding import ArmGroups, arm_groups

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


OWN = """
import lowregret as lr

class Mine(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + 1.0 / arm.pulls
"""


@pytest.fixture(scope="module")
def three():
    with dask_cluster("local:3") as executor:
        yield executor


def test_one_worker_that_then_goes_away(small, truth, same, tmp_path: Path) -> None:
    with dask_cluster("local:1") as executor:
        assert executor.workers() == 1
        same(run(small, tmp_path / "whole", executor=executor, shard_steps=STEPS), truth)
        (tmp_path / "own.py").write_text(OWN)
        given = {"environments": "bernoulli:0.1,0.9", "policies": "own:Mine", "horizon": 50, "runs": 4}
        assert lr.Experiment(**given, folder=tmp_path).run(executor=executor).finals.height == 4

        def close(now) -> None:
            if now.done == 3:
                executor._client.close()

        with pytest.raises(
            FailedShardsError, match=r"went away \(the .* is (lost|gone).*\): \d+ of 24 shards are"
        ):
            run(small, tmp_path / "part", executor=executor, shard_steps=STEPS, progress=close)


def test_three_workers(small, truth, same, tmp_path: Path, three) -> None:
    same(run(small, tmp_path, executor=three, shard_steps=STEPS), truth)


@pytest.mark.parametrize("large", [LARGE_ENVIRONMENT, 0])
def test_a_worker_that_is_killed_costs_only_its_shards(
    small, truth, same, tmp_path: Path, three, monkeypatch, large: int
) -> None:
    monkeypatch.setattr(executors, "LARGE_ENVIRONMENT", large)  # with 0 all arms travel by themselves
    three._client.wait_for_workers(3, timeout=120)
    pids = three._client.run(os.getpid)
    told: list = []

    def kill(now) -> None:
        if now.done == 5:
            os.kill(next(iter(pids.values())), signal.SIGKILL)
        told.append(now)

    same(run(small, tmp_path, executor=DaskExecutor(three._client), shard_steps=STEPS, progress=kill), truth)
    assert told[-1].done == 24


class Counting:
    """Stands for a Dask client, and counts the arms that are sent."""

    def __init__(self, client) -> None:
        self.client, self.sent = client, []

    def __getattr__(self, name: str):
        return getattr(self.client, name)

    def submit(self, fn, *args, **kwargs):
        given = args[1] if isinstance(args[0], type(run)) else args
        self.sent += [value.sha256 for value in given if isinstance(value, ArmGroups)]
        return self.client.submit(fn, *args, **kwargs)


def test_large_arms_are_sent_once(three) -> None:
    small, large = lr.bernoulli([0.2, 0.8]), lr.empirical([[0.0, 1.0] * 6000, [0.0, 1.0, 1.0]])
    experiment = lr.Experiment(environments=[small, large], policies=["MOSS"], horizon=500, runs=30)
    client = Counting(three._client)
    run(experiment, executor=DaskExecutor(client), shard_steps=STEPS)
    hashes = [arm_groups(bandit).sha256 for bandit in (small, large)]
    assert [client.sent.count(sha256) for sha256 in hashes] == [4, 1]


def test_an_interrupt_on_a_cluster_keeps_what_is_done(small, truth, same, tmp_path: Path, three) -> None:
    def stop(now) -> None:
        if now.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"^interrupted: (\d+) of 24 shards are done and kept") as error:
        run(small, tmp_path, executor=three, shard_steps=STEPS, progress=stop)
    kept = int(str(error.value).split()[1])
    told: list = []
    same(run(small, tmp_path, executor=three, shard_steps=STEPS, progress=told.append), truth)
    assert 3 <= kept == told[0].already_done == 24 - told[-1].done


class HeldExecutor(Executor):
    """Six at a time: the first three tasks end at once, the others run until they are released."""

    def __init__(self) -> None:
        self.submitted = 0
        self.held: list = []

    def workers(self) -> int:
        return 3

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        future.set_running_or_notify_cancel()
        self.submitted += 1
        if self.submitted <= 3:
            future.set_result(fn(*args, **kwargs))
        else:
            self.held.append((future, fn, args, kwargs))
        return future

    def release(self, _shards) -> None:
        for future, fn, args, kwargs in self.held:
            future.set_result(fn(*args, **kwargs))


def test_an_interrupt_keeps_what_is_under_way(small, tmp_path: Path, monkeypatch) -> None:
    held = HeldExecutor()
    monkeypatch.setattr(run_module, "stop", held.release)

    def stop(now) -> None:
        if now.done == 3:
            raise KeyboardInterrupt

    # Six were submitted when the first three were reported; the others end after the interrupt.
    with pytest.raises(Interrupted, match=r"^interrupted: 6 of 24 shards are done and kept"):
        run(small, tmp_path, executor=held, shard_steps=STEPS, progress=stop)


def test_a_task_that_failed_goes_to_another_worker(three) -> None:
    bad = next(iter(three._client.nthreads()))
    for _ in range(100):
        try:
            three.submit(fail_on, bad).result(timeout=60)
        except OSError:
            break
    for _ in range(5):
        assert three.submit(fail_on, bad).result(timeout=60) != bad


@pytest.mark.parametrize(
    "place",
    ["local", "local:0", "local:x", "host:8786", "tcp://host", "tcp://host:0", "tcp://host:99999", ""],
)
def test_a_bad_place(place: str) -> None:
    with pytest.raises(lr.InputError, match="cluster must be local:N or an address"), dask_cluster(place):
        pass


def test_without_dask_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(lr.InputError, match=r'pip install "lowregret\[dask\]"'),
        dask_cluster("local:2"),
    ):
        pass
