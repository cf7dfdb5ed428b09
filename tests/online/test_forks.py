"""Agents on SQLite across a fork: web servers that preload, task queues and multiprocessing fork workers."""

import os
import shutil
import sqlite3
import threading
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context

import pytest
from agent_workers import Child, check_replay

import lowregret as lr
from lowregret.online.agent_state import AgentState
from lowregret.online.stores import sqlite_connection
from lowregret.online.stores.locations import agent_names

ARMS = ["red", "green", "blue"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks")


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


@contextmanager
def stopped_in(monkeypatch, owner, name, agent):
    """Stop another thread that asks an agent in a method, until the block ends."""
    inside, go_on, real = threading.Event(), threading.Event(), getattr(owner, name)

    def stopping(*arguments, **named):
        with getattr(arguments[0], "lock", nullcontext()):  # of a connection in a statement
            if threading.current_thread() is thread and not inside.is_set():
                inside.set()
                go_on.wait(120)
            return real(*arguments, **named)

    monkeypatch.setattr(owner, name, stopping)
    thread = threading.Thread(target=agent.ask, kwargs={"request": "of the thread"})
    thread.start()
    assert inside.wait(120)
    try:
        yield
    finally:
        go_on.set()
        thread.join(120)


@pytest.mark.parametrize("inherited", [True, False])
@pytest.mark.parametrize("closes", [True, False])
def test_no_decision_of_a_worker_is_lost_whatever_its_master_does(tmp_path, inherited, closes):
    """The master closes its agent while workers are at work, or goes on with it; workers end at once."""
    path = tmp_path / "agent.db"
    master = opened(path)
    master.ask(request="master")

    def work(child):
        agent = master if inherited else opened(path)
        agent.ask(10, request=f"{os.getpid()} before")
        child.signal()
        child.wait()
        agent.ask(10, request=f"{os.getpid()} after")

    children = [Child(work) for _ in range(2)]
    for child in children:
        child.wait()
    if closes:
        master.close()
    else:
        master.ask(request="master again")
    for child in children:
        child.signal()
    assert [child.end() for child in children] == [0, 0]
    with opened(path) as agent:
        for child in children:
            for part in ("before", "after"):
                assert len(agent.transactions.store.events_of_request(f"{child.process} {part}")) == 10
        assert agent.time == 41 + (not closes)
        check_replay(agent)


def asked(number):
    return [choice.id for choice in shared.ask(2, request=f"task {number}")]


def test_workers_of_multiprocessing_share_the_agent_of_their_parent(tmp_path):
    global shared
    with opened(tmp_path / "agent.db") as shared:
        first = shared.ask()
        with get_context("fork").Pool(3) as pool:
            ids = pool.map_async(asked, range(12), chunksize=1).get(120)
        assert [[choice.id for choice in shared.ask(2, request=f"task {n}")] for n in range(12)] == ids
        assert len({key for keys in ids for key in keys} | {first.id}) == shared.time == 25
        check_replay(shared)


def test_a_fork_between_the_statements_of_another_thread(tmp_path, monkeypatch):
    """The transaction of the thread is made again, and the child does not know the thread."""
    path = tmp_path / "agent.db"
    agent, other = opened(path), opened(path, name="other")
    with stopped_in(monkeypatch, AgentState, "choose", agent):
        assert Child(lambda child: agent.ask(request="child").time + other.ask().time).end() == 2
    assert agent.ask(request="child").time == 1
    assert agent.ask(request="of the thread").time == 2
    assert (agent.time, other.time) == (2, 1)
    check_replay(agent)


def test_a_fork_while_another_thread_uses_an_agent_in_memory(monkeypatch):
    """The child does not wait for a thread that it does not have."""
    agent = lr.Agent(lr.UCB1(), ARMS)
    with stopped_in(monkeypatch, AgentState, "choose", agent):
        assert Child(lambda child: 10 + agent.ask().time).end() == 11
    assert agent.ask().time == 2


def test_a_fork_within_a_statement_of_another_thread_is_refused_in_the_child(tmp_path, monkeypatch):
    """After the agent's timeout: what SQLite holds in the thread is never released in the child."""
    from lowregret.online.stores.sqlite_connection import Connection

    path = tmp_path / "agent.db"
    agent = opened(path, timeout=0.05)

    def refused(child):
        calls = agent.ask, lambda: agent_names(path), lambda: opened(tmp_path / "new.db")
        for call in calls:
            with pytest.raises(lr.StoreError, match="was forked while another thread used SQLite"):
                call()

    with stopped_in(monkeypatch, Connection, "execute", agent):
        assert Child(refused).end() == 0
    assert agent.ask(request="of the thread").time == 1
    assert agent.time == 1
    assert Child(lambda child: 10 + agent.ask().time).end() == 12


def test_a_signal_handler_may_fork_while_a_connection_is_opened(tmp_path, monkeypatch):
    """Before a fork the thread takes a lock that it already has, and its child has it too."""
    path, ends = tmp_path / "agent.db", []
    opened(path).close()

    def ask(child):
        monkeypatch.undo()
        return 10 + opened(path).ask().time

    monkeypatch.setattr(sqlite_connection, "_check_wal", lambda place: ends.append(Child(ask).end()))
    assert Child(lambda child: 10 * opened(path).ask().time + ends[0]).end() == 31


def test_an_open_file_is_not_copied_to_be_read(tmp_path, monkeypatch):
    """To close the copied file would drop the locks of this process."""
    path, copies = tmp_path / "agent.db", []
    with opened(path) as agent:
        agent.ask()
        real = sqlite3.connect

        def connect(place, **options):
            if "mode=ro" in str(place):
                raise sqlite3.OperationalError("unable to open database file")
            return real(place, **options)

        monkeypatch.setattr(sqlite3, "connect", connect)
        monkeypatch.setattr(shutil, "copyfile", lambda *files: copies.append(files))
        with pytest.raises(lr.StoreError, match="this process has it open, so use that agent"):
            lr.open_agent(path, read_only=True)
        assert not copies
        assert agent.ask().time == 2


def test_a_temporary_copy_outlives_a_fork(tmp_path, monkeypatch):
    folder = tmp_path / "left"
    folder.mkdir()
    with opened(tmp_path / "agent.db") as agent:
        agent.ask(3)
        for end in ("", "-wal"):
            shutil.copy(tmp_path / f"agent.db{end}", folder / f"agent.db{end}")
    real = sqlite3.connect

    def connect(place, **options):
        if str(folder) in str(place):
            raise sqlite3.OperationalError("unable to open database file")
        return real(place, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    with lr.open_agent(folder / "agent.db", read_only=True) as agent:
        assert Child(lambda child: [agent.time, agent.close()][0]).end() == 3
        assert agent.time == 3
