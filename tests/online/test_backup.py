"""Backups of a store that is in use, and stores that are restored with all that SQLite has beside them."""

import os
import resource
import shutil
import sqlite3
from contextlib import suppress

import pytest
from agent_workers import Child, check_replay

import lowregret as lr
from lowregret.online.backup import backup, restore
from lowregret.online.stores.locations import agent_names

ARMS = ["red", "green", "blue"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


def played(path, times=40, **changed):
    """Play in a process that is killed, so that its latest events are in the WAL."""

    def play(child):
        child.agent = agent = opened(path, **changed)  # which is not closed
        for turn in range(times):
            agent.tell_many((choice, 1) for choice in agent.ask(20, request=f"{turn} {times}"))

    assert Child(play).end() == 0
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0


def test_a_backup_is_one_moment_of_a_store_that_is_in_use(tmp_path, monkeypatch):
    path, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    with opened(path) as agent, opened(path, name="other") as other:
        agent.ask(5)
        other.ask(3)
        assert backup(path, copy) == ["default", "other"]
        agent.ask(2)
        with pytest.raises(lr.InputError, match=r"copy.db' exists already: use another name"):
            backup(path, copy)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["agent.db", "copy.db"]
    with lr.open_agent(copy, name="default") as again:
        assert again.time == again.verify() == 5
        check_replay(again)


def test_a_restored_store_has_nothing_of_the_old_one(tmp_path):
    path, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    played(path, 10)
    backup(path, copy)
    played(path, 60)
    assert restore(copy, path) == ["default"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["agent.db", "copy.db"]
    with lr.open_agent(path) as agent:
        assert (agent.time, agent.verify()) == (200, 400)
    restore(copy, tmp_path / "new.db")
    assert agent_names(tmp_path / "new.db") == ["default"]


def test_a_store_that_is_in_use_is_not_replaced(tmp_path):
    """By this process, whose locks stay as they are, or by another."""
    path, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    agent = opened(path)
    backup(path, copy)

    def refused(child=None):
        if child is not None:
            child.wait()
        with pytest.raises(lr.StoreError, match="is in use: stop the processes that use it, and try again"):
            restore(copy, path)

    refused()
    child = Child(refused)
    agent.ask()
    child.signal()
    assert child.end() == 0
    assert agent.ask().time == 2
    agent.close()
    assert Child(lambda child: len(restore(copy, path))).end() == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["agent.db", "copy.db"]
    with opened(path) as agent:
        assert agent.time == 0


def test_a_copy_put_beside_an_old_wal_is_not_opened(tmp_path):
    path, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    played(path, 10)
    backup(path, copy)
    played(path, 60)
    shutil.copyfile(copy, path)
    for call in (lambda: lr.open_agent(path), lambda: agent_names(path)):
        with pytest.raises(
            lr.StoreError, match="was replaced by a copy, and '.*-wal' is of the old file: delete"
        ):
            call()
    restore(copy, path)
    with lr.open_agent(path) as agent:
        assert (agent.time, agent.verify()) == (200, 400)


def test_what_is_no_store_is_neither_copied_nor_restored(tmp_path):
    path, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    opened(path).close()
    content = path.read_bytes()
    for call in (
        lambda: backup("postgresql://me:s3cret@host/x", copy),
        lambda: restore(copy, "postgres://host"),
    ):
        with pytest.raises(lr.InputError, match="is for SQLite: back up a PostgreSQL database with pg_dump"):
            call()
    with pytest.raises(lr.StoreError, match="there is no such file"):
        restore(copy, path)
    copy.write_bytes(b"no database " * 1_000)
    with pytest.raises(lr.StoreError, match="not an SQLite file"):
        restore(copy, path)
    shutil.copy(path, copy)
    with sqlite3.connect(copy) as link:
        (page,) = link.execute("SELECT rootpage FROM sqlite_master WHERE name = 'asked'").fetchone()
    link.close()
    with open(copy, "r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    with pytest.raises(lr.StoreError, match="is damaged: restore it from another copy"):
        restore(copy, path)
    assert path.read_bytes() == content
    assert sorted(file.name for file in tmp_path.iterdir()) == ["agent.db", "copy.db"]


def test_too_many_open_files_are_named(tmp_path):
    opened(tmp_path / "agent.db").close()
    limits, files = resource.getrlimit(resource.RLIMIT_NOFILE), []
    used = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 20, limits[1]))
    try:
        with suppress(OSError):
            while True:
                files.append(open(os.devnull))  # noqa: SIM115
        for read_only in (False, True):
            with pytest.raises(lr.StoreError) as caught:
                lr.open_agent(tmp_path / "agent.db", read_only=read_only)
            files.pop().close()
            assert "oo many open files: raise the limit of open files (ulimit -n" in str(caught.value)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for file in files:
            file.close()


def test_many_agents_of_a_process_need_few_files(tmp_path):
    agents = [opened(tmp_path / "agent.db", name=f"agent-{number}") for number in range(30)]
    for agent in agents:
        agent.ask()
    assert len([name for name in _open_files() if name.startswith(str(tmp_path))]) < 10
    for agent in agents:
        agent.close()
    assert sorted(os.listdir(tmp_path)) == ["agent.db"]


def _open_files():
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            yield os.readlink(f"/proc/self/fd/{number}")
