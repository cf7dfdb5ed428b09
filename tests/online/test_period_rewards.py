"""An agent says that rewards move between days, or its periods, wherever it is asked."""

import json
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest
from agent_workers import check_replay
from serving import served
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.online import daily_rewards
from lowregret.online.period_rewards import period_means, period_rewards
from lowregret.service import views

ARMS = ["red", "green"]
DAY = 86_400.0
MONDAY = datetime(2026, 11, 16, tzinfo=UTC).timestamp()
MOVE = "rewards of all arms move between days, more than chance allows (error at most 5%, whenever you look)"


def played(agent, now, factors, visitors=150, seed=1):
    """Let visitors come to an agent on some days."""
    random = Random(seed)
    for day, factor in enumerate(factors):
        for visitor in range(visitors):
            now[0] = MONDAY + (day + visitor / visitors) * DAY
            agent.tell(agent.ask(), random.random() < 0.2 * factor)
    return agent


def by_day(agent):
    """Return the rewards of an agent by day and arm."""
    return agent.transactions.state.by_period.settle().by_day


def test_the_note_says_what_to_do():
    for factors, options, note in (
        ([1.0] * 4, {}, ()),
        ([1.0, 1.0, 2.5, 2.5], {}, (f"{MOVE}: create another agent with period=timedelta(days=1)",)),
        (
            [1.0, 1.0, 2.5, 2.5],
            {"period": timedelta(days=1)},
            (f"{MOVE.replace('days', 'periods')}: the means that the policy sees are adjusted for it",),
        ),
        (
            [1.0, 1.0, 2.5, 2.5],
            {"period": 150},
            (f"{MOVE.replace('days', 'periods')}: the means that the policy sees are adjusted for it",),
        ),
        ([1.0, 1.0, 2.5, 2.5], {"reward_range": None}, ()),
    ):
        now = [0.0]
        agent = lr.Agent("UCB1", ARMS, clock=lambda now=now: now[0], **options)
        assert played(agent, now, factors).notes == note
    agent = lr.Agent("DiscountedUCB", ARMS, clock=lambda: now[0])
    advice = "create another agent with a policy that takes period=timedelta(days=1), and no prior"
    assert played(agent, now, [1.0, 1.0, 2.5, 2.5]).notes == (f"{MOVE}: {advice}",)


