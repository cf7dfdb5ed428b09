"""A worker that was idle catches up without stopping the others, and nobody waits longer than was agreed."""

import sqlite3
import subprocess
import sys
import threading
from time import monotonic, sleep

import pytest
from agent_workers import check_replay

import lowregret as lr
from lowregret.online import calls, event_replay, transactions
from lowregret.online.agent_state import AgentState
from lowregret.online.stores.sqlite import SQLiteStore

ARMS = ["red", "green", "blue"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


class Counter:
    """Counts the events that are replayed in a session of an agent and outside of it."""

    def __init__(self, agent, monkeypatch):
        self.inside, self.outside = 0, 0
        store = agent.transactions.store
        for module in (transactions, event_replay):
            monkeypatch.setattr(module, "reapply", self.counting(store))

    def counting(self, store, real=event_replay.reapply):
        def reapply(state, event):
            self.inside += store._connection is not None
            self.outside += store._connection is None
            real(state, event)

        return reapply


@pytest.mark.parametrize(("arms", "most"), [(3, 300), (700, 7)])
def test_a_worker_that_lags_behind_stops_nobody(tmp_path, monkeypatch, arms, most):
    names = [f"arm {number}" for number in range(arms)]
    idle, busy = (opened(tmp_path / "agent.db", arms=names) for _ in range(2))
    busy.compile()
    for _ in range(4):
        busy.tell_many((choice, 0.5) for choice in busy.ask(500))
    busy.ask(40)
    counter = Counter(idle, monkeypatch)
    idle.ask()
    assert counter.inside <= most
    assert counter.outside <= 1_000  # from the latest snapshot
    busy.ask(2)
    idle.ask()
    assert counter.inside <= 2 * most
    check_replay(idle)
    assert idle.time == busy.time == 2_044
    assert {choice.id for choice in idle.pending} == {choice.id for choice in busy.pending}


def test_a_worker_that_lags_behind_a_compaction_goes_on(tmp_path):
    idle, busy = (opened(tmp_path / "agent.db") for _ in range(2))
    idle.ask()
    busy.tell_many((choice, 0.5) for choice in busy.ask(500))
    store = busy.transactions.store
    with store.session(1.0):
        store.compact(*store.latest_snapshot())
    assert idle.time == busy.time == 501
    assert idle.ask().time == 502


def test_a_worker_that_lags_far_behind_many_arms_compiles(tmp_path, monkeypatch):
    compiled = []
    monkeypatch.setattr(AgentState, "compile", lambda state: compiled.append(len(state.rows)))
    names = [f"arm {number}" for number in range(600)]
    idle, busy = (opened(tmp_path / "agent.db", arms=names) for _ in range(2))
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10**9)
    monkeypatch.setattr(transactions, "MIN_UPDATES_TO_COMPILE", 150_000)
    monkeypatch.setattr(AgentState, "has_code", lambda state: False)
    busy.ask(200)
    assert (idle.time, compiled) == (200, [])
    for _ in range(3):
        busy.ask(100)
    assert (idle.time, compiled) == (500, [600])


