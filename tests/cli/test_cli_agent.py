"""``lowregret agent``: what it prints, and that looking changes nothing."""

import json
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from helpers import Impatient
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.online import event_tables

ARMS = ["red", "green"]


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "choices.db"
    with lr.open_agent(path, lr.EpsilonGreedy(0.5), ARMS, seed=1, name="buttons") as agent:
        agent.tell_many((choice, 1) for choice in agent.ask(30))
        agent.ask(2, request="somebody")
    lr.open_agent(path, lr.UCB1(), ARMS, name="banners", expires_after=1).close()
    return path


def called(*words, code=0):
    result = CliRunner().invoke(app, ["agent", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.output


def test_list_and_show(store):
    before = store.read_bytes()
    headings = called("list", store).split()[:6]
    assert headings == ["agent", "policy", "arms", "decisions", "pending", "conflicts"]
    assert "buttons" in called("list", f"sqlite:///{store}")
    agents = json.loads(called("list", store, "--json"))["agents"]
    assert [one["agent"] for one in agents] == ["buttons", "banners"]
    assert agents[0]["decisions"] == 32 and agents[0]["pending"] == 2
    shown = called("show", store, "buttons")
    first = "agent buttons, policy EpsilonGreedy(epsilon=0.5), arms 2, decisions 32, pending 2"
    assert first in " ".join(shown.split())
    assert "red" in shown
    assert json.loads(called("show", store, "buttons", "--json"))["arms"][0]["arm"] == "red"
    assert store.read_bytes() == before
    assert [path.name for path in Path(store.parent).iterdir()] == ["choices.db"]


def test_verify(store):
    assert called("verify", store).splitlines() == [
        "buttons: 62 events replayed, the state follows from them",
        "banners: 0 events replayed, the state follows from them",
    ]
    assert "does not exist: the store has ['buttons', 'banners']" in called("verify", store, "other", code=2)
    assert "there is no such file" in called("list", store.parent / "no.db", code=2)
    assert "has several agents, pass one of the names: buttons, banners" in called("show", store, code=2)


def test_show_says_that_a_mean_without_a_range_could_be_higher(store):
    with lr.open_agent(store, "RoundRobin", ARMS, name="revenue", reward_range=None) as agent:
        agent.tell_many((choice, 30.0) for choice in agent.ask(30 * len(ARMS)))
    text = called("show", store, "revenue")
    assert " ? " in text and "?: could be higher; the rewards so far are too few" in text
    assert "could be higher" not in called("show", store, "buttons")


def test_an_agent_with_a_policy_of_ones_own(store, tmp_path):
    with lr.open_agent(store, Impatient(), ARMS, name="own", horizon=100) as agent:
        agent.tell(agent.ask(), 1)
    assert [one["policy"][:7] for one in json.loads(called("list", store, "--json"))["agents"]] == [
        "Epsilon",
        "UCB1",
        "helpers",
    ]
    assert "--policy module:Class" in called("show", store, "own", code=2)
    given = "--policy", "helpers:Impatient"
    assert "agent own, policy Impatient, arms 2, decisions 1, pending 0" in called(
        "show", store, "own", *given
    )
    assert "own: 2 events replayed" in called("verify", store, *given)
    assert len(called("export", store, "own", *given).splitlines()) == 2
    assert "own: 2 events copied" in called("copy", store, tmp_path / "copy.db", *given)
    other = "--policy", "helpers:Impatient(rho=0.5)"
    assert "not Impatient(rho=0.5)" in called("show", store, "own", *other, code=2)


def test_show_says_what_is_beyond_the_horizon_and_which_rewards_were_not_reported(store):
    with lr.open_agent(store, "MOSS", ARMS, name="short", horizon=10, matures_after=5) as agent:
        agent.tell_many((choice, 1) for choice in agent.ask(12)[:8])
        agent.ask()
        (note,), unreported = agent.notes, len(agent.pending)
    assert note.startswith("13 decisions are beyond the horizon of 10 of MOSS: create another agent")
    assert note in called("show", store, "short").replace("\n", " ")
    shown = json.loads(called("show", store, "short", "--json"))
    assert shown["pending"] == unreported == 5
    sums = {name: sum(arm[name] for arm in shown["arms"]) for name in ("pulls", "pending")}
    assert sums == {"pulls": 7, "pending": 6}  # one is reported, and waits for the end of its window


def test_an_agent_within_its_horizon_has_no_note():
    for policy, horizon in (("MOSS", 2), ("MOSS", None), ("UCB1", 1)):  # UCB1 needs no horizon
        agent = lr.Agent(policy, ARMS, horizon=horizon)
        agent.ask(2)
        assert agent.notes == ()


def test_an_export_is_written_in_parts(store, tmp_path, monkeypatch):
    """A log of any length needs little memory."""
    whole, parts = called("export", store, "buttons"), []
    monkeypatch.setattr(event_tables, "CHUNK_EVENTS", 4)
    monkeypatch.setattr(pl, "concat", None)
    real = pl.DataFrame.write_csv
    monkeypatch.setattr(
        pl.DataFrame, "write_csv", lambda table, **how: parts.append(table.height) or real(table, **how)
    )
    assert called("export", store, "buttons") == whole
    assert sum(parts) == 30 and max(parts) <= 4


def test_a_file_that_cannot_be_written_is_one_sentence(store, tmp_path):
    told = f"lowregret: cannot use '{tmp_path}/missing/x.csv': No such file or directory\n"
    assert called("export", store, "buttons", "-o", tmp_path / "missing" / "x.csv", code=2) == told


def test_export_gives_what_replay_reads(store, tmp_path):
    lines = called("export", store, "buttons").splitlines()
    assert lines[0] == "decision,time,timestamp,arm,reward,propensity"
    assert len(lines) == 31
    assert called("export", store, "buttons", "-o", tmp_path / "log.csv").endswith("log.csv: 30 decisions\n")
    result = CliRunner().invoke(app, ["replay", str(tmp_path / "log.csv"), "-p", "UCB1", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.output)


def test_forget_expired(store):
    assert called("forget-expired", store, "buttons") == "0 decisions expired, 2 pending\n"
    assert (
        called("forget-expired", store, "buttons", "--older-than", "0") == "2 decisions expired, 0 pending\n"
    )
    with lr.open_agent(store, name="banners") as agent:
        agent.ask(3)
    assert called("forget-expired", store, "banners") == "2 decisions expired, 1 pending\n"


def test_retention(store):
    assert called("erase-request", store, "buttons", "somebody") == "erased from 2 decisions\n"
    assert b"somebody" not in store.read_bytes()
    assert called("compact", store, "buttons") == "0 events dropped\n"
    assert called("compact", store, "buttons", "--older-than", "0") == "62 events dropped\n"
    assert called("verify", store, "buttons").startswith("buttons: 0 events")
    assert '"decisions": 32' in called("show", store, "buttons", "--json")


@pytest.mark.parametrize("days", ["-1", "nan", "inf", "1e300"])
@pytest.mark.parametrize("command", ["compact", "forget-expired"])
def test_a_number_of_days_that_makes_no_sense(store, command, days):
    assert "must be a number of days of at least 0" in called(
        command, store, "buttons", "--older-than", days, code=2
    )
    with lr.open_agent(store, name="buttons") as agent:
        assert agent.verify() == 62
        with pytest.raises(lr.InputError, match="of at least 0"):
            agent.compact(-timedelta(days=1))


@pytest.mark.parametrize("compacted", [False, True])
def test_copy_to_postgresql_and_back(store, tmp_path, postgres_url, compacted):
    if compacted:
        assert called("compact", store, "buttons", "--older-than", 0) == "62 events dropped\n"
        with lr.open_agent(store, name="buttons") as agent:
            agent.tell(agent.pending[0], 1)
    shown = called("list", store)
    for source, target in ((store, postgres_url), (postgres_url, f"sqlite:///{tmp_path}/back.db")):
        lines = called("copy", source, target).splitlines()
        assert (
            lines[0] == f"buttons: {1 if compacted else 62} event{'s' * (not compacted)} copied and compared"
        )
        assert lines[1] == "banners: 0 events copied and compared"
        assert called("list", target) == shown
        assert called("export", target, "buttons") == called("export", store, "buttons")
        assert called("verify", target) == called("verify", store)
    assert called("show", postgres_url, "buttons").startswith("agent buttons, policy EpsilonGreedy")
    texts = []
    for place in (store, postgres_url, tmp_path / "back.db"):
        with lr.open_agent(place, name="buttons") as agent:
            texts.append(agent.to_json())
            if not compacted:
                assert [one.id for one in agent.ask(2, request="somebody")] == [
                    one.id for one in agent.pending
                ]
    assert texts[0] == texts[1] == texts[2]


def test_copy_overwrites_nothing(store, tmp_path):
    other = tmp_path / "other.db"
    lr.open_agent(other, lr.UCB1(), ARMS, name="banners").close()
    assert "'banners' exists already" in called("copy", store, other, code=2)
    assert "buttons" not in called("list", other)
    with lr.open_agent(other, name="banners") as agent:
        agent.ask()
    message = called("copy", store, other, "banners", code=2)
    assert "exists already in the target: copy to another store" in message
    assert "1 event replayed" in called("verify", other, "banners")
    assert "there is no such file" in called("copy", tmp_path / "no.db", other, code=2)


def test_backup_and_restore(store, tmp_path):
    copy = tmp_path / "copy.db"
    assert called("backup", store, copy) == f"{copy}: 2 agents\n"
    assert "exists already: use another name" in called("backup", store, copy, code=2)
    with lr.open_agent(store, name="buttons") as agent:
        agent.ask(5)
        assert "is in use: stop the processes that use it" in called("restore", copy, store, code=2)
    assert called("restore", copy, store) == f"{store}: 2 agents\n"
    assert "buttons: 62 events replayed" in called("verify", store, "buttons")
