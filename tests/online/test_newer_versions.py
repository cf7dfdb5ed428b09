"""What a newer version wrote is named as such: nothing is called damaged, and nothing is restored."""

import json
import sqlite3
from contextlib import closing
from hashlib import sha256

import pytest

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.snapshot import read_checksummed, write, write_checksummed

ARMS = ["red", "green"]


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path, monkeypatch):
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 10)
    return str(tmp_path / "a.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def as_newer(agent):
    """Rewrite the snapshots of a store as a version does that stores one thing more, with right checksums."""
    with agent.transactions.store.session(1.0):
        store = agent.transactions.store
        for snapshot, save in (
            (store.first_snapshot(), store.compact),
            (store.latest_snapshot(), store.save_snapshot),
        ):
            if snapshot is not None:
                position, text = snapshot
                inner = json.dumps({**json.loads(text.partition("\n")[2]), "lowregret": "9.0", "wishes": 3})
                checksum = sha256(f"{position}\n{inner}".encode()).hexdigest()
                save(position, f"{checksum}\n{inner}")


def play(agent, decisions=30):
    agent.tell_many((choice, step % 3 / 2) for step, choice in enumerate(agent.ask(decisions)))


def state_of(agent):
    with agent.transactions.reading() as state:
        return write(state, for_store=True)


def test_an_older_host_goes_on_beside_a_newer_one(where, monkeypatch):
    """It replays the log where it cannot read a snapshot, and stores none of its own."""
    with lr.open_agent(where, "UCB1", ARMS) as newer, lr.open_agent(where) as running:
        play(newer)
        choice = newer.ask(request="attack")
        newer.tell(choice, 1)
        assert newer.forget_where(request_prefix="attack") == 1
        play(newer)
        as_newer(newer)
        written = newer.transactions.store.latest_snapshot()
        with lr.open_agent(where) as opened:
            assert opened.time == 60 and state_of(opened) == state_of(running) == state_of(newer)
            for agent in (running, opened):
                play(agent)
            assert newer.transactions.store.latest_snapshot() == written
            assert newer.time == 120 and state_of(running) == state_of(opened) == state_of(newer)
            play(newer, 300)
            as_newer(newer)
            monkeypatch.delattr(transactions, "replay")
            assert running.time == 420  # by the events that it missed, and not by all of the log
            with pytest.raises(
                lr.StoreError, match="^a newer lowregret wrote the snapshot at event .*: upgrade"
            ):
                opened.verify()


def test_what_only_a_newer_version_can_read(where):
    with lr.open_agent(where, "UCB1", ARMS) as agent:
        play(agent)
        agent.compact()
        as_newer(agent)
        for _ in range(2):
            with pytest.raises(lr.StoreError, match="event 60: upgrade this host .*unknown key 'wishes'"):
                lr.open_agent(where)


NEW_POLICY = {"class": "UCB9", "parameters": {}}
NEW_PARAMETER = {"class": "UCB1", "parameters": {"alpha": 2.0, "mood": "good"}}


@pytest.mark.parametrize(
    "change",
    [
        {"format": 3},
        {"made_with": {"mood": "good"}},
        {"made_with": {"policy": NEW_POLICY}},
        {"made_with": {"policy": NEW_PARAMETER}},
    ],
)
def test_an_agent_that_a_newer_version_created(tmp_path, change):
    path = tmp_path / "a.db"
    lr.open_agent(path, "UCB1", ARMS).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as link:
        header = json.loads(link.execute("SELECT head FROM agents").fetchone()[0])
        made_with = {**header["made_with"], **change.get("made_with", {})}
        header = {**header, **change, "made_with": made_with}
        link.execute("UPDATE agents SET head = ?", (json.dumps(header),))
    with pytest.raises(lr.StoreError, match="^a newer lowregret created .*a.db': upgrade this host"):
        lr.open_agent(path)


def test_a_snapshot_whose_checksum_is_wrong_is_damaged(tmp_path):
    position, text = 7, write_checksummed(lr.Agent("UCB1", ARMS).transactions.state, 7)
    for wrong in (text.replace("told", "tolt"), "7\n{}"):
        with pytest.raises(lr.StoreError, match="the snapshot at event 7 is damaged"):
            read_checksummed(position, wrong, None, "")
