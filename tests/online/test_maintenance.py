"""Calls that maintain a log, beside others: each acts as if it had been alone, or says "try again"."""

import gc
import json
import sqlite3
from contextlib import closing, contextmanager, nullcontext, suppress
from copy import deepcopy
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.copying import copy_log
from lowregret.online.decisions import Event
from lowregret.online.snapshot import write
from lowregret.online.stores import all_events, sqlite
from lowregret.online.stores.in_memory import MemoryStore

ARMS = ["good", "bad"]


def play(where, **settings):
    """Return an agent with 12 honest decisions, 9 of an attack for the worse arm, and 6 honest ones."""
    agent = lr.open_agent(where, "UCB1", ARMS, **settings)
    for turn in range(27):
        name = "attack" if 12 <= turn < 21 else "honest"
        choice = agent.ask(only=["bad"] if name == "attack" else None, request=f"{name} {turn}")
        if turn % 5:  # 7 of the attack, 14 of the others
            agent.tell(choice, 1.0 if name == "attack" else 0.25)
    return agent


def state_of(agent):
    with agent.transactions.reading() as state:
        return json.loads(write(state, for_store=True))


class Interleaved:
    """A store as one process uses it, in which another process makes a call before the n-th use."""

    def __init__(self, store, call, moment):
        self._store, self._call, self._moment, self._inside = store, call, moment, False
        self.uses = 0

    def _use(self):
        if not self._inside:
            self.uses += 1
            if self.uses == self._moment:
                self._call()

    def __getattr__(self, name):
        value = getattr(self._store, name)
        if callable(value):
            self._use()
        return value

    @contextmanager
    def session(self, timeout):
        self._use()
        with self._store.session(timeout):
            self._inside = True
            try:
                yield
            finally:
                self._inside = False


def copied(agent):
    copy = MemoryStore()
    assert copy_log(agent.transactions, copy, "the copy") == lr.open_agent(copy).verify()


def asked_and_told(agent):
    agent.tell(agent.ask(request="while others work"), 0.5)


def forgotten(agent):
    return agent.forget_where(request_prefix="attack")


def forgotten_and_compacted(agent):
    taken = forgotten(agent)
    agent.compact()
    return taken


OTHERS = {
    "forget": forgotten,
    "compact": lambda agent: agent.compact(),
    "forget and compact": forgotten_and_compacted,
    "erase": lambda agent: agent.erase_request("honest 3"),
    "expire": lambda agent: agent.forget_expired(),
    "ask": asked_and_told,
}
CALLS = {
    "forget": forgotten,
    "compact": lambda agent: agent.compact(),
    "compact a part": lambda agent: agent.compact(timedelta(seconds=70)),
    "erase": lambda agent: agent.erase_request("honest 4"),
    "verify": lambda agent: agent.verify(),
    "copy": copied,
    "export": lambda agent: agent.rewards(),
    "events": lambda agent: agent.events(),
    "json": lambda agent: lr.Agent.from_json(agent.to_json()),
    "ask": asked_and_told,
    "time": lambda agent: agent.time,
}


@pytest.fixture(scope="module")
def template():
    store, reading = MemoryStore(), count(1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transactions, "SNAPSHOT_EVERY", 20)
        play(store, clock=lambda: next(reading), expires_after=timedelta(seconds=18)).verify()
    return store


CHANGING = "forget", "compact", "compact a part"
PAIRS = [(name, other) for name in CHANGING for other in OTHERS]
PAIRS += [
    (name, other) for name in CALLS if name not in CHANGING for other in ("forget and compact", "compact")
]


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_another_process_calls_at_any_moment(template, monkeypatch, name, other):
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 20)
    moment, uses = 1, 1
    while moment <= uses:
        uses = check_at(deepcopy(template), name, other, moment)
        moment += 1


def check_at(store, name, other, moment):
    """Make a call, and that of another process before the store is used for the n-th time."""
    told, taken, reading = 21, {}, count(100.0)
    agent, beside = (lr.open_agent(store, clock=lambda: next(reading)) for _ in range(2))
    proxy = Interleaved(store, lambda: taken.update(other=OTHERS[other](beside)), moment)
    agent.transactions.store = proxy
    # The only error is one after which the caller must decide what to do.
    with suppress(lr.StoreError) if (name, other) == ("forget", "compact") else nullcontext():
        taken[name] = CALLS[name](agent)
    agent.transactions.store = store
    fresh = lr.open_agent(store)
    after = state_of(fresh)
    assert state_of(agent) == state_of(beside) == after
    told += name == "ask" or (other == "ask" and "other" in taken)
    withdrawn = sum(taken.get(key) or 0 for key, call in (("other", other), (name, name)) if "forget" in call)
    assert withdrawn in (0, 9) and after["told"] == told - 7 * (withdrawn == 9)
    fresh.verify()
    check_forgotten(store)
    fresh.compact()
    assert state_of(lr.open_agent(store)) == after
    return proxy.uses


