"""An agent that is paused or retired makes no decisions, and its log says so."""

import json

import pytest

import lowregret as lr
from lowregret.online.snapshot import write
from lowregret.online.stores.in_memory import MemoryStore

ARMS = ["red", "green"]


@pytest.mark.parametrize("name", ["a.db", None])
def test_a_pause_is_stored(tmp_path, name):
    where = MemoryStore() if name is None else tmp_path / name
    agent = lr.open_agent(where, lr.UCB1(), ARMS)
    choice = agent.ask(request="x")
    assert agent.pause() and not agent.pause()
    with pytest.raises(lr.ConflictError, match="paused"):
        agent.ask()
    assert agent.ask(request="x") == choice and agent.tell(choice, 1)
    agent.close()
    agent = lr.open_agent(where, lr.UCB1(), ARMS)
    assert agent.status == "paused"
    with pytest.raises(lr.ConflictError, match="paused"):
        agent.ask()
    assert agent.resume() and not agent.resume() and agent.ask().time == 2
    assert agent.retire() and not agent.retire()
    for change in (agent.pause, agent.resume, agent.ask):
        with pytest.raises(lr.ConflictError, match="retired"):
            change()
    assert agent.events()["kind"].to_list() == ["asked", "paused", "told", "resumed", "asked", "ended"]
    assert agent.verify() == 6
    agent.close()


def test_json_says_it_and_others_stay_as_they_were():
    agent = lr.Agent(lr.UCB1(), ARMS)
    assert "status" not in json.loads(agent.to_json())
    agent.pause()
    copy = lr.Agent.from_json(agent.to_json())
    assert copy.status == "paused"
    copy.resume()
    assert write(copy.transactions.state) == write(lr.Agent.from_json(copy.to_json()).transactions.state)


def test_a_failed_call_restores_the_status(tmp_path, monkeypatch):
    agent = lr.open_agent(tmp_path / "a.db", lr.UCB1(), ARMS)
    with monkeypatch.context() as patch:
        patch.setattr(agent.transactions.store, "append", lambda events: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            agent.pause()
    assert agent.status == "active"
    agent.close()


def test_another_process_sees_it(tmp_path):
    agents = [lr.open_agent(tmp_path / "a.db", lr.UCB1(), ARMS) for _ in range(2)]
    agents[0].pause()
    with pytest.raises(lr.ConflictError, match="paused"):
        agents[1].ask()
    agents[1].resume()
    assert agents[0].ask().time == 1
    for agent in agents:
        agent.close()


def test_a_paused_agent_shows_its_fallback(tmp_path):
    agent = lr.open_agent(tmp_path / "a.db", "UCB1", ARMS, control=("green", 0.5))
    shown = lr.Decision("fallback", "green", 0)
    assert agent.pause(fallback="green") and not agent.pause(fallback="green")
    assert agent.ask() == shown and agent.ask(2, request="x") == [shown] * 2
    assert (agent.tell(shown, 1), agent.tell_many([("fallback", 1)]), agent.forget(shown)) == (
        False,
        0,
        False,
    )
    assert agent.pause(fallback="red") and agent.ask().arm == "red"
    agent.add_arm("blue")
    with pytest.raises(lr.InputError, match="shown while the agent is paused"):
        agent.retire_arm("red")
    assert lr.Agent.from_json(agent.to_json()).ask().arm == "red"
    with pytest.raises(lr.InputError, match="unknown arm"):
        agent.pause(fallback="grey")
    assert agent.verify() == 3 and agent.time == 0
    agent.close()
    agent = lr.open_agent(tmp_path / "a.db")
    assert agent.ask().arm == "red" and agent.pause() and agent.status == "paused"
    with pytest.raises(lr.ConflictError, match="paused"):
        agent.ask()
    agent.resume()
    assert agent.ask(request="x").id != "fallback" and agent.verify() == 6
    agent.close()
