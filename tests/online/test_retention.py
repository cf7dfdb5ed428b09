"""What is kept of a log, for how long, and how one knows that it is right."""

import json
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.event_tables import reward_table
from lowregret.online.stores import all_events

DATA = Path(__file__).parents[1] / "data"
ARMS = ["red", "green", "blue"]
DAY = 86_400.0


def played(path, days=10, **changed):
    """Return an agent with 20 decisions on each of some days, of which one on each day is pending."""
    now = [0.0]
    given = {"policy": lr.EUCBV(), "arms": ARMS, "seed": 3, "clock": lambda: now[0], **changed}
    agent = lr.open_agent(path, **given)
    for day in range(days):
        now[0] = DAY * day
        for step in range(20):
            choice = agent.ask(request=f"visit {day}, {step}")
            if step:
                agent.tell(choice, step % 3 / 2)
    now[0] = DAY * days
    return agent


def test_a_compacted_log_still_verifies_and_the_agent_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 50)
    agent, twin = played(tmp_path / "agent.db"), played(tmp_path / "twin.db")
    size = (tmp_path / "agent.db").stat().st_size
    assert agent.verify() == twin.verify() == 390
    first = agent.pending[0]
    assert agent.compact(timedelta(days=3, seconds=1)) == 7 * 39
    assert agent.verify() == 3 * 39
    assert agent.compact(timedelta(days=3, seconds=1)) == 0
    assert agent.tell(first, 1) and agent.tell(first, 1) is False
    twin.tell(twin.pending[0], 1)
    agent.close()
    with lr.open_agent(tmp_path / "agent.db") as agent:
        assert agent.verify() == 3 * 39 + 1
        assert len(agent.pending) == 9
        for step in range(60):
            choice, same = agent.ask(), twin.ask()
            assert choice.arm == same.arm
            agent.tell(choice, step % 2), twin.tell(same, step % 2)
        assert agent.rewards().height == 3 * 19 + 60
        assert agent.ask(request="visit 9, 5").time < 200  # remembered
        assert agent.ask(request="visit 1, 5").time > 200  # forgotten
        assert agent.compact() > 0
        assert agent.verify() == 0
        assert agent.tell(agent.ask(), 1)
    with lr.open_agent(tmp_path / "agent.db") as agent:
        assert agent.verify() == 2
    assert (tmp_path / "agent.db").stat().st_size < size
    twin.close()


def test_an_erased_request_is_nowhere(tmp_path):
    agent = played(tmp_path / "agent.db", days=2)
    choice = agent.ask(request="visit 1, 5")
    assert agent.erase_request("visit 1, 5") == 1
    assert agent.erase_request("visit 1, 5") == 0
    assert agent.verify() == 78
    assert not any(b"visit 1, 5" in path.read_bytes() for path in tmp_path.iterdir())
    assert any(b"visit 1, 6" in path.read_bytes() for path in tmp_path.iterdir())
    assert agent.tell(choice, 1.0) is False  # the decision and its reward stay
    agent.close()
    with lr.open_agent(tmp_path / "agent.db") as agent:
        assert agent.time == 40
        assert agent.ask(request="visit 1, 5").id != choice.id


NO_CHECKSUM = "UPDATE log SET checksum = NULL"
CHANGES = {
    "UPDATE log SET reward = 0.75 WHERE position = 3": "event 3 of .* is damaged",
    f"{NO_CHECKSUM}, reward = 0.75 WHERE position = 3": "the snapshot at event .* does not follow from",
    f"{NO_CHECKSUM}, arm = 'blue' WHERE position = 1": "does not follow from the log|is inconsistent",
    f"{NO_CHECKSUM}, kind = 'forgot', reward = NULL WHERE position = 5": "does not follow from the log",
    "DELETE FROM log WHERE position = 7": "has lost rows of its log",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_log_does_not_verify(tmp_path, change, monkeypatch):
    """The latest snapshot does not show it, so the agent opens."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 20)
    played(tmp_path / "agent.db", days=2).close()
    with sqlite3.connect(tmp_path / "agent.db") as link:
        link.execute(change)
    link.close()
    with (
        lr.open_agent(tmp_path / "agent.db", read_only=True) as agent,
        pytest.raises(lr.StoreError, match=CHANGES[change]),
    ):
        agent.verify()


def test_a_stored_agent_of_format_2_verifies(tmp_path):
    shutil.copy(DATA / "agent-2.db", tmp_path)
    with lr.open_agent(tmp_path / "agent-2.db") as agent:
        assert agent.verify() == agent.transactions.position > 50
        assert not agent.events()["timestamp"].is_null().any()


def test_an_agent_in_memory_has_no_log():
    agent = lr.Agent(lr.UCB1(), ARMS)
    for call in (agent.verify, agent.compact):
        with pytest.raises(lr.InputError, match="an agent in memory has no log: open it on a file"):
            call()
    with pytest.raises(lr.InputError, match="older_than must be a datetime.timedelta of at least 0, got 3"):
        agent.compact(3)


def test_rewards_are_a_log_that_replay_reads(tmp_path):
    agent = played(tmp_path / "agent.db", policy=lr.EpsilonGreedy(0.5), matures_after=30, default_reward=0.25)
    table = agent.rewards()
    assert table.columns == ["decision", "time", "timestamp", "arm", "reward", "propensity"]
    late = table.filter(reward=0.25)["decision"].to_list()
    assert late == [1 + 20 * day for day in range(9) if 1 + 20 * day <= 199 - 30]
    assert table.height == 190 + len(late)
    assert table["timestamp"][0].isoformat() == "1970-01-01T00:00:00+00:00"
    table.write_csv(tmp_path / "log.csv")
    assert lr.replay(tmp_path / "log.csv", ["UCB1"], resamples=0).summary().height > 0
    agent.close()


def test_an_export_during_which_the_log_is_compacted(tmp_path, monkeypatch):
    """Another process drops events, and adds some, between the two times that the log is read."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 50)
    agent, other = played(tmp_path / "agent.db"), lr.open_agent(tmp_path / "agent.db", clock=lambda: 10 * DAY)
    store, before, reads = agent.transactions.store, {}, []
    agent.tell_many((choice, day / 10) for day, choice in enumerate(agent.pending))
    for row in agent.rewards().iter_rows():
        before[row[0]] = row

    def read():
        if reads:
            assert other.compact(timedelta(days=3, seconds=1)) > 0
            other.tell(other.ask(), 0.75)
        reads.append(1)
        return list(all_events(store))

    rows = list(reward_table(read).iter_rows())
    assert len(reads) == 2 and len(rows) > 50 and rows == [before[row[0]] for row in rows]
    agent.close()
    other.close()


def test_events_are_dated(tmp_path):
    agent = played(tmp_path / "agent.db", days=1)
    table = agent.events()
    assert table["kind"].to_list()[:3] == ["asked", "asked", "told"]
    assert json.loads(table.head(1).write_json())[0]["request"] == "visit 0, 0"
    agent.close()


def test_an_agent_that_was_opened_before_the_first_event_notices_that_all_were_dropped(tmp_path):
    path = tmp_path / "agent.db"
    with lr.open_agent(path, "UCB1", ARMS) as agent, lr.open_agent(path) as idle:
        choice = agent.ask()
        agent.tell(choice, 1)
        assert agent.compact() == 2
        assert idle.time == 1
        assert idle.ask().time == agent.time == 2
        assert idle.verify() == agent.verify() == 1
