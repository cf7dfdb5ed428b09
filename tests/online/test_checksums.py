"""A bit that has flipped in a log is noticed, and the event is named."""

import re
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

import lowregret as lr
from lowregret.online.backup import backup, restore
from lowregret.online.decisions import Event
from lowregret.online.stores.event_checksum import checksum_of, is_intact
from lowregret.online.stores.sqlite import SQLiteStore

DATA = Path(__file__).parents[1] / "data"
ARMS = ["red", "green"]


def play(path):
    with lr.open_agent(path, "ThompsonBeta", ARMS, clock=lambda: 1.7e9 + 0.1) as agent:
        for step in range(8):
            agent.tell(agent.ask(request=f"order {step}"), step / 10)
        agent.add_arm("blue", value={"size": 3})
        agent.forget(agent.ask())
        with pytest.raises(lr.ConflictError):
            agent.tell(request="order 3", reward=0.9)


def flipped(value, generator):
    """Return a value of a row with another bit."""
    bit = 1 << generator.randrange(8)
    if isinstance(value, int):
        return value ^ bit
    code = bytearray(struct.pack("d", value) if isinstance(value, float) else value.encode())
    code[generator.randrange(len(code))] ^= bit
    return struct.unpack("d", code)[0] if isinstance(value, float) else bytes(code)


def test_each_column_of_each_row(tmp_path):
    path, generator = tmp_path / "a.db", Random(1)
    play(path)
    with closing(SQLiteStore(path)) as store, closing(sqlite3.connect(path, isolation_level=None)) as link:
        events = store.events(0)
        link.executescript("DROP INDEX asked; DROP INDEX answered")  # which would reject some changes
        for position, event in enumerate(events, 1):
            for column, value in event._asdict().items():
                if value is None:
                    continue
                other, place = flipped(value, generator), "?"
                if isinstance(value, str):
                    place = "CAST(? AS TEXT)"
                change = f"UPDATE log SET {column} = {place} WHERE position = ?"
                link.execute(change, (other, position))
                with pytest.raises(
                    lr.StoreError, match=f"^event {position} of .*a.db' is damaged: restore a"
                ):
                    store.events(0)
                link.execute(change, (value, position))
        assert store.events(0) == events


def test_each_bit_of_a_backup(tmp_path):
    """Whatever bit of a backup flips: it is noticed, or the log is what it was."""
    path, copy, generator = tmp_path / "a.db", tmp_path / "copy.db", Random(2)
    play(path)
    backup(path, copy)
    content, events, noticed = copy.read_bytes(), lr.open_agent(copy).events(), 0
    with closing(sqlite3.connect(path)) as link:
        (root,) = link.execute("SELECT rootpage FROM sqlite_master WHERE name = 'log'").fetchone()
        (size,) = link.execute("PRAGMA page_size").fetchone()
    for _ in range(60):
        place = generator.randrange(size * (root - 1), size * root)
        flip = content[place] ^ 1 << generator.randrange(8)
        copy.write_bytes(content[:place] + bytes([flip]) + content[place + 1 :])
        (tmp_path / "again.db").unlink(missing_ok=True)
        try:
            restore(copy, tmp_path / "again.db")
            with lr.open_agent(tmp_path / "again.db") as agent:
                agent.verify()
                assert agent.events().equals(events)
        except lr.StoreError:
            noticed += 1
    assert noticed > 10


def test_each_place_of_a_request(tmp_path):
    """By the index a request finds its decision, so a name that changed there would get another one."""
    path, copy = tmp_path / "a.db", tmp_path / "copy.db"
    play(path)
    backup(path, copy)
    content = copy.read_bytes()
    places = [match.start() for match in re.finditer(b"order 5", content)]
    assert len(places) == 2
    for place in places:
        copy.write_bytes(content[:place] + b"O" + content[place + 1 :])
        with pytest.raises(lr.StoreError, match="is damaged: restore"):
            restore(copy, tmp_path / "again.db")


def test_a_definition_of_a_table(tmp_path):
    """SQLite's message quotes what it cannot read, and Python cannot decode it."""
    path = tmp_path / "a.db"
    play(path)
    backup(path, tmp_path / "copy.db")
    content = (tmp_path / "copy.db").read_bytes()
    (tmp_path / "copy.db").write_bytes(content.replace(b"CREATE TABLE log", b"CREATE\xd4ABLE log"))
    with pytest.raises(lr.StoreError, match="cannot use .*copy.db': database disk image is malformed"):
        lr.open_agent(tmp_path / "copy.db")


