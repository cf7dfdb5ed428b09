"""A journal is for one process; what is torn is dropped, and what is damaged is refused."""

import json
import os
import subprocess
import sys

import pytest
from agent_workers import interrupted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.stores import journal
from lowregret.online.stores.journal import TITLE, JournalStore

ARMS = ["red", "green", "blue"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


def test_a_journal_is_for_one_process_and_says_who_has_it(tmp_path):
    path = tmp_path / "agent.journal"
    with opened(path):
        with pytest.raises(
            lr.StoreError, match=rf"is in use by process {os.getpid()} on .* use another file"
        ):
            opened(path)
        program = f"import lowregret as lr; lr.open_agent({str(path)!r}, lr.UCB1(), {ARMS}, seed=3)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert f"is in use by process {os.getpid()}" in done.stderr
    opened(path).close()


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
                    f"moved an incomplete record of {length - whole} bytes at the end of the journal to "
                    "'cut.journal.removed'",
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
    with opened(path, clock=lambda: 1.0) as agent:  # so that all have the same length
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
        with pytest.raises(lr.StoreError, match="is damaged at byte|is not the journal|unknown format"):
            opened(path)
        assert path.read_bytes() == changed
    else:
        with opened(path) as agent:
            assert agent.notes
            assert (len(agent.pending), agent.time) == (1, 6)


def test_a_journal_of_a_later_format_asks_for_a_newer_version(tmp_path):
    path = tmp_path / "agent.journal"
    path.write_bytes(b"lowregret journal 3\nand so on")
    with pytest.raises(lr.StoreError, match="is a journal of an unknown format: use a newer lowregret"):
        opened(path)
    assert path.read_bytes() == b"lowregret journal 3\nand so on"


def test_two_who_write_one_journal_notice_it(tmp_path):
    """Somebody has removed the lock; what the other was answered is not written over."""
    path = tmp_path / "agent.journal"
    with opened(path) as one:
        one.ask()
        path.with_name("agent.journal.lock").unlink()
        with opened(path) as other:
            choice = other.ask()
            with pytest.raises(lr.StoreError, match="was changed by another process: a journal is for one"):
                one.ask()
    with opened(path) as agent:
        assert agent.pending[1] == choice
        assert agent.notes == ()


def test_a_program_that_closes_nothing_ends_in_silence(tmp_path):
    path = tmp_path / "agent.journal"
    program = f"""if True:
        import lowregret as lr, os
        sync = os.fsync
        os.fsync = lambda file: sync(file)  # so that Python takes this program apart last
        agent = lr.open_agent({str(path)!r}, lr.UCB1(), {ARMS}, seed=3)
        agent.ask()
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with opened(path) as agent:
        assert agent.time == 1


def test_a_link_to_a_journal_leads_to_the_same_lock(tmp_path):
    (tmp_path / "link.journal").symlink_to(tmp_path / "agent.journal")
    with opened(tmp_path / "agent.journal"), pytest.raises(lr.StoreError, match="is in use by process"):
        opened(tmp_path / "link.journal")


def test_any_page_of_the_last_write_may_be_lost(tmp_path, monkeypatch):
    """A power cut may leave them out in any order; the journal drops that session and no other."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10)
    path, arms = tmp_path / "agent.journal", [f"arm {number}" for number in range(300)]
    with opened(path, arms=arms) as agent:
        agent.ask(70)
        size, state = path.stat().st_size, agent.to_json()
        agent.ask(10)
    whole = path.read_bytes()
    assert len(whole) - size > 20_000  # it has a snapshot and events
    for page in range(size // 4096, len(whole) // 4096 + 1):
        start, stop = max(size, 4096 * page), min(len(whole), 4096 * (page + 1))
        path.write_bytes(whole[:start] + bytes(stop - start) + whole[stop:])
        with opened(path, arms=arms) as agent:
            assert agent.to_json() == state
            assert agent.notes == (
                f"moved an incomplete record of {len(whole) - size} bytes at the end of the journal to "
                "'agent.journal.removed'",
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
        store, calls = agent._transactions.store, []
        real = journal.records
        monkeypatch.setattr(journal, "records", lambda *given: calls.append(given) or real(*given))
        assert [event.time for event in store.requested("page")] == [choice.time for choice in choices]
        assert len(calls) == 1


def test_a_damaged_last_record_is_kept_beside_the_journal(tmp_path):
    """It may have been acknowledged: only its bytes can say."""
    path, beside = tmp_path / "agent.journal", tmp_path / "agent.journal.removed"
    lost = b""
    for step in range(2):
        with opened(path) as agent:
            agent.ask(step + 1)
            size = path.stat().st_size
            agent.ask()
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + b"?")
        with opened(path) as agent:
            assert len(agent.notes) == 1
            assert "moved an incomplete record" in agent.notes[0]
        lost += whole[size:-1] + b"?"
        assert beside.read_bytes() == lost
    assert beside.stat().st_mode & 0o777 == 0o600


def test_a_long_journal_is_shortened(tmp_path, monkeypatch):
    """So that opening it takes no longer than reading the latest events; the older ones lie beside it."""
    monkeypatch.setattr(journal, "RETAINED", 60)
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 20)
    path = tmp_path / "agent.journal"
    twin = lr.Agent(lr.UCB1(), ARMS, seed=3)
    with opened(path) as agent:
        first = agent.ask(request="first")
        twin.ask()
        sizes = []
        for step in range(300):
            choice, same = agent.ask(), twin.ask()
            assert choice.arm == same.arm
            for one, each in ((agent, choice), (twin, same)):
                one.tell(each, step % 3 / 2)
            store = agent._transactions.store
            sizes.append(store._count - store._base)
        assert max(sizes) <= 140 and min(sizes[100:]) >= 60
        text = agent.to_json()
    with opened(path) as agent:
        again, old = json.loads(agent.to_json()), json.loads(text)
        assert {**again, "answers": 0, "requests": 0} == {**old, "answers": 0, "requests": 0}
        assert agent.tell(choice, 1.0) is False
        assert agent.tell(first, 1)  # still pending
        assert agent._transactions.store.first()[0] > 400
    archives = sorted(tmp_path.glob("agent.journal.until-*"))
    assert len(archives) > 3
    archives[0].rename(tmp_path / "old.journal")
    with opened(tmp_path / "old.journal") as agent:
        assert agent._transactions.store.events(0)[0].request == "first"


def test_an_interrupt_while_a_journal_is_rewritten(tmp_path, monkeypatch):
    """Before the new file has its name the old one is there; after that the new one is used."""
    for moment in range(0, 2_000, 3):
        path = tmp_path / f"{moment}.journal"
        with opened(path) as agent:
            agent.ask(3, request="page")
            agent.tell_many((choice, 1) for choice in agent.pending)
            state, store = agent.to_json(), agent._transactions.store

            def erase(store=store):
                with store.session(1.0):
                    store.erase("page")

            try:
                interrupted(erase, moment, journal)
                break
            except KeyboardInterrupt:
                assert len(store.requested("page")) in (0, 3)
            assert agent.to_json() == state
            agent.ask()
        with opened(path) as agent:
            assert (agent.time, agent.notes) == (4, ())
    assert moment > 300
