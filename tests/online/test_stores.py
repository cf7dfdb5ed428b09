"""Every store passes the suite; what a disk can do to one is told in one sentence, and changes nothing."""

import resource
import signal
from contextlib import contextmanager

import pytest

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.stores.in_memory import MemoryStore
from lowregret.online.stores.sqlite import SQLiteStore

ARMS = ["red", "green", "blue"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


class TestMemory(lr.testing.StoreTests):
    def setup_method(self):
        self.stores = {}

    def make_store(self, name):
        return self.stores.setdefault(name, MemoryStore())


class TestSQLite(lr.testing.StoreTests):
    @pytest.fixture(autouse=True)
    def place(self, tmp_path):
        self.path = tmp_path / "all.db"

    def make_store(self, name):
        return SQLiteStore(self.path, name)


class Forgetful(MemoryStore):
    def append(self, events):
        super().append(list(events)[:1])


class Brief(MemoryStore):
    def events_of_request(self, request):
        return super().events_of_request(request)[:1]


class Careless(MemoryStore):
    def __exit__(self, *_):
        super().__exit__(None, None, None)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Forgetful, "Events and the header come back as they were, in order: after 0 it has"),
        (Brief, "Answers and requests are found: 'visit' gives"),
        (Careless, "Sessions that raise leave nothing behind: it has"),
    ],
)
def test_a_store_that_breaks_a_rule_is_named(kind, message):
    stores = {}
    with pytest.raises(AssertionError, match=message):
        lr.testing.check_store(lambda name: stores.setdefault(name, kind()))


def test_a_store_remembers_every_answer_and_every_request(tmp_path):
    """More than an agent has in memory, and over several snapshots."""
    with opened(tmp_path / "agent.db") as agent:
        first = agent.ask(request="the first")
        agent.tell(first, 0.25)
        for _ in range(6):
            agent.tell_many((choice, 1) for choice in agent.ask(500))
        for one in (agent, None):
            one = one or opened(tmp_path / "agent.db")
            assert one.ask(request="the first") == first
            assert one.tell(first, 0.25) is False
            with pytest.raises(lr.ConflictError, match="has the reward 0.25: the reward 1.0 is rejected"):
                one.tell(first, 1)
            one.close()
    with opened(tmp_path / "agent.db") as agent:
        assert agent.time == 3_001
        assert agent.conflicts == 2
        assert agent.pending == ()


def test_a_memory_agent_says_what_it_has_forgotten():
    agent = lr.Agent(lr.UCB1(), ARMS)
    first = agent.ask()
    agent.tell(first, 1)
    agent.tell_many((choice, 1) for choice in agent.ask(1_000))
    with pytest.raises(
        lr.UnknownDecisionError, match="or it was answered long ago and is no longer remembered"
    ):
        agent.tell(first, 1)


def test_a_file_that_is_taken_away_is_noticed(tmp_path):
    """Else decisions would be answered that are on no disk."""
    path = tmp_path / "agent.db"
    with opened(path) as agent:
        agent.ask()
        path.rename(tmp_path / "old")
        with pytest.raises(lr.StoreError, match="was moved or deleted while it was open"):
            agent.ask()
        path.write_bytes((tmp_path / "old").read_bytes())
        with pytest.raises(lr.StoreError, match="was moved or deleted while it was open"):
            agent.ask()
        path.unlink()
        (tmp_path / "old").rename(path)
        assert agent.ask().time == 2


@contextmanager
def full(path, allowed):
    """Let no file grow beyond its size now and a few bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (max(part.stat().st_size for part in path.parent.iterdir()) + allowed, hard)
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("allowed", [0, 7, 20])
def test_a_full_disk_changes_nothing(tmp_path, allowed):
    path = tmp_path / "agent.db"
    with opened(path) as agent:
        agent.tell_many((choice, 0.5) for choice in agent.ask(100))
        waiting = agent.ask()
        state = agent.to_json()
        with full(path, allowed):
            for attempt in (agent.ask, lambda: agent.tell(waiting, 1), lambda: agent.add_arm("x")):
                with pytest.raises(lr.StoreError, match="cannot"):
                    attempt()
                assert agent.to_json() == state
        assert agent.tell(waiting, 1)
        state = agent.to_json()
    with opened(path) as agent:
        assert agent.to_json() == state
        assert agent.time == 101
        assert agent.notes == ()


def test_a_full_disk_changes_nothing_when_a_snapshot_is_due(tmp_path, monkeypatch):
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 100)
    path = tmp_path / "agent.db"
    with opened(path) as agent:
        agent.ask(99)
        state = agent.to_json()
        with full(path, 0):
            with pytest.raises(lr.StoreError, match="cannot"):
                agent.ask()
            assert agent.to_json() == state
        agent.ask()
    with opened(path) as agent:
        assert agent.time == 100
        assert agent.transactions.store.latest_snapshot()[0] == 100
