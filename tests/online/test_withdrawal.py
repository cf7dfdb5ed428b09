"""Decisions that are taken out again: the state is that of an agent in which they were discarded at once."""

import json
import os
from datetime import UTC, datetime
from random import Random

import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.online.decisions import Event
from lowregret.online.event_replay import reapply
from lowregret.online.snapshot import write
from lowregret.online.stores import all_events
from lowregret.online.stores.in_memory import MemoryStore

ARMS = ["good", "bad"]


class Clock:
    """A clock that advances by a second with each call."""

    now = 1_000.0

    def __call__(self):
        self.now += 1.0
        return self.now


def moment(seconds):
    return datetime.fromtimestamp(seconds, UTC)


def state_of(agent):
    """Return what a snapshot has, without what differs between two agents."""
    with agent.transactions.reading() as state:
        parts = json.loads(write(state, for_store=True))
    for key in ("agent", "pending"):
        parts.pop(key, None)
    return parts


def play(agent, number, generator):
    """Make honest decisions."""
    for turn in range(number):
        choice = agent.ask(request=f"honest {turn}")
        if generator.random() < 0.9:
            agent.tell(choice, float(generator.random() < (0.5 if choice.arm == "good" else 0.3)))


def attack(agent, number):
    """Make decisions for the worse arm, and report the best reward for most of them."""
    for turn in range(number):
        choice = agent.ask(only=["bad"], request=f"attack {turn}")
        if turn % 3:
            agent.tell(choice, 1.0)


def without(agent, prefix, policy, **settings):
    """Return an agent in memory that saw the same events, but discarded the decisions of a prefix at once."""
    twin = lr.Agent(policy, ARMS, **settings)
    state, skipped = twin.transactions.state, set()
    for event in all_events(agent.transactions.store):
        if event.kind == "withdrew" or (event.kind in ("told", "forgot") and event.decision in skipped):
            continue
        parts = [event]
        if event.kind == "asked" and (event.request or "").startswith(prefix):
            skipped.add(event.decision)
            parts.append(Event("forgot", event.decision))
        for part in parts:
            reapply(state, part)
            state.commit((part,))
    return twin


SETTINGS = {
    "plain": ("UCB1", {}),
    "rounds": ("EUCBV", {"horizon": 500}),
    "epochs": ("EUCBV", {}),
    "maturing": ("UCB1", {"matures_after": 20, "default_reward": 0.0}),
    "expiring": ("UCB1", {"expires_after": 20}),
    "by period": ("UCB1", {"period": 15}),
}


def poisoned(where, kind, clock=None):
    policy, settings = SETTINGS[kind]
    agent = lr.open_agent(where, policy, ARMS, **settings, clock=clock or Clock())
    generator = Random(1)
    play(agent, 60, generator)
    attack(agent, 150)
    generator.seed(2)
    for turn in range(40):
        choice = agent.ask(request=f"later {turn}")
        agent.tell(choice, float(generator.random() < 0.5))
    return agent


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_state_is_that_without_them(tmp_path, kind):
    policy, settings = SETTINGS[kind]
    with poisoned(tmp_path / "a.db", kind) as agent:
        assert agent.forget_where(request_prefix="attack") == 150
        assert state_of(agent) == state_of(without(agent, "attack", policy, **settings))
        assert agent.forget_where(request_prefix="attack") == 0
        assert agent.verify() > 0
        assert not any(row["arm"] == "bad" and row["decision"] in range(61, 211) for row in rows(agent))
        agent.tell(agent.ask(), 1.0)
        expected = state_of(agent)
    with lr.open_agent(tmp_path / "a.db") as agent:
        assert state_of(agent) == expected
        assert agent.verify() > 0
        assert agent.events().filter(kind="withdrew")["decision"].to_list() == [*range(61, 211)]


def rows(agent):
    return agent.rewards().to_dicts()


def test_since_a_time(tmp_path):
    clock = Clock()
    with lr.open_agent(tmp_path / "a.db", "UCB1", ARMS, clock=clock) as agent:
        play(agent, 50, Random(1))
        before, began = state_of(agent), clock.now + 0.5
        attack(agent, 50)
        assert agent.forget_where(since=moment(began), request_prefix="nobody") == 0
        assert agent.forget_where(since=moment(began)) == 50
        after = state_of(agent)
        assert after["arms"] == before["arms"] and after["told"] == before["told"]


