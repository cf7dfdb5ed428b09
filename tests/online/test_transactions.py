"""A change is made whole or not at all, also when an interrupt comes at the worst moment."""

import json

import pytest

import lowregret as lr
from lowregret.online import state as core
from lowregret.online import transactions as ledger
from lowregret.online.state import Core

ARMS = ["red", "green", "blue"]
PLACES = ["agent.db", "agent.journal", None]


def opened(folder, name):
    if name is None:
        return lr.Agent(lr.UCB1(), ARMS, seed=3)
    return lr.open_agent(folder / name, lr.UCB1(), ARMS, seed=3)


def interrupting(monkeypatch, method, after):
    """Let a method of the state be interrupted when it has done its work so many times."""
    real, calls = getattr(Core, method), []

    def interrupted(self, *arguments):
        result = real(self, *arguments)
        calls.append(method)
        if len(calls) == after:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(Core, method, interrupted)


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize(
    ("method", "after", "call"),
    [
        ("_note_asked", 2, lambda agent, waiting: agent.ask(3, request="page")),
        ("_note_answer", 1, lambda agent, waiting: agent.tell_many((choice, 1) for choice in waiting)),
        ("_note_answer", 1, lambda agent, waiting: agent.forget(waiting[0])),
        ("_add", 1, lambda agent, waiting: agent.add_arm("yellow")),
        ("_retire", 1, lambda agent, waiting: agent.retire_arm("red")),
    ],
)
def test_an_interrupt_while_a_change_is_noted(tmp_path, monkeypatch, name, method, after, call):
    """In memory it never was; on a disk it is, all of it, since it was durable."""
    agent, twin = opened(tmp_path, name), lr.Agent(lr.UCB1(), ARMS, seed=3)
    pairs = list(zip(agent.ask(4), twin.ask(4), strict=True))
    waiting = [one for one, _ in pairs[1:]]
    agent.tell(pairs[0][0], 0.5)
    twin.tell(pairs[0][1], 0.5)
    before = agent.to_json()
    with monkeypatch.context() as patch:
        interrupting(patch, method, after)
        with pytest.raises(KeyboardInterrupt):
            call(agent, waiting)
    if name is None:
        assert agent.to_json() == before
    else:
        call(twin, [other for _, other in pairs[1:]])
        one, other = (json.loads(each.to_json()) for each in (agent, twin))
        assert one == {**other, "agent": one["agent"]}
        state = agent.to_json()
        agent.close()
        assert opened(tmp_path, name).to_json() == state


@pytest.mark.parametrize("name", PLACES)
def test_a_call_inside_a_call(tmp_path, monkeypatch, name):
    """Arms that ask the agent are listed first; one that comes in the middle, as of a signal, is refused."""
    agent = opened(tmp_path, name)
    assert agent.ask(only=(arm for arm in ARMS if arm in agent.arms and arm != "red")).arm != "red"
    before, choose = agent.to_json(), Core.choose
    with monkeypatch.context() as patch:
        patch.setattr(Core, "choose", lambda core, *rest: [choose(core, *rest), agent.time][0])
        with pytest.raises(lr.InputError, match="in the middle of a call: use it when that has ended"):
            agent.ask()
    assert agent.to_json() == before
    assert agent.tell(agent.ask(), 1)


def test_an_interrupt_forgets_no_answer(monkeypatch):
    monkeypatch.setattr(core, "REMEMBERED", 3)
    agent = lr.Agent(lr.UCB1(), ARMS, seed=3)
    first, *others = agent.ask(5)
    agent.tell_many([(first, 1), (others[0], 1), (others[1], 1)])
    with monkeypatch.context() as patch:
        interrupting(patch, "_note_answer", 2)
        with pytest.raises(KeyboardInterrupt):
            agent.tell_many([(others[2], 1), (others[3], 1)])
    assert not agent.tell(first, 1)


def test_an_interrupt_while_an_agent_catches_up(tmp_path, monkeypatch):
    """What others did is counted once, and no wrong snapshot is kept."""
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 10)
    one, other = opened(tmp_path, "agent.db"), opened(tmp_path, "agent.db")
    other.tell_many((choice, 1) for choice in other.ask(9))
    for call in (lambda: one.time, one.ask):
        other.tell(other.ask(), 1)
        with monkeypatch.context() as patch:
            interrupting(patch, "_note_asked", 1)
            with pytest.raises(KeyboardInterrupt):
                call()
    one.ask()
    assert one.time == other.time == opened(tmp_path, "agent.db").time == 12
    assert one.summary()["pulls"].sum() == 11


@pytest.mark.parametrize("name", PLACES[:2])
def test_a_compiled_agent_is_still_compiled_when_it_was_loaded_anew(tmp_path, monkeypatch, name):
    agent = opened(tmp_path, name).compile()
    steps = agent._ledger.core.steps
    with monkeypatch.context() as patch:
        interrupting(patch, "_note_asked", 1)
        with pytest.raises(KeyboardInterrupt):
            agent.ask()
    assert agent.time == 1
    assert agent._ledger.core.steps == steps


@pytest.mark.parametrize("name", PLACES[:2])
def test_a_snapshot_bounds_the_replay_also_after_a_large_change(tmp_path, name):
    with opened(tmp_path, name) as agent:
        agent.tell_many((choice, 1) for choice in agent.ask(ledger.SNAPSHOT_EVERY + 7))
        store = agent._ledger.store
        assert len(store.events(store.latest()[0])) < ledger.SNAPSHOT_EVERY


def test_processes_on_one_file_do_not_keep_a_snapshot_each(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 10)
    one, other = opened(tmp_path, "agent.db"), opened(tmp_path, "agent.db")
    one.ask(11)
    other.ask()
    assert one._ledger.store.latest()[0] == 11


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize(
    "call", [lambda agent: agent.ask(), lambda agent: agent.time, lambda agent: agent.to_json()]
)
def test_a_closed_agent_says_so(tmp_path, name, call):
    agent = opened(tmp_path, name)
    agent.close()
    agent.close()
    with pytest.raises(lr.InputError, match="this agent was closed: open it again"):
        call(agent)
