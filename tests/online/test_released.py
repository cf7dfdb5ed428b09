"""Stores of every released format open for ever, and agents on them go on exactly.

The files are in tests/data, under the number of their format. They were written by ``release`` of this file,
at version 0.1.0, and are never written again. A new format gets files of its own:
PYTHONPATH=tests:tests/online python -c "import test_released as t; t.release('tests/data/agent-3.db')".
"""

import shutil
import sqlite3
from pathlib import Path

import pytest
from agent_workers import check_replay

import lowregret as lr
from lowregret.online import transactions

DATA = Path(__file__).parents[1] / "data"


def opened(path):
    return lr.open_agent(
        path,
        lr.EUCBV(rho=0.1),
        ["red", "green", "blue é"],
        seed=2018,
        reward_range=(-1, 3),
        outside="clip",
    )


def release(path):
    """Write a store in which everything has happened, with one snapshot and events after it."""
    path, every = Path(path), transactions.SNAPSHOT_EVERY
    if path.suffix == ".db":  # small pages make a small file
        link = sqlite3.connect(path)
        link.execute("PRAGMA page_size = 512")
        link.execute("VACUUM")
        link.close()
    transactions.SNAPSHOT_EVERY = 40
    with opened(path) as agent:
        for step in range(14):
            agent.tell(agent.ask(), step % 5 - 0.7)
        late, lost, *told = agent.ask(5, request="visits")
        agent.tell_many((choice, 0.1) for choice in told)
        agent.add_arm("yellow")
        agent.retire_arm("green")
        with pytest.raises(lr.ConflictError):
            agent.tell(told[0], 1)
        agent.forget(lost)
        for step in range(8):
            agent.tell(agent.ask(), step / 3)
        agent.tell(late, 2.9)
        agent.ask(3, only=["red", "yellow"], request="left")
    transactions.SNAPSHOT_EVERY = every


def check_release(path):
    """Check what ``release`` wrote, and play on."""
    with opened(path) as agent:
        table = agent.summary()
        assert table["arm"].to_list() == ["red", "green", "blue é", "yellow"]
        assert table["pulls"].to_list() == [10, 11, 2, 3]
        assert table["mean"].to_list() == pytest.approx([1.51, 12.3 / 11, -0.3, 4 / 9], rel=1e-12)
        assert table["state"].to_list() == ["active", "retired", "active", "active"]
        assert (agent.time, agent.conflicts) == (29, 1)
        assert agent.transactions.store.latest_snapshot()[0] == 40
        check_replay(agent, counts_days=False)  # as this version did not
        visits = agent.ask(5, request="visits")
        assert [choice.time for choice in visits] == [15, 16, 17, 18, 19]
        assert not agent.forget(visits[1])
        assert not agent.tell(visits[0], 2.9)
        left = agent.ask(3, request="left")
        assert agent.pending == tuple(left)
        assert [choice.arm for choice in left] == ["red", "red", "red"]
    goes_on(path)


def test_a_released_file_opens_for_ever(tmp_path):
    path = tmp_path / "agent-2.db"
    shutil.copy(DATA / path.name, path)
    check_release(path)
    with sqlite3.connect(path) as link:
        assert link.execute("PRAGMA user_version").fetchone() == (2,)
        assert link.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    link.close()


def test_released_tables_of_postgresql_open_for_ever(postgres_url):
    """They were written by pg_dump --inserts."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url) as link:
        link.execute((DATA / "agent-2.sql").read_text(encoding="utf-8"))
    check_release(postgres_url)


def goes_on(path):
    """Play some steps, each by an agent that has just opened the store."""
    arms = []
    for step in range(12):
        with opened(path) as agent:
            choice = agent.ask()
            arms.append(choice.arm)
            agent.tell(choice, step % 5 / 2)
    assert "".join(arm[0] for arm in arms) == "rryryyrrrrry"