def check_forgotten(store):
    """Decisions are discarded once: not after their window has ended."""
    ended = 0
    for event in all_events(store):
        assert event.kind != "forgot" or event.decision > ended
        ended = event.decision if event.kind == "matured" else ended


def test_who_never_gets_a_turn_is_told_to_try_again(template):
    """Another process compacts the log during each of five attempts."""
    store = deepcopy(template)
    agent, beside = lr.open_agent(store), lr.open_agent(store)
    beside.ask()

    class Disturbed(Interleaved):
        def first_snapshot(self):
            snapshot = self._store.first_snapshot()
            beside.compact()
            beside.ask()
            return snapshot

    agent.transactions.store = Disturbed(store, None, 0)
    for name in ("compact", "copy"):
        with pytest.raises(lr.StoreError, match="all the time: try again"):
            CALLS[name](agent)
    agent.transactions.store = store
    assert agent.verify() == 1


def test_a_compaction_that_drops_an_attack_is_told_to_who_forgets_it(template):
    store = deepcopy(template)
    agent, beside = lr.open_agent(store), lr.open_agent(store)
    proxy = agent.transactions.store = Interleaved(store, beside.compact, 6)
    with pytest.raises(lr.StoreError, match="and 9 decisions of these can no longer be taken out: try again"):
        forgotten(agent)
    assert proxy.uses > 6 and forgotten(agent) == 0


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    return str(tmp_path / "a.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def test_an_attack_does_not_come_back(where):
    """A compaction that has read the log begins again if decisions were taken out of it meanwhile."""
    with play(where) as agent, lr.open_agent(where) as beside:
        store = agent.transactions.store
        proxy = agent.transactions.store = Interleaved(store, lambda: forgotten(beside), 6)
        assert agent.compact() == 27 + 21 + 9 + 2 and proxy.uses > 6
        agent.transactions.store = store
        for one in (agent, beside):
            assert state_of(one)["told"] == 14 and one.verify() == 0
        beside.ask()
        assert beside.compact() == 1 and state_of(agent) == state_of(beside)
    with lr.open_agent(where) as agent:
        assert state_of(agent)["told"] == 14


@pytest.mark.parametrize("end", ["compact", "erase"])
def test_a_request_has_one_decision_in_all_processes(where, end):
    """What one process has dropped or erased, no other one knows, and all agree on the next decision."""
    with play(where) as agent, lr.open_agent(where) as beside:
        first = agent.ask(request="user 7")
        assert beside.ask(request="user 7") == first == agent.ask(request="user 7")
        ended = beside.erase_request("user 7") if end == "erase" else beside.compact()
        assert ended == (1 if end == "erase" else 27 + 21 + 1)
        assert "user 7" not in agent.to_json()
        with pytest.raises(lr.UnknownDecisionError):
            agent.tell(request="user 7", reward=1)
        second = beside.ask(2, request="user 7")
        assert agent.ask(2, request="user 7") == second and first not in second
        with pytest.raises(lr.ConflictError, match="asked for 2 decisions before, not for 1"):
            agent.ask(request="user 7")
        with lr.open_agent(where) as fresh:
            assert fresh.ask(2, request="user 7") == second
        assert agent.tell(first, 1) is True
        assert lr.Agent.from_json(agent.to_json()).ask(2, request="user 7") == second


def test_an_erased_name_is_in_no_process(where):
    """Neither the file nor the memory of a process that made the decision has it, though it is idle."""
    name = "an erased na" + "me"
    with lr.open_agent(where, "UCB1", ARMS) as agent, lr.open_agent(where) as beside:
        agent.ask(request=name)
        beside.ask()
        assert beside.erase_request(name) == 1
        gc.collect()
        events = [held for held in gc.get_objects() if type(held) is Event]
        assert not [event for event in events if name in event]
        for path in Path(where).parent.glob("*") if "://" not in where else ():
            assert name.encode() not in path.read_bytes()


def test_an_erasure_waits_for_who_reads_the_file(tmp_path, monkeypatch):
    """SQLite cannot overwrite a name in the files while another process reads them."""
    path, name = tmp_path / "a.db", "an erased name"
    with lr.open_agent(path, "UCB1", ARMS) as agent, closing(sqlite3.connect(path)) as reader:
        agent.ask(request=name)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM log").fetchone()
        waits = []
        monkeypatch.setattr(sqlite, "sleep", lambda _: waits.append(reader.rollback()))
        agent.erase_request(name)
        assert waits and not any(name.encode() in path.read_bytes() for path in tmp_path.iterdir())
