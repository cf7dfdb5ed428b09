"""Stores of every released format open for ever, and agents on them go on exactly.

The files are in tests/data, under the number of their format. They were written by ``release`` of this file,
at version 0.1.0, and are never written again. A new format gets files of its own:
PYTHONPATH=tests:tests/online python -c "import test_released as t; t.release('tests/data/agent-3.db')".
"""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from agent_workers import check_replay

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.stores.journal import JournalStore

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


@pytest.mark.parametrize("name", ["agent-1.db", "agent-1.journal", "agent-2.db", "agent-2.journal"])
def test_a_released_store_opens_for_ever(tmp_path, name):
    path = tmp_path / name
    shutil.copy(DATA / name, path)
    with opened(path) as agent:
        table = agent.summary()
        assert table["arm"].to_list() == ["red", "green", "blue é", "yellow"]
        assert table["pulls"].to_list() == [10, 11, 2, 3]
        assert table["mean"].to_list() == pytest.approx([1.51, 12.3 / 11, -0.3, 4 / 9], rel=1e-12)
        assert table["state"].to_list() == ["active", "retired", "active", "active"]
        assert (agent.time, agent.conflicts, agent.notes) == (29, 1, ())
        assert agent._transactions.store.latest()[0] == 40
        check_replay(agent)
        visits = agent.ask(5, request="visits")
        assert [choice.time for choice in visits] == [15, 16, 17, 18, 19]
        assert not agent.forget(visits[1])
        assert not agent.tell(visits[0], 2.9)
        left = agent.ask(3, request="left")
        assert agent.pending == tuple(left)
        assert [choice.arm for choice in left] == ["red", "red", "red"]
    goes_on(path)
    if path.suffix == ".db":
        with sqlite3.connect(path) as link:
            assert link.execute("PRAGMA user_version").fetchone() == (2,)
            assert link.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        link.close()
    else:
        assert path.read_bytes().startswith(b"lowregret journal 2\n")


@pytest.mark.parametrize("name", ["agent-1.db", "agent-1.journal"])
def test_pending_decisions_of_format_1_keep_their_ids(tmp_path, name):
    shutil.copy(DATA / name, tmp_path)
    if name == "agent-1.db":
        with sqlite3.connect(tmp_path / name) as link:
            head = link.execute("SELECT text FROM head").fetchone()[0]
        link.close()
    else:
        head = json.loads(re.search(rb'{"head":(".*?[^\\]")', (tmp_path / name).read_bytes())[1])
    token = json.loads(head)["agent"]
    with opened(tmp_path / name) as agent:
        assert [choice.id for choice in agent.pending] == [f"{token}-{number}" for number in (28, 29, 30)]
        assert agent.tell(f"{token}-28", 1)
        assert agent.ask().timestamp is not None
        with pytest.raises(lr.UnknownDecisionError):
            agent.tell(f"{token}-31", 1)


def goes_on(path):
    """Play some steps, each by an agent that has just opened the store."""
    arms = []
    for step in range(12):
        with opened(path) as agent:
            choice = agent.ask()
            arms.append(choice.arm)
            agent.tell(choice, step % 5 / 2)
    assert "".join(arm[0] for arm in arms) == "rryryyrrrrry"


def test_an_agent_of_a_policy_that_was_renamed_opens(tmp_path):
    """RoundRobin was called Uniform."""
    text = lr.Agent(lr.RoundRobin(), ["x", "y"]).to_json().replace('"RoundRobin"', '"Uniform"')
    assert lr.Agent.from_json(text).policy == lr.RoundRobin()
    path = tmp_path / "agent.journal"
    lr.open_agent(path, lr.RoundRobin(), ["x", "y"]).close()
    store = JournalStore(path)
    head = store.head().replace('"RoundRobin"', '"Uniform"')
    store.close()
    path.unlink()
    store = JournalStore(path)
    with store.session(1.0):
        store.begin(head)
    store.close()
    assert lr.open_agent(path, lr.RoundRobin(), ["x", "y"]).policy == lr.RoundRobin()