def test_its_id_and_request_stay_known(tmp_path):
    with lr.open_agent(tmp_path / "a.db", "UCB1", ARMS) as agent:
        told, pending = agent.ask(request="x 1"), agent.ask(request="x 2")
        agent.tell(told, 1)
        assert agent.forget_where(request_prefix="x") == 2 and agent.pending == () and agent.time == 0
        for choice, answer in ((told, "has the reward 1.0"), (pending, "was discarded")):
            with pytest.raises(lr.ConflictError, match=answer):
                agent.tell(choice, 0)
        assert agent.ask(request="x 1") == told and agent.forget(pending) is False
        assert agent.verify() == 8 and agent.time == 0
    with lr.open_agent(tmp_path / "a.db") as agent:
        assert agent.tell(told, 1) is False and agent.forget(pending) is False


@pytest.mark.parametrize("url", ["sqlite", "postgresql"])
def test_another_process_follows(tmp_path, request, url):
    """An agent that was open meanwhile goes on from the state without them."""
    where = str(tmp_path / "a.db") if url == "sqlite" else request.getfixturevalue("postgres_url")
    with poisoned(where, "rounds") as agent, lr.open_agent(where) as other:
        asked, time = other.ask(), other.time
        assert agent.forget_where(request_prefix="attack") == 150
        assert other.time == time - 150 == agent.time
        assert state_of(other) == state_of(agent)
        assert other.tell(asked, 1) and agent.forget_where(request_prefix="later 1") == 11
        choice = other.ask()  # a call that finds the event within its session
        assert agent.time == other.time and agent.pending[-1] == choice
        assert agent.verify() == other.verify()
        assert state_of(other) == state_of(agent)


def test_compaction_and_withdrawal(tmp_path):
    """A log that is compacted before the event, and after it, still gives the state."""
    clock = Clock()
    with poisoned(tmp_path / "a.db", "maturing", clock) as agent:
        third = agent.events()["timestamp"][120].timestamp()
        assert agent.forget_where(request_prefix="attack") == 150
        expected = state_of(agent)
        clock.now += 1.0
        assert agent.compact(moment(clock.now + 1.0) - moment(third)) > 0
        assert agent.verify() > 0 and state_of(agent) == expected
        with pytest.raises(lr.InputError, match="was compacted"):
            agent.forget_where(since=moment(0))
        assert agent.forget_where(request_prefix="later") == 40
        assert agent.verify() > 0
        agent.compact()
        assert agent.verify() == 0
    with lr.open_agent(tmp_path / "a.db") as agent:
        assert agent.verify() == 0


def test_what_is_refused(tmp_path):
    agent = lr.open_agent(MemoryStore(), "UCB1", ARMS)
    with pytest.raises(lr.InputError, match="pass since, request_prefix or both"):
        agent.forget_where()
    with pytest.raises(lr.InputError, match="with a time zone"):
        agent.forget_where(since=datetime(2026, 1, 1))
    with pytest.raises(lr.InputError, match="with a time zone"):
        agent.forget_where(since=3.0)
    with pytest.raises(lr.InputError, match="must not be empty"):
        agent.forget_where(request_prefix="")
    with pytest.raises(lr.InputError, match="no log"):
        lr.Agent("UCB1", ARMS).forget_where(request_prefix="x")


def test_on_the_command_line(tmp_path):
    path = str(tmp_path / "a.db")
    with lr.open_agent(path, "UCB1", ARMS, name="buttons", clock=lambda: 1_790_000_000.0) as agent:
        agent.tell_many((choice, 1) for choice in agent.ask(5))
    done = CliRunner().invoke(app, ["agent", "forget", path, "buttons", "--since", "2099-01-01"])
    assert done.stdout == "0 decisions taken out\n"
    done = CliRunner().invoke(app, ["agent", "forget", path, "buttons", "--since", "2026-01-01T12:00:00"])
    assert done.stdout == "5 decisions taken out\n"
    done = CliRunner().invoke(app, ["agent", "export", path, "buttons"])
    assert len(done.stdout.splitlines()) == 1
    assert CliRunner().invoke(app, ["agent", "forget", path, "buttons"]).exit_code == 2
    assert os.listdir(tmp_path) == ["a.db"]
