"""The folder: nothing half written, nothing damaged believed, nothing lost."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from agent_workers import Child
from forked import running
from helpers import SHARD_STEPS as STEPS

import lowregret as lr
from lowregret._common import durable_files as files
from lowregret._common.durable_files import locked, write_atomically
from lowregret.analysis.columns import TABLE_COLUMNS
from lowregret.experiments.run import run
from lowregret.experiments.sharding import make_shard_plan
from lowregret.experiments.store import ResultStore
from lowregret.experiments.worker import Finished


@pytest.fixture
def full(small, tmp_path: Path) -> Path:
    """A folder with all shards."""
    run(small, tmp_path, shard_steps=STEPS)
    return tmp_path


def again(small, folder: Path):
    """Run once more; give the results and the first and last progress."""
    told: list = []
    return run(small, folder, shard_steps=STEPS, progress=told.append), told[0], told[-1]


def test_a_second_run_computes_nothing(small, truth, same, full: Path) -> None:
    results, first, _ = again(small, full)
    assert (first.total, first.already_done) == (0, 24)
    same(results, truth)


@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "gone", "swap"])
def test_a_damaged_shard_is_noticed_and_computed_again(small, truth, same, full: Path, harm: str) -> None:
    shards = sorted((full / "shards").iterdir())
    data = bytearray(shards[3].read_bytes())
    data[len(data) // 2] ^= 1
    whole = shards[3].read_bytes()
    bad = {"cut": whole[:-10], "flip": bytes(data), "empty": b"", "swap": shards[4].read_bytes()}
    shards[3].unlink() if harm == "gone" else shards[3].write_bytes(bad[harm])
    with pytest.warns(UserWarning, match="^1 of the finished shards are damaged and are computed again$"):
        results, first, last = again(small, full)
    assert (first.total, first.already_done, last.done) == (1, 23, 1)
    assert shards[3].read_bytes() == whole
    same(results, truth)


def test_results_of_another_horizon_do_not_vanish_without_a_word(tmp_path: Path, recwarn) -> None:
    """More runs are no others: only what is not shown any more is worth a warning."""
    for change in ({}, {"runs": 3}, {"horizon": 60}, {"seed": 7}):
        common = {"environments": ["bernoulli:0.1,0.9"], "policies": ["RoundRobin"], "engine": "reference"}
        lr.Experiment(**{**common, "horizon": 50, "runs": 2, **change}).run(tmp_path, progress=False)
    text = "the results in {!r} had {}: they stay there but are not shown any more; use another folder to "
    changes = "the horizon 50 of 'bernoulli:0.1,0.9', now 60", "the horizon 60 of 'bernoulli:0.1,0.9', now 50"
    words = [str(warning.message) for warning in recwarn]
    assert words == [f"{text.format(str(tmp_path), change)}compare both" for change in changes]


def test_a_damaged_table_is_written_again(small, truth, same, full: Path) -> None:
    table = full / "curves.parquet"
    table.write_bytes(table.read_bytes()[:-10])
    same(again(small, full)[0], truth)


def test_a_manifest_cut_off_in_the_middle_of_a_line(small, truth, same, full: Path) -> None:
    manifest = full / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-20])
    results, first, _ = again(small, full)
    assert first.total == 1
    same(results, truth)
    assert all(json.loads(line) for line in manifest.read_text().splitlines())


def test_lines_of_a_later_version_are_read_and_kept(small, full: Path) -> None:
    manifest = full / "manifest.jsonl"
    lines = [{**json.loads(line), "host": "new"} for line in manifest.read_text().splitlines()]
    unknown = '{"shard":["x"],"sha256":"a","bytes":1,"steps":1,"seconds":1,"policy":"p","arms":2}'
    text = "".join(line + "\n" for line in (*map(json.dumps, lines), unknown, '{"later":1}', "[]"))
    manifest.write_text(text + '{"shard":"cut o')
    _, first, _ = again(small, full)
    assert (first.total, first.already_done) == (0, 24)
    assert manifest.read_text() == text


def test_what_a_killed_process_left_is_cleared_away(small, full: Path) -> None:
    for name in ("shards/x.parquet", "curves.parquet", "experiment.json", "manifest.jsonl"):
        (full / f"{name}.unfinished").touch()
    again(small, full)
    assert not list(full.rglob("*.unfinished"))


def test_files_of_the_user_are_left_alone(small, tmp_path: Path) -> None:
    table, notes = tmp_path / "events.parquet", tmp_path / "notes.unfinished"
    table.write_bytes(b"mine")
    notes.write_bytes(b"mine too")
    with pytest.raises(lr.StoreError, match=r"has a file events.parquet that is not from an experiment: use"):
        run(small, tmp_path, shard_steps=STEPS)
    assert sorted(tmp_path.iterdir()) == [table, notes]
    table.rename(tmp_path / "other.parquet")
    run(small, tmp_path, shard_steps=STEPS)
    assert notes.read_bytes() == b"mine too"
    assert (tmp_path / "other.parquet").read_bytes() == b"mine"


def test_a_changed_experiment_computes_only_what_changed(small, truth, full: Path) -> None:
    more = small.model_copy(update={"policies": ["EUCBV", "MOSS", "UCB1"]})
    told: list = []
    results = run(more, full, shard_steps=STEPS, progress=told.append)
    assert (told[0].total, told[0].already_done) == (12, 24)
    assert results.finals.filter(policy="MOSS").equals(truth.finals.filter(policy="MOSS"))
    fewer = small.model_copy(update={"policies": ["MOSS"], "runs": 8})
    results = run(fewer, full, shard_steps=STEPS, progress=told.append)
    assert told[-1].total == 0
    assert set(results.finals["policy"]) == {"MOSS"}
    assert results.finals["run"].max() == 7


def test_results_of_other_seeds_are_never_mixed(small, same, full: Path) -> None:
    other = small.model_copy(update={"seed": 6})
    with pytest.warns(UserWarning, match="had the seed 5, now 6: they stay there but are not shown"):
        results = run(other, full, shard_steps=STEPS)
    same(results, other.run())


def test_tables_of_another_plan_are_withdrawn_before_work_begins(small, full: Path) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    other = small.model_copy(update={"seed": 6})
    with pytest.raises(KeyboardInterrupt), pytest.warns(UserWarning, match="had the seed 5"):
        run(other, full, shard_steps=STEPS, progress=stop)
    with pytest.raises(lr.InputError, match="has no finished shard yet: run it again to continue"):
        lr.open_results(full)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_takes_no_more(small, truth, same, tmp_path: Path, monkeypatch, code: int) -> None:
    calls = iter(range(1000))
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if next(calls) >= 24:  # two of them for plan.json
            raise OSError(code, os.strerror(code))
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", fsync)
        with pytest.raises(lr.StoreError) as error:
            run(small, tmp_path, shard_steps=STEPS)
    told = f"cannot write to {str(tmp_path)!r}: {os.strerror(code)}; every finished shard is kept"
    assert str(error.value).startswith(told)
    assert ("free some space" in str(error.value)) == (code == errno.ENOSPC)
    assert not list(tmp_path.rglob("*.unfinished"))
    results, first, _ = again(small, tmp_path)
    assert first.already_done >= 5
    same(results, truth)


def test_a_disk_that_is_full_when_the_tables_are_written(small, truth, same, tmp_path, monkeypatch) -> None:
    real = pl.LazyFrame.sink_parquet

    def full(table: pl.LazyFrame, target, **more):
        if not isinstance(target, Path):  # a shard, written in memory
            return real(table, target, **more)
        target.write_bytes(b"half")
        raise pl.exceptions.ComputeError("underlying IO error: No space left on device (os error 28)")

    with monkeypatch.context() as patch:
        patch.setattr(pl.LazyFrame, "sink_parquet", full)
        patch.setattr("lowregret.results.saving.ALMOST_FULL", 2**80)
        told = (
            r"No space left on device \(os error 28\); every finished shard is kept: free some space and run"
        )
        with pytest.raises(lr.StoreError, match=told):
            run(small, tmp_path, shard_steps=STEPS)
    assert not list(tmp_path.rglob("*.unfinished"))
    results, first, _ = again(small, tmp_path)
    assert first.total == 0
    same(results, truth)


def test_a_write_that_stops_short_leaves_no_half_a_line(small, tmp_path: Path, monkeypatch) -> None:
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:9]))
        with pytest.raises(lr.StoreError, match="No space left on device"):
            run(small, tmp_path, shard_steps=STEPS)
    assert (tmp_path / "manifest.jsonl").read_bytes() == b""


def test_a_folder_that_cannot_be_made(small, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/lowregret")):
        with pytest.raises(lr.StoreError, match=f"cannot write to '{place}': "):
            small.run(place)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(OSError, match="broken"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_who_write_one_file_at_once_leave_the_whole_of_one(tmp_path: Path, monkeypatch) -> None:
    path, real = tmp_path / "file", os.fsync

    def fsync(descriptor: int) -> None:
        monkeypatch.setattr(files.os, "fsync", real)
        write_atomically(path, b"of another process")
        real(descriptor)

    monkeypatch.setattr(files.os, "fsync", fsync)
    write_atomically(path, b"ours")
    assert path.read_bytes() == b"ours"
    assert list(tmp_path.iterdir()) == [path]


def test_the_second_process_is_told_who_holds_the_folder(small, full: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom lowregret._common.durable_files import locked\n"
        "with locked(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    call = [sys.executable, "-c", code, str(full)]
    with running(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(
            lr.StoreError, match=rf"is in use by process {holder.pid} on \S+ since \d{{4}}-"
        ) as error:
            small.run(full)
        assert str(full) in str(error.value)
        lr.open_results(full)  # reading goes on
    # a killed holder holds nothing
    small.run(full)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_does_not_keep_a_folder_that_its_parent_has_left(tmp_path: Path) -> None:
    with files.one_at_a_time(tmp_path):
        child = Child(lambda child: child.wait())
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        files.fcntl.flock(descriptor, files.fcntl.LOCK_EX | files.fcntl.LOCK_NB)
    finally:
        os.close(descriptor)
        child.signal()
        assert child.end() == 0


def test_a_lock_is_held_once_in_a_process_too(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(lr.StoreError, match=f"process {os.getpid()} "), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_looking_makes_nothing(small, tmp_path: Path) -> None:
    store = ResultStore(tmp_path / "none")
    assert len(store.missing(make_shard_plan(small))) == 6
    assert not (tmp_path / "none").exists()


def test_all_shards_are_scanned_once_however_many_pairs_there_are(
    small, truth, same, full, monkeypatch
) -> None:
    scans: list = []
    real = pl.scan_parquet

    def scan(paths, **more):
        scans.append(paths)
        return real(paths, **more)

    (full / "experiment.json").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(pl, "scan_parquet", scan)
        store = ResultStore(full)
        with store.open():
            store.write_tables(make_shard_plan(small, STEPS))
    assert [len(paths) for paths in scans] == [24, 8]  # "coins again" has the shards of an earlier one
    same(lr.open_results(full), truth)


@pytest.fixture
def waits(monkeypatch) -> list[tuple[str, str]]:
    """What is done to files, in order: ("sync", name), ("name", name) when renamed, ("write", name)."""
    done: list[tuple[str, str]] = []
    sync, replace, write = os.fsync, os.replace, os.write

    def name(descriptor: int) -> str:
        return Path(os.readlink(f"/proc/self/fd/{descriptor}")).name

    def note(what: str, action, name_of):
        def noted(*arguments):
            done.append((what, name_of(arguments)))
            return action(*arguments)

        return noted

    monkeypatch.setattr(os, "fsync", note("sync", sync, lambda given: name(given[0])))
    monkeypatch.setattr(os, "write", note("write", write, lambda given: name(given[0])))
    monkeypatch.setattr(os, "replace", note("name", replace, lambda given: Path(given[1]).name))
    return done


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what a descriptor is")


@needs_linux
def test_shards_are_on_the_disk_before_the_manifest_names_them(small, tmp_path: Path, waits) -> None:
    store, shards = ResultStore(tmp_path / "out"), make_shard_plan(small, STEPS).shards[:2]
    with store.open():
        opened = waits[:]
        waits.clear()
        store.write_shards([(shard, "MOSS", Finished(b"data", "hash", 1.0)) for shard in shards])
    assert opened == [("sync", "out"), ("sync", tmp_path.name)]
    files = [f"{shard.name}.parquet" for shard in shards]
    each = [[("sync", f"{file}.unfinished"), ("name", file)] for file in files]
    manifest = [("write", "manifest.jsonl"), ("sync", "manifest.jsonl")]
    assert waits == [*each[0], *each[1], ("sync", "shards"), *manifest]


@needs_linux
def test_tables_are_on_the_disk_before_they_are_published(small, full: Path, waits) -> None:
    (full / "experiment.json").unlink()
    ResultStore(full).write_tables(make_shard_plan(small, STEPS))
    tables = [f"{name}.parquet" for name in TABLE_COLUMNS]
    folder, told = ("sync", full.name), "experiment.json"
    assert waits == [
        folder,  # the old ones are withdrawn
        *(("sync", f"{table}.unfinished") for table in tables),
        *(("name", table) for table in tables),
        folder,
        ("sync", f"{told}.unfinished"),
        ("name", told),
        folder,
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_worker_does_not_hold_the_folder_of_a_killed_parent(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\nfrom pathlib import Path\nfrom lowregret._common.durable_files import locked\n"
        "with locked(Path(sys.argv[1])):\n    if os.fork() == 0:\n"
        "        print(os.getpid(), flush=True)\n    time.sleep(600)\n"
    )
    call = [sys.executable, "-c", code, str(tmp_path)]
    with running(call, stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
    try:
        os.kill(child, 0)  # it is still there
        with locked(tmp_path):
            pass
    finally:
        os.kill(child, signal.SIGKILL)


def test_locks_leave_nothing_behind(tmp_path: Path) -> None:
    with locked(tmp_path):
        (file,) = files._held
        copy = os.dup(file.fileno())  # as a worker has it until it has closed it
    assert not files._held
    with locked(tmp_path):
        os.close(copy)
