"""Decisions have ids that nobody can guess and that no two decisions share, whatever was copied."""

import os
import sqlite3

import pytest
from agent_workers import Child

import lowregret as lr
from lowregret.online import transactions

ARMS = ["red", "green", "blue"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


def test_a_restored_backup_does_not_take_the_rewards_of_decisions_it_never_made(tmp_path):
    with opened(tmp_path / "agent.db") as agent:
        agent.tell(agent.ask(), 1)
        with sqlite3.connect(tmp_path / "agent.db") as link, sqlite3.connect(tmp_path / "old.db") as copy:
            link.backup(copy)
        link.close()
        copy.close()
        lost = agent.ask(5)
    with opened(tmp_path / "old.db") as agent:
        new = agent.ask(5, only=["red"])
        assert not {choice.id for choice in lost} & {choice.id for choice in new}
        for choice in lost:
            with pytest.raises(lr.UnknownDecisionError, match="this agent did not make it"):
                agent.tell(choice, 1)
        assert len(agent.pending) == 5


def test_agents_from_one_json_and_forks_make_different_decisions():
    agent = lr.Agent(lr.UCB1(), ARMS)
    agent.ask()
    copies = [lr.Agent.from_json(agent.to_json()) for _ in range(2)]
    ids = [one.ask().id for one in (agent, *copies)]
    reader, writer = os.pipe()
    assert Child(lambda child: os.write(writer, agent.ask().id.encode()) and None).end() == 0
    os.close(writer)
    ids += [agent.ask().id, os.read(reader, 100).decode()]
    os.close(reader)
    assert len(set(ids)) == 5


def test_an_id_cannot_be_made_from_another_one():
    """128 random bits each; the number after them is no secret."""
    agent = lr.Agent(lr.UCB1(), ARMS)
    keys = [choice.id.rpartition("-")[0] for choice in agent.ask(200)]
    assert len(set(keys)) == 200
    assert {len(bytes.fromhex(key)) for key in keys} == {16}
    for number in range(1, 201):
        with pytest.raises(lr.UnknownDecisionError):
            agent.tell(f"{keys[0][:-1]}x-{number}", 1)
        if number > 1:
            with pytest.raises(lr.UnknownDecisionError):
                agent.tell(f"{keys[0]}-{number}", 1)
    assert len(agent.pending) == 200


def test_answered_decisions_are_known_by_their_whole_id(tmp_path, monkeypatch):
    monkeypatch.setattr("lowregret.online.agent_state.MAX_REMEMBERED", 2)
    with opened(tmp_path / "agent.db") as agent:
        first, *others = agent.ask(10)
        agent.tell_many((choice, 1) for choice in (first, *others))
        assert agent.tell(first, 1) is False
        forged = others[0].id.rpartition("-")[0] + "-1"
        with pytest.raises(lr.UnknownDecisionError, match="this agent did not make it"):
            agent.tell(forged, 1)
        with pytest.raises(lr.InputError, match="chose 'red' at time 1, not 'pink' at time 1"):
            agent.tell(first._replace(arm="pink"), 1)


@pytest.mark.parametrize("changed", [{"arm": "blue"}, {"arm": "green"}, {"time": 2}])
def test_a_decision_with_another_arm_or_time_is_refused(changed):
    agent = lr.Agent(lr.UCB1(), ARMS, seed=3)
    choice = agent.ask()
    assert choice.arm == "red"
    for call in (lambda one: agent.tell(one, 1), agent.forget):
        with pytest.raises(lr.InputError, match="chose 'red' at time 1, not .*: pass it as it was returned"):
            call(choice._replace(**changed))
    assert agent.tell(lr.Decision(choice.id, "red", 1), 1)


def test_a_request_is_short():
    agent = lr.Agent(lr.UCB1(), ARMS)
    agent.ask(request="x" * 1_000)
    with pytest.raises(lr.InputError, match="at most 1,000 characters, got 1,001"):
        agent.ask(request="x" * 1_001)


def test_every_event_has_a_timestamp(tmp_path):
    ticks = iter(range(1_000))
    with opened(tmp_path / "agent.db", clock=lambda: 1.7e9 + next(ticks)) as agent:
        late, lost = agent.ask(2)
        agent.tell(late, 1)
        agent.forget(lost)
        agent.add_arm("x")
        agent.retire_arm("x")
        with pytest.raises(lr.ConflictError):
            agent.tell(late, 0)
        stamps = [event.timestamp - 1.7e9 for event in agent.transactions.store.events(0)]
        assert stamps == [0, 0, 1, 2, 3, 4, 5]
    with opened(tmp_path / "agent.db") as agent:
        assert late.timestamp == 1.7e9
        assert agent.transactions.store.events(0)[0].timestamp == 1.7e9


def test_a_changed_digit_in_a_snapshot_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10)
    with opened(tmp_path / "agent.db") as agent:
        agent.tell_many((choice, 1) for choice in agent.ask(20))
    with sqlite3.connect(tmp_path / "agent.db") as link:
        changed = link.execute("UPDATE snapshots SET text = replace(text, '\"told\": 2', '\"told\": 3')")
        assert changed.rowcount == 1
    link.close()
    with pytest.raises(lr.StoreError, match="the snapshot at event 40 is damaged: its checksum does not"):
        opened(tmp_path / "agent.db")


def test_names_that_not_every_store_can_hold():
    agent = lr.Agent(lr.UCB1(), ["red", "green"])
    with pytest.raises(lr.InputError, match="a request must not contain the character NUL, got 'a.x00b'"):
        agent.ask(request="a\0b")
    with pytest.raises(lr.InputError, match="the name of an arm must not contain control characters"):
        agent.add_arm("a\0b")
