"""An agent is opened as it was made, or refused in one sentence; no other file is touched."""

import sqlite3
from contextlib import closing

import pytest

import lowregret as lr
from lowregret.online import transactions

ARMS = ["red", "green", "blue"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 4}, "was created with seed 3, got 4: pass what it was created with, or use another"),
        ({"horizon": 9}, "was created with horizon None, got 9"),
        ({"reward_range": (0, 2)}, r"was created with reward_range \[0.0, 1.0\], got \[0.0, 2.0\]"),
        ({"outside": "clip"}, "was created with outside refuse, got clip"),
        ({"policy": lr.UCB1(alpha=1)}, r"was created with policy UCB1\(alpha=2.0\), got UCB1\(alpha=1.0\)"),
        ({"policy": lr.MOSS()}, r"was created with policy UCB1\(alpha=2.0\), got MOSS\(\)"),
        ({"arms": ["red"]}, "has the arms .*, got .'red'."),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_another_agent_than_it_was_made_with_is_refused(tmp_path, changed, message):
    opened(tmp_path / "agent.db").close()
    with pytest.raises(lr.InputError, match=message):
        opened(tmp_path / "agent.db", **changed)
    opened(tmp_path / "agent.db").close()


def test_arms_may_be_those_of_today(tmp_path):
    with opened(tmp_path / "agent.db") as agent:
        agent.add_arm("yellow")
        agent.retire_arm("red")
    for arms in (ARMS, ["green", "blue", "yellow"]):
        with opened(tmp_path / "agent.db", arms=arms) as agent:
            assert set(agent.arms) == {"green", "blue", "yellow"}
    with pytest.raises(lr.InputError, match="has the arms"):
        opened(tmp_path / "agent.db", arms=[*ARMS, "yellow"])


def test_a_foreign_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "agent.db"
    path.write_bytes(b"Dear diary, today I ...\n" * 40)
    with pytest.raises(lr.StoreError, match="is not an SQLite file"):
        opened(path)
    assert path.read_bytes() == b"Dear diary, today I ...\n" * 40


def test_a_foreign_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "agent.db"
    with sqlite3.connect(path) as link:
        link.execute("CREATE TABLE guests (name TEXT)")
    link.close()
    before = path.read_bytes()
    with pytest.raises(lr.StoreError, match="is an SQLite file, but not of an agent: use another"):
        opened(path)
    assert path.read_bytes() == before


def test_a_file_that_was_replaced_under_a_process_is_named(tmp_path):
    """An older copy was put in place, and another process has made its own decisions since."""
    store, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    with opened(store) as agent, opened(store) as other:
        choice = agent.ask()
        with sqlite3.connect(store) as link, sqlite3.connect(copy) as saved:
            link.backup(saved)
        agent.tell(choice, 1)
        with sqlite3.connect(copy) as saved, sqlite3.connect(store) as link:
            saved.backup(link)
        for connection in (link, saved):
            connection.close()
        other.ask()
        with pytest.raises(lr.StoreError, match="has lost events that this process has seen: open the agent"):
            agent.ask()


def test_a_replaced_file_is_noticed_where_no_decision_collides(tmp_path):
    """In the older copy another process has reported another reward at the place of the lost one."""
    store, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    with opened(store) as agent, opened(store) as other:
        first, second, third = agent.ask(3)
        with closing(sqlite3.connect(store)) as link, closing(sqlite3.connect(copy)) as saved:
            link.backup(saved)
            agent.tell(first, 1)
            saved.backup(link)
        other.tell(second, 0)
        with pytest.raises(lr.StoreError, match="has lost events that this process has seen: open the agent"):
            agent.tell(third, 0)


INCONSISTENT = "is inconsistent: it is damaged, or a newer"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DELETE FROM log WHERE position = 2", "has lost rows of its log: restore it from a copy"),
        ("DELETE FROM log WHERE position > 3", "has lost rows of its log: restore it from a copy"),
        ("UPDATE log SET reward = 'much' WHERE kind = 'told'", "event 4 of .* is damaged: restore a copy"),
        ("UPDATE log SET timestamp = 7 WHERE kind = 'told'", "event 4 of .* is damaged: restore a copy"),
        ("UPDATE log SET kind = 'cloned', checksum = NULL WHERE position = 4", "kind 'cloned': upgrade this"),
        ("UPDATE log SET reward = 'much', checksum = NULL WHERE kind = 'told'", "event 4 of .* is damaged"),
        ("UPDATE log SET drawn = NULL, checksum = NULL WHERE position = 2", INCONSISTENT),
        ("UPDATE log SET decision = 9, checksum = NULL WHERE kind = 'told'", INCONSISTENT),
        ("UPDATE log SET kind = 'paused', checksum = NULL WHERE position = 2", INCONSISTENT),
    ],
)
def test_a_log_that_others_have_changed_is_refused(tmp_path, monkeypatch, change, message):
    if "> 3" in change:  # the end, which only a snapshot still knows
        monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 4)
    with opened(tmp_path / "agent.db") as agent:
        choices = agent.ask(3)
        agent.tell(choices[0], 1)
    with sqlite3.connect(tmp_path / "agent.db") as link:
        link.execute(change)
    link.close()
    with pytest.raises(lr.StoreError, match=message):
        opened(tmp_path / "agent.db")


