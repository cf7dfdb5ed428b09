"""A transaction is made completely or not at all, also when an interrupt comes at the worst moment."""

import gc
import signal
import threading
import tracemalloc
from contextlib import suppress
from functools import partial

import pytest
from agent_workers import check_replay, contents, interrupted

import lowregret as lr
from lowregret.online import agent_state as states
from lowregret.online import calls, daily_rewards, transactions
from lowregret.online.agent_state import AgentState
from lowregret.online.stores import in_memory as memory
from lowregret.online.stores import sql, sqlite

ARMS = ["red", "green", "blue"]
PLACES = ["agent.db", None]
MODULES = transactions, calls, states, daily_rewards, memory, sql, sqlite


def opened(folder, name):
    if name is None:
        return lr.Agent(lr.UCB1(), ARMS, seed=3)
    return lr.open_agent(folder / name, lr.UCB1(), ARMS, seed=3)


CALLS = {
    "ask": lambda agent, pending: agent.ask(2, request="page", only=["red", "green"]),
    "tell": lambda agent, pending: agent.tell_many((choice, 1) for choice in pending[:2]),
    "conflict": lambda agent, pending: agent.tell(agent._first, 1),
    "forget": lambda agent, pending: agent.forget(pending[0]),
    "add": lambda agent, pending: agent.add_arm("yellow"),
    "retire": lambda agent, pending: agent.retire_arm("red"),
}


def prepared(folder, name):
    """Return an agent with three pending decisions."""
    agent = opened(folder, name)
    agent._first, *pending = agent.ask(4)
    agent.tell(agent._first, 0.5)
    return agent, pending


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", [None, "agent.db"])
def test_an_interrupt_at_any_bytecode_comes_before_or_after_the_transaction(tmp_path, name, call):
    """Twice in a row: the recovery is interrupted as well."""
    twin, pending = prepared(tmp_path, None)
    before = contents(twin)
    with suppress(lr.ConflictError):
        CALLS[call](twin, pending)
    after, outcomes = contents(twin), []
    for moment in range(0, 4_000, 1 if name is None else 29):
        (tmp_path / str(moment)).mkdir()
        agent, pending = prepared(tmp_path / str(moment), name)
        try:
            interrupted(partial(CALLS[call], agent, pending), moment, *MODULES)
            break
        except lr.ConflictError:
            break
        except KeyboardInterrupt:
            with suppress(KeyboardInterrupt):
                interrupted(agent.to_json, moment % 97, *MODULES)
        outcomes.append(contents(agent))
        assert outcomes[-1] in (before, after)
        if name is not None:
            check_replay(agent)
        agent.close()
    assert moment > 150
    assert before in outcomes and after in outcomes


@pytest.mark.parametrize("name", PLACES)
def test_a_call_inside_a_call(tmp_path, monkeypatch, name):
    """Arms that ask the agent are listed first; a call in the middle, as of a signal handler, is rejected."""
    agent = opened(tmp_path, name)
    assert agent.ask(only=(arm for arm in ARMS if arm in agent.arms and arm != "red")).arm != "red"
    before, choose = agent.to_json(), AgentState.choose
    with monkeypatch.context() as patch:
        patch.setattr(AgentState, "choose", lambda state, *rest: [choose(state, *rest), agent.time][0])
        with pytest.raises(lr.InputError, match="is in the middle of a call: use it when"):
            agent.ask()
    assert agent.to_json() == before
    assert agent.tell(agent.ask(), 1)


def test_another_thread_waits_and_is_not_rejected(monkeypatch):
    agent, choose, others = opened(None, None), AgentState.choose, []

    def slowly(state, *rest):
        if not others:
            others.append(threading.Thread(target=lambda: others.append(agent.ask())))
            others[0].start()
            others[0].join(0.05)
            assert len(others) == 1
        return choose(state, *rest)

    monkeypatch.setattr(AgentState, "choose", slowly)
    assert agent.ask().time == 1
    others[0].join(120)
    assert others[1].time == 2


def test_signals_at_random_moments_lose_and_double_nothing():
    """Real ones, every 50 microseconds or so; a request says what became of a call."""
    agent, interrupts, step = opened(None, None), 0, 0

    def interrupt(*_):
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # an interrupt in the finalizer of another test's object would be a warning
    try:
        while step < 1_000:
            delay = 1e-5 + 1e-7 * (step * 7919 % 1_000)
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                agent.tell(agent.ask(request=f"visit {step}"), 0.5)
                step += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupts += 1
                if interrupts % 20 == 0:  # else a slow machine gets nowhere
                    agent.tell(agent.ask(request=f"visit {step}"), 0.5)
                    step += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        gc.enable()
    assert interrupts > 20
    assert (agent.time, agent.pending) == (agent.summary()["pulls"].sum(), ())
    assert agent.time == step


def test_an_interrupt_while_an_agent_catches_up(tmp_path, monkeypatch):
    """What others did is counted once, and no wrong snapshot is kept."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10)
    one, other = opened(tmp_path, "agent.db"), opened(tmp_path, "agent.db")
    other.tell_many((choice, 1) for choice in other.ask(9))
    for moment in range(0, 2_000, 20):
        other.tell(other.ask(), 1)
        with suppress(KeyboardInterrupt):
            interrupted(
                one.to_json if moment % 40 else one.ask, moment, transactions, states, daily_rewards, sqlite
            )
        one.tell_many((choice, 1) for choice in one.pending)  # which ends a session that was left open
        check_replay(one)
    assert one.time == other.time == opened(tmp_path, "agent.db").time
    assert one.summary()["pulls"].sum() == one.time


def test_an_agent_in_memory_does_not_grow(monkeypatch):
    """Once it remembers as many answers and requests as it may."""
    monkeypatch.setattr(states, "MAX_REMEMBERED", 100)
    monkeypatch.setattr(daily_rewards, "SETTLE_EVERY", 64)  # as many as there are keys at a time
    agent, sizes = lr.Agent(lr.UCB1(), ARMS, seed=3), []
    tracemalloc.start()
    for part in range(4):
        for step in range(320):
            agent.tell(agent.ask(request=f"visit {part} {step}"), 0.5)
        gc.collect()
        ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/lowregret/*")])
        sizes.append(sum(trace.size for trace in ours.traces))  # not of threads that other tests have left
    tracemalloc.stop()
    assert sizes[1] > 5_000 and sizes[3] - sizes[1] < 5_000
    with pytest.raises(lr.StoreError, match="without history holds the events of its latest session only"):
        agent.transactions.store.events(0)


def test_a_snapshot_bounds_the_replay_also_after_a_large_change(tmp_path):
    with opened(tmp_path, "agent.db") as agent:
        agent.tell_many((choice, 1) for choice in agent.ask(transactions.SNAPSHOT_EVERY + 7))
        store = agent.transactions.store
        assert len(store.events(store.latest_snapshot()[0])) < transactions.SNAPSHOT_EVERY


def test_processes_on_one_file_do_not_keep_a_snapshot_each(tmp_path, monkeypatch):
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10)
    one, other = opened(tmp_path, "agent.db"), opened(tmp_path, "agent.db")
    one.ask(11)
    other.ask()
    assert one.transactions.store.latest_snapshot()[0] == 11


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize(
    "call", [lambda agent: agent.ask(), lambda agent: agent.time, lambda agent: agent.to_json()]
)
def test_a_closed_agent_says_so(tmp_path, name, call):
    agent = opened(tmp_path, name)
    agent.close()
    agent.close()
    with pytest.raises(lr.InputError, match="this agent is closed: open it again"):
        call(agent)