def test_a_row_that_has_lost_a_column(tmp_path):
    """Its checksum then counts as its time, and it seems to be of an older version, which had none."""
    path, copy = tmp_path / "a.db", tmp_path / "copy.db"
    play(path)
    backup(path, copy)
    content, null, real = copy.read_bytes(), b"\x00", b"\x07"
    row = content.index(real + 5 * null + real)  # the types of a reward, of what it lacks, and of its time
    for place in range(row + 1, row + 5):
        copy.write_bytes(content[:place] + b"\x80" + content[place + 1 :])
        damaged = pytest.raises(lr.StoreError, match="^event .* is damaged: restore")
        with closing(SQLiteStore(copy, read_only=True)) as store, damaged:
            store.events(0)


def test_an_erased_name_leaves_nothing_in_the_checksum(tmp_path):
    path = tmp_path / "a.db"
    play(path)
    with lr.open_agent(path) as agent, closing(sqlite3.connect(path, isolation_level=None)) as link:
        agent.erase_request("order 3")
        agent.verify()
        assert link.execute("SELECT checksum >> 32 FROM log WHERE position = 7").fetchone() == (0,)
        link.execute("UPDATE log SET request = NULL WHERE request = 'order 4'")  # as an older version does
        agent.verify()


def test_a_checksum_is_of_what_stores_return():
    event = Event("told", 3, reward=-0.0, timestamp=7)
    assert is_intact(5, event._replace(reward=0.0, timestamp=7.0), checksum_of(5, event))
    assert not is_intact(6, event, checksum_of(5, event))
    assert not is_intact(5, event._replace(decision="3"), checksum_of(5, event))
    assert is_intact(5, event, None)


def checksums_of(path):
    with closing(sqlite3.connect(path)) as link:
        return [row[0] for row in link.execute("SELECT checksum FROM log ORDER BY position")]


def test_a_store_of_an_older_version_gets_them_from_now_on(tmp_path):
    path = tmp_path / "a.db"
    shutil.copy(DATA / "agent-2.db", path)
    before = path.read_bytes()
    with lr.open_agent(path, read_only=True) as agent:
        old = agent.verify()
    assert path.read_bytes() == before
    with lr.open_agent(path) as agent:
        agent.tell(agent.ask(request="new"), 1)
        assert agent.verify() == old + 2
        rows = checksums_of(path)
        assert rows[:old] == [None] * old and None not in rows[old:]
        with closing(sqlite3.connect(path, isolation_level=None)) as link:  # an older version goes on beside
            link.execute("INSERT INTO log (agent, position, kind) VALUES (1, ?, 'conflict')", (old + 3,))
        assert agent.verify() == old + 3
        agent.erase_request("visits")
        assert agent.verify() == old + 3


def test_a_database_of_an_older_version_gets_them_from_now_on(postgres_url):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url) as link:
        link.execute((DATA / "agent-2.sql").read_text(encoding="utf-8"))

    def checksums():
        with psycopg.connect(postgres_url) as link:
            return [row[0] for row in link.execute("SELECT checksum FROM lowregret_log ORDER BY position")]

    with lr.open_agent(postgres_url, read_only=True) as agent:
        old = agent.verify()
    with lr.open_agent(postgres_url) as agent:
        agent.tell_many((choice, 1) for choice in agent.ask(9, request="new"))  # more than single statements
        agent.tell(agent.ask(), 1)
        assert agent.verify() == old + 20
        assert not any("checksum" in note for note in agent.transactions.store.notes)
        assert [row is None for row in checksums()] == [True] * old + [False] * 20
        assert agent.erase_request("new") == 9 and agent.verify() == old + 20
        with psycopg.connect(postgres_url) as link:
            link.execute("UPDATE lowregret_log SET timestamp = 7 WHERE position = %s", (old + 20,))
        with pytest.raises(lr.StoreError, match=f"event {old + 20} of .* is damaged"):
            agent.verify()


def test_without_the_right_to_change_the_table(postgres_url):
    """A role that may only write goes on without checksums, and a note says how to get them."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url, autocommit=True) as link:
        link.execute((DATA / "agent-2.sql").read_text(encoding="utf-8"))
        schema = link.execute("SELECT current_schema()").fetchone()[0]
        role = f"writer_{schema}"
        link.execute(f"CREATE ROLE {role} LOGIN")
        link.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        link.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}")
        try:
            with lr.open_agent(postgres_url.replace("postgres:@", f"{role}:@")) as agent:
                assert "have no checksums: open it once as the owner" in agent.transactions.store.notes[-1]
                agent.tell_many((choice, 1) for choice in agent.ask(9, request="new"))
                agent.tell(agent.ask(), 1)
                assert agent.erase_request("new") == 9
                agent.verify()
        finally:
            link.execute(f"DROP OWNED BY {role}")
            link.execute(f"DROP ROLE {role}")
