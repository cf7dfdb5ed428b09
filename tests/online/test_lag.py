"""A worker that was idle catches up without stopping the others, and nobody waits longer than was agreed."""

import os
import signal
import threading
from time import monotonic, sleep

import pytest
from agent_workers import check_replay

import lowregret as lr
from lowregret.online import event_replay, transactions
from lowregret.online.agent_state import AgentState

ARMS = ["red", "green", "blue"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


class Counter:
    """Counts the events that are replayed in a session of an agent and outside of it."""

    def __init__(self, agent, monkeypatch):
        self.inside, self.outside = 0, 0
        link = agent._transactions.store._link
        for module in (transactions, event_replay):
            monkeypatch.setattr(module, "reapply", self.counting(link))

    def counting(self, link, real=event_replay.reapply):
        def reapply(state, event):
            self.inside += link.in_transaction
            self.outside += not link.in_transaction
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
    store = busy._transactions.store
    with store.session(1.0):
        store.compact(*store.latest())
    assert idle.time == busy.time == 501
    assert idle.ask().time == 502


def test_a_worker_that_lags_far_behind_many_arms_compiles(tmp_path, monkeypatch):
    compiled = []
    monkeypatch.setattr(AgentState, "compile", lambda state: compiled.append(len(state.rows)))
    names = [f"arm {number}" for number in range(600)]
    idle, busy = (opened(tmp_path / "agent.db", arms=names) for _ in range(2))
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10**9)
    monkeypatch.setattr(transactions, "COMPILED_FROM", 150_000)
    monkeypatch.setattr(AgentState, "has_code", lambda state: False)
    busy.ask(200)
    assert (idle.time, compiled) == (200, [])
    busy.ask(300)
    assert (idle.time, compiled) == (500, [600])


@pytest.mark.parametrize("kind", ["agent.db", None])
def test_a_fork_while_another_thread_is_in_a_call(tmp_path, monkeypatch, kind):
    """The child does not wait for a thread that it does not have."""
    agent = lr.Agent(lr.UCB1(), ARMS) if kind is None else opened(tmp_path / kind)
    inside, go_on, real = threading.Event(), threading.Event(), AgentState.choose

    def choose(state, *rest):
        if threading.current_thread() is thread:
            inside.set()
            go_on.wait(120)
        return real(state, *rest)

    monkeypatch.setattr(AgentState, "choose", choose)
    thread = threading.Thread(target=agent.ask)
    thread.start()
    inside.wait(120)
    process = os.fork()
    if process == 0:
        signal.alarm(120)
        try:
            os._exit(10 + agent.ask().time)
        except lr.StoreError as error:
            os._exit(17 if "was opened before a fork" in str(error) else 1)
        finally:
            os._exit(2)
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == (11 if kind is None else 17)
    assert agent.ask().time == 2


def test_nobody_waits_longer_than_the_timeout_counted_from_the_call(tmp_path, monkeypatch):
    """Four threads on one agent while another process holds the file: waits do not add up.

    What a thread has waited for others is taken from what it waits for the store.
    """
    agent, other = opened(tmp_path / "agent.db", timeout=0.3), opened(tmp_path / "agent.db")
    other._transactions.store._link.execute("BEGIN IMMEDIATE")
    times, sessions, errors = {}, [], []

    def recorded():
        times.setdefault(threading.get_ident(), []).append(monotonic())
        return times[threading.get_ident()][-1]

    def session(timeout, real=agent._transactions.store.session):
        first, *_, last = times[threading.get_ident()]
        sessions.append((timeout, max(first + 0.3 - last, 0.0)))
        return real(timeout)

    def ask():
        try:
            agent.ask()
        except lr.StoreError as error:
            errors.append(str(error))

    monkeypatch.setattr(transactions, "monotonic", recorded)
    monkeypatch.setattr(agent._transactions.store, "session", session)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
        sleep(0.02)
    for thread in threads:
        thread.join()
    other._transactions.store._link.rollback()
    assert len(errors) == 4
    assert all("try again" in error for error in errors)
    assert sessions and all(waited == rest for waited, rest in sessions)
    monkeypatch.undo()
    assert agent.ask().time == 1


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "long", 1e300])
def test_a_timeout_is_a_number_of_seconds(tmp_path, timeout):
    with pytest.raises(lr.InputError, match="timeout must be a"):
        opened(tmp_path / "agent.db", timeout=timeout)


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_a_deleted_file_of_sqlite_is_noticed(tmp_path, end, settled):
    """Else calls would be acknowledged that are in a file without a name."""
    with opened(tmp_path / "agent.db") as agent:
        agent.ask()
        if settled:  # the folder was not changed for long, and need not be looked into
            os.utime(tmp_path, (1, 1))
            agent.ask()
            assert agent._transactions.store._unchanged == 10**9
        (tmp_path / f"agent.db{end}").unlink()
        for _ in range(2):
            with pytest.raises(lr.StoreError, match=f"agent.db{end}' was moved or deleted while it was open"):
                agent.ask()


def test_a_worker_loads_machine_code_that_is_on_the_disk(tmp_path, monkeypatch):
    """Also for a lag that is not worth a compilation."""
    names = [f"arm {number}" for number in range(600)]
    idle, stranger, busy = (opened(tmp_path / "agent.db", arms=names) for _ in range(3))
    busy.compile()
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10**9)
    busy.ask(20)
    assert (idle.time, idle._transactions.state.is_compiled) == (20, False)
    busy.ask(80)
    monkeypatch.setattr(AgentState, "has_code", lambda state: False)
    assert (stranger.time, stranger._transactions.state.is_compiled) == (100, False)
    monkeypatch.undo()
    assert idle._transactions.state.has_code()
    assert (idle.time, idle._transactions.state.is_compiled) == (100, True)
    check_replay(idle)
