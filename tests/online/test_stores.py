"""Every store passes the suite; what a disk can do to one is told in one sentence, and changes nothing."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.online import ledger
from lowregret.online.stores.journal import TITLE, JournalStore
from lowregret.online.stores.memory import MemoryStore
from lowregret.online.stores.sqlite import SQLiteStore

ARMS = ["red", "green", "blue"]
NAMES = ["agent.db", "agent.journal"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


def test_the_stores_conform(tmp_path):
    stores = {}
    lr.testing.check_store(lambda name: stores.setdefault(name, MemoryStore()))
    lr.testing.check_store(lambda name: SQLiteStore(tmp_path / f"{name}.db"))
    lr.testing.check_store(lambda name: JournalStore(tmp_path / f"{name}.journal"))


class Forgetful(MemoryStore):
    def append(self, events):
        super().append(list(events)[:1])


class Brief(MemoryStore):
    def requested(self, request):
        return super().requested(request)[:1]


class Careless(MemoryStore):
    @contextmanager
    def session(self):
        yield


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Forgetful, "Events and the head come back as they were, in order: after 0 it has"),
        (Brief, "Answers and requests are found: 'visit' gives"),
        (Careless, "Sessions that raise leave nothing behind: it has"),
    ],
)
def test_a_store_that_breaks_a_rule_is_named(kind, message):
    stores = {}
    with pytest.raises(AssertionError, match=message):
        lr.testing.check_store(lambda name: stores.setdefault(name, kind()))


@pytest.mark.parametrize("name", NAMES)
def test_a_store_remembers_every_answer_and_every_request(tmp_path, name):
    """More than an agent has in memory, and over several snapshots."""
    with opened(tmp_path / name) as agent:
        first = agent.ask(request="the first")
        agent.tell(first, 0.25)
        for _ in range(6):
            agent.tell_many((choice, 1) for choice in agent.ask(500))
        for one in (agent, None):
            one = one or opened(tmp_path / name)
            assert one.ask(request="the first") == first
            assert one.tell(first, 0.25) is False
            with pytest.raises(lr.InputError, match="told the reward 0.25 before: the reward 1.0 is refused"):
                one.tell(first, 1)
            one.close()
    with opened(tmp_path / name) as agent:
        assert agent.time == 3_001
        assert agent.conflicts == 2
        assert agent.pending == ()


def test_a_memory_agent_says_what_it_has_forgotten():
    agent = lr.Agent(lr.UCB1(), ARMS)
    first = agent.ask()
    agent.tell(first, 1)
    agent.tell_many((choice, 1) for choice in agent.ask(1_000))
    with pytest.raises(lr.InputError, match="was answered long ago: only a store remembers"):
        agent.tell(first, 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 4}, "was made with seed 3, got 4: open it with what it was made with, or use another"),
        ({"horizon": 9}, "was made with horizon None, got 9"),
        ({"reward_range": (0, 2)}, r"was made with reward_range \[0.0, 1.0\], got \[0.0, 2.0\]"),
        ({"outside": "clip"}, "was made with outside refuse, got clip"),
        ({"policy": lr.UCB1(alpha=1)}, r"was made with policy UCB1\(alpha=2.0\), got UCB1\(alpha=1.0\)"),
        ({"policy": lr.MOSS()}, r"was made with policy UCB1\(alpha=2.0\), got MOSS\(\)"),
        ({"arms": ["red"]}, "has the arms .*, got .'red'."),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_another_agent_than_it_was_made_with_is_refused(tmp_path, name, changed, message):
    opened(tmp_path / name).close()
    with pytest.raises(lr.InputError, match=message):
        opened(tmp_path / name, **changed)
    opened(tmp_path / name).close()


@pytest.mark.parametrize("name", NAMES)
def test_arms_may_be_those_of_today(tmp_path, name):
    with opened(tmp_path / name) as agent:
        agent.add_arm("yellow")
        agent.retire_arm("red")
    for arms in (ARMS, ["green", "blue", "yellow"]):
        with opened(tmp_path / name, arms=arms) as agent:
            assert set(agent.arms) == {"green", "blue", "yellow"}
    with pytest.raises(lr.InputError, match="has the arms"):
        opened(tmp_path / name, arms=[*ARMS, "yellow"])


def test_agents_on_one_file_see_one_another(tmp_path):
    one, other = opened(tmp_path / "agent.db"), opened(tmp_path / "agent.db")
    choice = one.ask()
    assert other.pending == (choice,)
    assert other.ask().arm != choice.arm
    assert other.tell(choice, 1)
    assert not one.tell(choice, 1)
    one.add_arm("yellow")
    one.retire_arm("red")
    assert set(other.arms) == {"green", "blue", "yellow"}
    assert one.to_json() == other.to_json()


def test_a_journal_is_for_one_process_and_says_who_has_it(tmp_path):
    path = tmp_path / "agent.journal"
    with opened(path):
        with pytest.raises(
            lr.InputError, match=rf"is in use by process {os.getpid()} on .* use another file"
        ):
            opened(path)
        program = f"import lowregret as lr; lr.open_agent({str(path)!r}, lr.UCB1(), {ARMS}, seed=3)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert f"is in use by process {os.getpid()}" in done.stderr
    opened(path).close()


@pytest.mark.parametrize("name", NAMES)
def test_a_store_is_not_carried_over_a_fork(tmp_path, name):
    agent = opened(tmp_path / name)
    process = os.fork()
    if process == 0:
        try:
            agent.ask()
        except lr.InputError as error:
            os._exit(17 if "was opened before a fork" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 17
    agent.tell(agent.ask(), 1)


def test_a_forked_process_lets_a_journal_and_its_own_files_alone(tmp_path):
    """It has the numbers of our open files; when it ends, nothing of anybody's is cut off."""
    path, other = tmp_path / "agent.journal", tmp_path / "other.txt"
    program = f"""if True:
        import os, sys
        import lowregret as lr
        agent = lr.open_agent({str(path)!r}, lr.UCB1(), {ARMS}, seed=3)
        agent.ask()
        if os.fork() == 0:
            files = [open({str(other)!r}, "a") for _ in range(20)]
            files[0].write("all of it")
            sys.exit(0)
        os.wait()
        assert agent.tell(agent.ask(), 1)
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert other.read_text() == "all of it"
    with opened(path) as agent:
        assert (agent.time, agent.notes) == (2, ())


def test_a_journal_cut_off_anywhere_opens(tmp_path):
    """It drops the torn record and no other, says so, and goes on."""
    path, cut = tmp_path / "whole.journal", tmp_path / "cut.journal"
    sizes = {0: (0, 0), len(TITLE): (0, 0)}
    with opened(path) as agent:
        sizes[path.stat().st_size] = (0, 0)
        for step in range(4):
            choice = agent.ask(request=f"visit {step}")
            sizes[path.stat().st_size] = (len(agent.pending), agent.time)
            agent.tell(choice, step / 4)
            sizes[path.stat().st_size] = (len(agent.pending), agent.time)
    data = path.read_bytes()
    for length in range(len(data) + 1):
        cut.write_bytes(data[:length])
        whole = max(size for size in sizes if size <= length)
        with opened(cut) as agent:
            assert (len(agent.pending), agent.time) == sizes[whole]
            assert bool(agent.notes) == (whole < length)
            if agent.notes:
                assert agent.notes == (
                    f"dropped a torn record of {length - whole} bytes at the end of the journal",
                )
            agent.tell(agent.ask(), 1)
            time = agent.time
        with opened(cut) as agent:
            assert agent.time == time
            assert agent.notes == ()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_byte_in_a_journal_is_never_believed(tmp_path, data):
    """In the last record it is a torn end; before that the file is refused, never read past."""
    path = tmp_path / "agent.journal"
    path.unlink(missing_ok=True)
    with opened(path) as agent:
        for step in range(6):
            choice = agent.ask()
            before_last = path.stat().st_size
            agent.tell(choice, step / 8)
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    if place < before_last:
        with pytest.raises(lr.InputError, match="is damaged at byte|is not the journal of an agent"):
            opened(path)
        assert path.read_bytes() == changed
    else:
        with opened(path) as agent:
            assert agent.notes
            assert (len(agent.pending), agent.time) == (1, 6)


@pytest.mark.parametrize("name", NAMES)
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"Dear diary, today I ...\n" * 40)
    with pytest.raises(lr.InputError, match="is not an SQLite file|is not the journal of an agent"):
        opened(path)
    assert path.read_bytes() == b"Dear diary, today I ...\n" * 40


def test_a_foreign_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "agent.db"
    with sqlite3.connect(path) as link:
        link.execute("CREATE TABLE guests (name TEXT)")
    link.close()
    before = path.read_bytes()
    with pytest.raises(lr.InputError, match="is an SQLite file, but not of an agent: use another"):
        opened(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_that_is_not_there(tmp_path, name):
    with pytest.raises(lr.InputError, match="cannot"):
        opened(tmp_path / "nowhere" / name)


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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("allowed", [0, 7, 20])
def test_a_full_disk_changes_nothing(tmp_path, name, allowed):
    path = tmp_path / name
    with opened(path) as agent:
        agent.tell_many((choice, 0.5) for choice in agent.ask(300))
        waiting = agent.ask()
        state = agent.to_json()
        with full(path, allowed):
            for attempt in (agent.ask, lambda: agent.tell(waiting, 1), lambda: agent.add_arm("x")):
                with pytest.raises(lr.InputError, match="cannot"):
                    attempt()
                assert agent.to_json() == state
        assert agent.tell(waiting, 1)
        state = agent.to_json()
    with opened(path) as agent:
        assert agent.to_json() == state
        assert agent.time == 301
        assert agent.notes == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_changes_nothing_when_a_snapshot_is_due(tmp_path, name, monkeypatch):
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 100)
    path = tmp_path / name
    with opened(path) as agent:
        agent.ask(99)
        state = agent.to_json()
        with full(path, 0):
            with pytest.raises(lr.InputError, match="cannot"):
                agent.ask()
            assert agent.to_json() == state
        agent.ask()
    with opened(path) as agent:
        assert agent.time == 100
        assert agent._ledger.store.latest()[0] == 100


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_file_and_nothing_else(tmp_path, monkeypatch, name):
    """Not SQLite's memory, and not another file after the process has changed its folder."""
    monkeypatch.chdir(tmp_path)
    for place in (name, ":memory:"):
        with opened(place) as agent:
            first = agent.ask(request="first")
            agent.tell_many((choice, 1) for choice in agent.ask(1_100))
            agent.tell(first, 1)
            monkeypatch.chdir("/")
            assert agent.tell(first, 1) is False
            monkeypatch.chdir(tmp_path)
        with opened(place) as agent:
            assert agent.time == 1_101