def test_days_are_stored_and_replayed(tmp_path):
    now = [0.0]
    with lr.open_agent(tmp_path / "a.db", "UCB1", ARMS, clock=lambda: now[0]) as agent:
        played(agent, now, [1.0, 1.0, 2.5, 2.5])
        check_replay(agent)
        agent.verify()
        again = lr.Agent.from_json(agent.to_json())
        assert again.notes == agent.notes
        days = by_day(agent)
        assert list(days) == [MONDAY // DAY + day for day in range(4)]
    with lr.open_agent(tmp_path / "a.db") as agent:
        assert by_day(agent) == days
        assert len(agent.notes) == 1
    shown = CliRunner().invoke(app, ["agent", "show", str(tmp_path / "a.db")])
    assert MOVE in " ".join(shown.stdout.split())


def test_an_agent_of_an_older_version_counts_from_when_it_is_opened(tmp_path):
    now = [MONDAY]
    agent = lr.Agent("UCB1", ARMS, clock=lambda: now[0])
    agent.tell_many((choice, 1) for choice in agent.ask(3))
    stored = json.loads(agent.to_json())
    del stored["days"]
    again = lr.Agent.from_json(json.dumps(stored))
    again.tell(again.ask(), 1)
    assert period_rewards(again.transactions.state).counts.sum() == 1


@pytest.mark.parametrize("damage", [{"1": {"blue": [1, 1]}}, {"1": {"red": [1]}}, {"one": {"red": [1, 1]}}])
def test_damaged_days_are_refused(damage):
    stored = {**json.loads(lr.Agent("UCB1", ARMS).to_json()), "days": damage}
    with pytest.raises(lr.InputError, match="the rewards of day"):
        lr.Agent.from_json(json.dumps(stored))


def test_a_reward_counts_on_the_day_of_its_decision_and_what_fails_does_not_count():
    now = [MONDAY + DAY - 1]
    agent = lr.Agent("UCB1", ARMS, clock=lambda: now[0])
    first = agent.ask(2)
    now[0] += 1
    second = agent.ask()
    agent.tell_many([(second, 0), (first[0], 1)])
    with pytest.raises(lr.InputError):
        agent.tell_many([(first[1], 1), (first[1], "no number")])
    state = agent.transactions.state
    assert period_rewards(state).counts.sum(axis=0).tolist() == [1, 1]
    assert by_day(agent) == {
        MONDAY // DAY: {first[0].arm: (1, 1.0)},
        MONDAY // DAY + 1: {second.arm: (1, 0.0)},
    }


@pytest.mark.parametrize("period", [None, timedelta(days=1), 2])
def test_days_with_pending_decisions_wait_where_successes_come_first(period):
    now = [MONDAY]
    window = {"expires_after": timedelta(days=9), "default_reward": 0, "period": period}
    agent = lr.Agent("UCB1", ARMS, clock=lambda: now[0], **window)
    for _ in range(3):
        agent.tell_many((choice, 1) for choice in agent.ask(2))
        now[0] += DAY
    agent.ask(), agent.tell(agent.ask(), 1)
    now[0] += DAY
    agent.tell_many((choice, 1) for choice in agent.ask(2))
    rewards = period_rewards(agent.transactions.state)
    assert rewards.counts.sum(axis=0).tolist() == [2, 2, 2]
    assert rewards.starts == ([1, 3, 5] if period == 2 else [MONDAY + day * DAY for day in range(3)])


def test_the_number_of_days_and_arms_is_limited(monkeypatch):
    monkeypatch.setattr(daily_rewards, "MAX_CELLS", 2)
    now = [0.0]
    agent = played(lr.Agent("RoundRobin", ARMS, clock=lambda: now[0]), now, [1.0] * 3, visitors=10)
    assert period_rewards(agent.transactions.state).counts.tolist() == [[5.0], [5.0]]


def test_means_of_periods_and_what_their_arms_predict():
    now = [MONDAY]
    agent = lr.Agent("RoundRobin", ARMS, clock=lambda: now[0], reward_range=(0, 10))
    for day, rewards in enumerate([(4, 8), (6, 8)]):
        now[0] = MONDAY + day * DAY
        for choice, reward in zip(agent.ask(2), rewards, strict=True):
            agent.tell(choice, reward)
    state = agent.transactions.state
    first, second = period_means(state, period_rewards(state))
    numbers = {"pulls": 2, "mean": pytest.approx(6.0), "expected": pytest.approx(6.5)}
    assert first == {"period": "2026-11-16", **numbers}
    assert (second["period"], second["mean"]) == ("2026-11-17", pytest.approx(7.0))
    assert np.isclose(views.summary(agent)["periods"][1]["expected"], 6.5)


def test_the_service_shows_and_logs_it_once(tmp_path, caplog):
    now = [0.0]
    with lr.open_agent(tmp_path / "a.db", "UCB1", ARMS, clock=lambda: now[0], name="shop") as agent:
        played(agent, now, [1.0, 1.0, 2.5, 2.5])
    with served(tmp_path / "a.db") as client, caplog.at_level("WARNING", "lowregret.service"):
        answers = [client.get("/v1/agents/shop/summary").json() for _ in range(2)]
    assert [len(answer["periods"]) for answer in answers] == [4, 4]
    assert MOVE in answers[0]["notes"][0]
    lines = [record.getMessage() for record in caplog.records if "event=note" in record.getMessage()]
    assert len(lines) == 1 and MOVE in lines[0]