def test_a_log_that_others_change_while_it_is_open(tmp_path):
    with opened(tmp_path / "agent.db") as agent:
        agent.ask()
        with sqlite3.connect(tmp_path / "agent.db") as link:
            link.execute(
                "INSERT INTO log (agent, position, kind, decision, reward) VALUES (1, 2, 'told', 9, 1)"
            )
        link.close()
        for _ in range(2):
            with pytest.raises(lr.StoreError, match="the event log of this agent is inconsistent"):
                agent.ask()


@pytest.mark.parametrize("text", ["{", '{"format": 2}', '{"format": 1}'])
def test_a_damaged_snapshot_or_head_is_the_fault_of_the_store(tmp_path, monkeypatch, text):
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 2)
    with opened(tmp_path / "agent.db") as agent:
        agent.ask(3)
    for change, message in (
        ("snapshots SET text", "the snapshot at event 3 is damaged"),
        ("agents SET head", "was not written by this"),
    ):
        with sqlite3.connect(tmp_path / "agent.db") as link:
            link.execute(f"UPDATE {change} = ?", (text,))
        link.close()
        with pytest.raises(lr.StoreError, match=message):
            opened(tmp_path / "agent.db")


def test_a_policy_may_be_given_by_its_name(tmp_path):
    with opened(tmp_path / "agent.db", policy="UCB1(alpha=1)") as agent:
        assert agent.policy == lr.UCB1(alpha=1)
    opened(tmp_path / "agent.db", policy=lr.UCB1(alpha=1)).close()
    assert lr.Agent("EUCBV", ARMS).policy == lr.EUCBV()


def test_a_name_that_no_file_can_have(tmp_path):
    with pytest.raises(lr.InputError, match="the name of a file must not contain NUL, got "):
        opened(tmp_path / "agent\0.db")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(lr.StoreError, match="cannot"):
        opened(tmp_path / "nowhere" / "agent.db")


def test_a_name_is_a_file_and_nothing_else(tmp_path, monkeypatch):
    """Not SQLite's memory, and not another file after the process has changed its folder."""
    monkeypatch.chdir(tmp_path)
    for place in ("agent.db", ":memory:"):
        with opened(place) as agent:
            first = agent.ask(request="first")
            agent.tell_many((choice, 1) for choice in agent.ask(1_100))
            agent.tell(first, 1)
            monkeypatch.chdir("/")
            assert agent.tell(first, 1) is False
            monkeypatch.chdir(tmp_path)
        with opened(place) as agent:
            assert agent.time == 1_101


@pytest.mark.parametrize("name", ["a\u202eb", "a\nb", "\u2066a", "a\x7f", "a\0", "a\u200f"])
def test_names_of_arms_have_no_controls(tmp_path, name):
    with pytest.raises(lr.InputError, match="must not contain control characters"):
        lr.open_agent(tmp_path / "a.db", "UCB1", ["red", name])
    with (
        lr.open_agent(tmp_path / "b.db", "UCB1", ["red", "עברית", "é 👩‍🚀"]) as agent,
        pytest.raises(lr.InputError, match="must not contain control characters"),
    ):
        agent.add_arm(name)


def test_an_agent_that_has_such_a_name_opens(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("lowregret.online.open_agent.valid_arm", str)
        lr.open_agent(tmp_path / "a.db", "UCB1", ["red", "a\nb"]).close()
    with lr.open_agent(tmp_path / "a.db") as agent:
        assert set(agent.arms) == {"red", "a\nb"}


@pytest.mark.parametrize("now", [float("nan"), float("inf"), -1e20, 1e13, None, "1"])
def test_a_clock_returns_a_number(tmp_path, now):
    with lr.open_agent(tmp_path / "a.db", "UCB1", ["red", "green"], clock=lambda: now) as agent:
        with pytest.raises(lr.InputError, match="clock must return the seconds since 1970"):
            agent.ask()
        assert agent.time == 0 and agent.verify() == 0