@pytest.mark.parametrize("faster", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_an_ask_that_takes_long_keeps_no_other_agent_waiting(tmp_path, monkeypatch, faster, together):
    """It is computed before it takes the file; again, if another process has asked the agent meanwhile."""
    path, arms = tmp_path / "agent.db", [f"arm {number}" for number in range(60)]
    agent, neighbour = opened(path, arms=arms), opened(path, name="neighbour", timeout=0.0)
    rival, times, real = opened(path, arms=arms), [], AgentState.choose

    def choose(state, number, *rest):
        if state is agent.transactions.state and number == 50 and not times:
            times.append(neighbour.ask().time)
            if faster:
                times.append(rival.ask().time)
        return real(state, number, *rest)

    monkeypatch.setattr(AgentState, "choose", choose)
    if together:
        choices = [
            row
            for part in agent.transactions.execute_group([(calls.ask, (50, None, None))] * 2)
            for row in part
        ]
    else:
        choices = agent.ask(100)
    assert times == [1, 1][: 1 + faster]
    assert [choice.time for choice in choices] == list(range(1 + faster, 101 + faster))
    assert len({choice.id for choice in choices}) == 100
    check_replay(agent)
    assert rival.time == agent.time == 100 + faster


def test_nobody_waits_longer_than_the_timeout_counted_from_the_call(tmp_path, monkeypatch):
    """Four threads on one agent while another process holds the file: waits do not add up.

    What a thread has waited for others is taken from what it waits for the store.
    """
    agent = opened(tmp_path / "agent.db", timeout=0.3)
    other = sqlite3.connect(tmp_path / "agent.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    times, sessions, errors = {}, [], []

    def recorded():
        times.setdefault(threading.get_ident(), []).append(monotonic())
        return times[threading.get_ident()][-1]

    def session(timeout, real=agent.transactions.store.session):
        first, *_, last = times[threading.get_ident()]
        sessions.append((timeout, max(first + 0.3 - last, 0.0)))
        return real(timeout)

    def ask():
        try:
            agent.ask()
        except lr.StoreError as error:
            errors.append(str(error))

    monkeypatch.setattr(transactions, "monotonic", recorded)
    monkeypatch.setattr(agent.transactions.store, "session", session)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
        sleep(0.02)
    for thread in threads:
        thread.join(120)
    other.close()
    assert len(errors) == 4
    assert all("try again" in error for error in errors)
    assert sessions and all(waited == rest for waited, rest in sessions)
    monkeypatch.undo()
    assert agent.ask().time == 1


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "long", 1e300])
def test_a_timeout_is_a_number_of_seconds(tmp_path, timeout):
    with pytest.raises(lr.InputError, match="timeout must be a"):
        opened(tmp_path / "agent.db", timeout=timeout)


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_a_deleted_file_of_sqlite_loses_nothing(tmp_path, end):
    """Else calls would be acknowledged that are in a file without a name."""
    with opened(tmp_path / "agent.db") as agent, opened(tmp_path / "agent.db") as other:
        for _ in range(3):
            first = agent.ask()
            (tmp_path / f"agent.db{end}").unlink()
            assert other.tell(first, 1) is True and agent.tell(first, 1) is False
            (tmp_path / f"agent.db{end}").unlink()
    with opened(tmp_path / "agent.db") as agent:
        assert agent.time == 3 and agent.verify() == 6


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_a_file_of_sqlite_that_is_deleted_during_a_call(tmp_path, monkeypatch, end):
    """The caller does not know whether it is stored, and repeats the call."""
    commit = SQLiteStore._commit

    def delete_and_commit(store):
        (tmp_path / f"agent.db{end}").unlink()
        commit(store)

    with opened(tmp_path / "agent.db") as agent:
        agent.ask(request="first")
        with monkeypatch.context() as patch:
            patch.setattr(SQLiteStore, "_commit", delete_and_commit)
            with pytest.raises(
                lr.StoreError, match="was deleted during a call, which may be stored: repeat it"
            ):
                agent.ask(request="second")
        choice = agent.ask(request="second")
    with opened(tmp_path / "agent.db") as agent:
        assert agent.time == agent.verify() == 2 and agent.ask(request="second") == choice


WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("CREATE TABLE others (number INTEGER)")
if sys.argv[2] == "old table":
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
connection.execute("INSERT INTO others VALUES (1)")
print("has written", flush=True)
sys.stdin.read()
connection.close()
"""


@pytest.mark.parametrize("page", ["new table", "old table"])
def test_a_wal_that_another_process_has_alone(tmp_path, page):
    """What would be written beside it could be lost, even where all that is read is in the store itself."""
    path = tmp_path / "agent.db"
    with opened(path) as agent:
        agent.ask()
    pipe = subprocess.PIPE
    other = subprocess.Popen([sys.executable, "-c", WRITER, path, page], stdin=pipe, stdout=pipe)
    try:
        other.stdout.readline()
        (tmp_path / "agent.db-wal").unlink()
        for _ in range(2):
            with pytest.raises(lr.StoreError, match="its -wal was deleted while another process has it open"):
                opened(path).ask()
    finally:
        other.communicate()
    with opened(path) as agent:
        agent.ask()
        assert agent.time == agent.verify() == 2
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT number FROM others").fetchall() == [(1,)]
    connection.close()


def test_a_call_for_many_decisions_compiles_first(tmp_path, monkeypatch):
    """Plain Python would take a minute for 1,000 decisions among 5,000 arms."""
    monkeypatch.setattr(transactions, "MIN_UPDATES_TO_LOAD", 100)
    monkeypatch.setattr(transactions, "MIN_UPDATES_TO_COMPILE", 100)
    monkeypatch.setattr(transactions, "MAX_ARM_UPDATES", 100)
    with opened(tmp_path / "agent.db", arms=[f"arm {number}" for number in range(60)]) as agent:
        agent.ask()
        assert not agent.transactions.state.is_compiled
        agent.ask(2)
        assert agent.transactions.state.is_compiled and agent.time == 3


def test_a_worker_loads_machine_code_that_is_on_the_disk(tmp_path, monkeypatch):
    """Also for a lag that is not worth a compilation."""
    names = [f"arm {number}" for number in range(600)]
    idle, stranger, busy = (opened(tmp_path / "agent.db", arms=names) for _ in range(3))
    busy.compile()
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10**9)
    busy.ask(20)
    assert (idle.time, idle.transactions.state.is_compiled) == (20, False)
    busy.ask(80)
    monkeypatch.setattr(AgentState, "has_code", lambda state: False)
    assert (stranger.time, stranger.transactions.state.is_compiled) == (100, False)
    monkeypatch.undo()
    assert idle.transactions.state.has_code()
    assert (idle.time, idle.transactions.state.is_compiled) == (100, True)
    check_replay(idle)
