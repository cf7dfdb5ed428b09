"""Calls in one session of the store do what they would do one after the other."""

from datetime import timedelta
from itertools import count
from random import Random

import pytest

import lowregret as lr
from lowregret.online import agent_state, calls
from lowregret.online import transactions as module
from lowregret.online.snapshot import write
from lowregret.online.stores.in_memory import MemoryStore

ARMS = ["red", "green", "blue"]
WINDOWS = [{}, {"matures_after": 4, "default_reward": 0.0}, {"expires_after": timedelta(seconds=3)}]
POLICIES = [lr.UCB1(), lr.EUCBV(), lr.EpsilonGreedy(0.3), lr.ThompsonBeta(), lr.MedianElimination()]


@pytest.fixture
def numbered(monkeypatch):
    """Let every agent draw the same keys, so that ids can be compared."""

    def start():
        keys = count(1)
        monkeypatch.setattr(agent_state, "new_key", lambda: f"{next(keys):032x}")

    return start


def program(random, length):
    """Return calls, some of which contradict others or are wrong."""
    asked, arms, made = 0, list(ARMS), []
    for turn in range(length):
        kind = random.choice(["ask", "ask", "ask", "tell", "tell", "tell", "forget", "arm", "settle"])
        key = random.randint(1, max(asked, 1))
        if kind == "ask":
            n, request = random.choice([1, 1, 2]), random.choice([None, f"r{turn % 5}", f"r{turn}"])
            only = random.choice([None, None, None, arms[:2], ["grey"]])
            made.append((calls.ask, (n, only, request)))
            asked += n
        elif kind == "tell":
            rewards = [(f"{key:032x}-{key}", random.choice([0.0, 1.0, 7.0]))]
            made.append((calls.tell, (rewards * random.choice([1, 2]),)))
        elif kind == "forget":
            made.append((calls.forget, ([f"{key:032x}-{key}"],)))
        elif kind == "settle":
            made.append((calls.end_windows, ()))
        else:
            arms.append(f"new {turn}")
            made.append(random.choice([(calls.add, (arms[-1],)), (calls.retire, (random.choice(arms),))]))
    return made


def played(store, made, sizes, window, policy):
    """Run calls in groups of given sizes; return what they answered and the agent."""
    clock = count(0.0, 0.5)
    agent = lr.open_agent(store, policy, ARMS, seed=3, **window, clock=lambda: next(clock))
    outcomes, rest = [], list(made)
    while rest:
        done = agent.transactions.execute_group(rest[: next(sizes)])
        assert done
        outcomes += [repr(outcome) for outcome in done]
        rest = rest[len(done) :]
    return outcomes, agent


@pytest.mark.parametrize("seed", range(24))
def test_a_group_equals_calls_one_by_one(seed, numbered, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "SNAPSHOT_EVERY", 20)
    random = Random(seed)
    made, window = program(random, 120), WINDOWS[seed % 3]
    policy = POLICIES[seed % len(POLICIES)]
    numbered()
    expected, single = played(MemoryStore(), made, count(1, 0), window, policy)
    numbered()
    sizes = iter(lambda: random.choice([1, 2, 5, 30]), None)
    outcomes, grouped = played(str(tmp_path / "a.db"), made, sizes, window, policy)
    assert outcomes == expected
    assert any("Error" in outcome for outcome in outcomes)
    assert grouped.events().equals(single.events())
    grouped.transactions.state.token = single.transactions.state.token
    assert write(grouped.transactions.state) == write(single.transactions.state)
    grouped.close()
    with lr.open_agent(str(tmp_path / "a.db")) as again:
        assert again.verify() > 0


def test_a_store_that_fails_takes_nothing(tmp_path, monkeypatch):
    agent = lr.open_agent(tmp_path / "a.db", lr.UCB1(), ARMS, seed=3)
    first = agent.ask(request="before")
    store, before = agent.transactions.store, agent.to_json()

    group = [(calls.ask, (1, None, "x")), (calls.tell, ([(first, 1.0)],)), (calls.ask, (2, None, None))]
    with monkeypatch.context() as patch:
        patch.setattr(store, "append", lambda events: store._staged.append(("no SQL", ())))
        with pytest.raises(lr.StoreError):
            agent.transactions.execute_group(group)
    with lr.open_agent(tmp_path / "a.db") as other:
        assert other.time == 1
    assert agent.time == 1 and [choice.id for choice in agent.pending] == [first.id]
    assert _same(agent.to_json(), before)
    answered, told, two = agent.transactions.execute_group(group)
    assert (len(answered), told, len(two)) == (1, 1, 2)
    assert agent.verify() == 5


def test_an_interrupt_after_the_commit_loses_nothing(tmp_path, monkeypatch):
    agent = lr.open_agent(tmp_path / "a.db", lr.UCB1(), ARMS, seed=3)
    store = agent.transactions.store
    commit = store._commit

    def interrupted():
        commit()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, "_commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            agent.transactions.execute_group([(calls.ask, (1, None, name)) for name in "abc"])
    assert agent.time == 3 and agent.ask(request="b").time == 2
    assert agent.verify() == 3


def test_a_group_ends_before_the_records_forget(tmp_path):
    agent = lr.open_agent(tmp_path / "a.db", lr.UCB1(), ARMS)
    group = [(calls.ask, (1, None, f"r{number}")) for number in range(module.MAX_GROUP_EVENTS + 10)]
    assert len(agent.transactions.execute_group(group)) == module.MAX_GROUP_EVENTS


def test_an_agent_in_memory_runs_one_at_a_time():
    agent = lr.Agent("UCB1", ARMS)
    assert len(agent.transactions.execute_group([(calls.ask, (1, None, None))] * 3)) == 1
    assert agent.time == 1


def test_large_requests_do_not_fill_the_memory():
    agent = lr.Agent(lr.UCB1(), ARMS)
    for number in range(6):
        agent.ask(3_000, request=str(number))
    state = agent.transactions.state
    assert state.requested == sum(map(len, state.requests.values())) == 9_000
    assert len(agent.ask(20_000, request="large")) == 20_000 and list(state.requests) == ["large"]
    agent.erase_request("large")
    assert state.requested == 0


def test_two_processes_share_an_agent_in_groups(tmp_path):
    agents = [lr.open_agent(tmp_path / "a.db", lr.EUCBV(), ARMS, seed=1) for _ in range(2)]
    ids = []
    for turn in range(40):
        group = [(calls.ask, (1, None, f"{turn}, {place}")) for place in range(8)]
        group += [(calls.tell, ([(key, 1.0)],)) for key in ids[-12:-4]]
        for outcome in agents[turn % 2].transactions.execute_group(group)[:8]:
            ids.append(outcome[0].id)
    assert len(set(ids)) == 320
    assert agents[0].verify() == agents[1].verify() > 320
    assert len({choice.time for choice in agents[0].pending}) <= 320


def _same(one, other):
    """Compare agents as JSON; a loaded agent has no answers or requests in memory."""
    import json

    parts = [json.loads(text) for text in (one, other)]
    for part in parts:
        part.pop("answers"), part.pop("requests")
    return parts[0] == parts[1]