def test_a_link_to_a_journal_leads_to_the_same_lock(tmp_path):
    (tmp_path / "link.journal").symlink_to(tmp_path / "agent.journal")
    with opened(tmp_path / "agent.journal"), pytest.raises(lr.InputError, match="is in use by process"):
        opened(tmp_path / "link.journal")


def test_an_interrupt_while_waiting_for_others_leaves_the_file_to_them(tmp_path):
    """SQLite waits on, and Python raises when it has the lock."""
    agent = opened(tmp_path / "agent.db")
    store = agent._ledger.store

    class Interrupted:
        """A link whose BEGIN works, and is interrupted right after."""

        def __init__(self, link):
            self.link = link

        def __getattr__(self, name):
            return getattr(self.link, name)

        def execute(self, statement, *more):
            result = self.link.execute(statement, *more)
            if statement.startswith("BEGIN"):
                raise KeyboardInterrupt
            return result

    link = store._link
    store._link = Interrupted(link)
    with pytest.raises(KeyboardInterrupt):
        agent.ask()
    store._link = link
    assert not link.in_transaction
    opened(tmp_path / "agent.db").ask()
    assert agent.ask().time == 2


def test_a_folder_that_cannot_be_synced_is_told_in_one_sentence(tmp_path, monkeypatch):
    def failing(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("lowregret.online.stores.sqlite.sync", failing)
    with pytest.raises(lr.InputError, match="cannot write to .*agent.db': Permission denied"):
        opened(tmp_path / "agent.db")


def test_any_page_of_the_last_write_may_be_lost(tmp_path, monkeypatch):
    """A power cut may leave them out in any order; the journal drops that session and no other."""
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 10)
    path, arms = tmp_path / "agent.journal", [f"arm {number}" for number in range(100)]
    with opened(path, arms=arms) as agent:
        agent.ask(8)
        size, state = path.stat().st_size, agent.to_json()
        agent.ask(2)
    whole = path.read_bytes()
    assert len(whole) - size > 20_000  # it has a snapshot and events
    for page in range(size // 4096, len(whole) // 4096 + 1):
        start, stop = max(size, 4096 * page), min(len(whole), 4096 * (page + 1))
        path.write_bytes(whole[:start] + bytes(stop - start) + whole[stop:])
        with opened(path, arms=arms) as agent:
            assert agent.to_json() == state
            assert agent.notes == (
                f"dropped a torn record of {len(whole) - size} bytes at the end of the journal",
            )


@pytest.mark.parametrize("where", ["_enter", "_write"])
def test_an_interrupted_write_to_a_journal(tmp_path, monkeypatch, where):
    """Before it is whole there is nothing of it; after that all of it is."""
    agent = opened(tmp_path / "agent.journal")
    agent.ask()
    real = getattr(JournalStore, where)

    def interrupted(self, *arguments):
        real(self, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(JournalStore, where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            agent.ask(2, request="page")
    assert agent.time == {"_enter": 1, "_write": 3}[where]
    assert [choice.time for choice in agent.ask(2, request="page")] == [2, 3]
    state = agent.to_json()
    agent.close()
    assert opened(tmp_path / "agent.journal").to_json() == state


def test_a_request_of_many_decisions_reads_its_record_once(tmp_path, monkeypatch):
    with opened(tmp_path / "agent.journal") as agent:
        choices = agent.ask(50, request="page")
        store, calls = agent._ledger.store, []
        real = JournalStore._records
        monkeypatch.setattr(JournalStore, "_records", lambda *given: calls.append(given) or real(*given))
        assert [event.time for event in store.requested("page")] == [choice.time for choice in choices]
        assert len(calls) == 1
