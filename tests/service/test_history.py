"""The history of an agent and the warnings about it."""

from datetime import timedelta
from itertools import count

import pytest

import lowregret as lr
from lowregret.online.stores.in_memory import MemoryStore
from lowregret.service import history as module
from lowregret.service.checks import warnings_of
from lowregret.service.history import History
from lowregret.service.readings import estimated_loss, summary

HOUR = 3_600.0


class Play:
    """An agent with a clock of its own, and its history."""

    def __init__(self, policy="RoundRobin", arms=("red", "green"), step=1.0, **options):
        self.now, self.step, self.store = 1e9, step, MemoryStore()
        self.agent = lr.open_agent(self.store, policy, arms, clock=self._clock, **options)

    def _clock(self):
        self.now += self.step
        return self.now

    def warnings(self, after=0.0):
        history = History(self.store)
        assert history.read()
        found = warnings_of(summary(self.agent, "x"), history, self.now + after)
        return {warning["kind"]: warning["detail"] for warning in found}


@pytest.mark.parametrize("decisions", [1, 9, 10, 11, 639, 640, 641, 5_000])
def test_periods_are_bounded_and_lose_nothing(decisions):
    play = Play()
    for choice in play.agent.ask(decisions):
        play.agent.tell(choice, 0.25)
    history = History(play.store)
    while not history.read():
        pass
    found = history.described(True)
    assert 1 <= len(found["periods"]) <= module.MOST
    assert sum(sum(period["asked"].values()) for period in found["periods"]) == decisions
    assert sum(sum(period["rewards"].values()) for period in found["periods"]) == decisions / 4
    lengths = [sum(period["asked"].values()) for period in found["periods"]]
    assert set(lengths[:-1]) <= {found["length"]} and lengths[-1] <= found["length"]


def test_reading_in_parts_is_reading_at_once(monkeypatch):
    play = Play()
    whole, parts = History(play.store), History(play.store)
    for turn in range(30):
        choices = play.agent.ask(20)
        play.agent.tell_many((choice, 1) for choice in choices[turn % 3 :])
        parts.read()
    whole.read()
    assert whole.described(True) == parts.described(True)
    monkeypatch.setattr(module, "CHUNK", 7)
    monkeypatch.setattr(module, "AT_ONCE", 70)
    slow = History(play.store)
    assert not slow.read()
    for _ in count():
        if slow.read():
            break
    assert slow.described(True) == whole.described(True)


def test_a_compacted_log_begins_at_its_snapshot():
    play = Play()
    play.agent.tell_many((choice, 1) for choice in play.agent.ask(50))
    play.agent.compact()
    play.agent.ask(5)
    history = History(play.store)
    assert history.read() and history.counts["asked"] == 5


def test_expired_decisions_are_counted():
    play = Play(expires_after=10)
    for choice in play.agent.ask(30)[::2]:
        play.agent.tell(choice, 1)
    play.agent.ask()
    history = History(play.store)
    history.read()
    assert history.counts["expired"] == 10


def test_no_warning_without_reason():
    play = Play("UCB1", ["red", "green"])
    for turn in range(600):
        choices = play.agent.ask(2)
        play.agent.tell_many((choice, float((turn * 7 + choice.time) % 10 < 3)) for choice in choices)
    assert play.warnings() == {}


def test_silence():
    play = Play()
    play.agent.tell(play.agent.ask(), 1)
    assert play.warnings(10 * HOUR) == {}  # nothing is pending
    play.agent.ask(3)
    assert play.warnings(HOUR / 2) == {}
    assert play.warnings(5 * HOUR)["silence"].startswith("no reward was reported for 5 hours")


def test_silence_from_the_beginning():
    play = Play()
    play.agent.ask(3)
    assert "silence" in play.warnings(2 * HOUR)


def test_a_starved_arm():
    play = Play("EpsilonGreedy(0.0001)", ["red", "green"])
    for _ in range(1_200):
        choice = play.agent.ask()
        play.agent.tell(choice, float(choice.arm == "red"))
    assert "'green' is active and has only 1 reward" in play.warnings()["starved"]


def test_many_arms_are_neither_all_listed_nor_all_warned_of():
    arms = [f"arm {number}" for number in range(120)]
    play = Play("FixedArm(0)", arms)
    made = play.agent.ask(2_000) + [choice for arm in arms for choice in play.agent.ask(3, only=[arm])]
    play.agent.tell_many((choice, 1) for choice in made)
    assert play.warnings() == {}  # fewer than 20 decisions for each arm
    play.agent.tell_many((choice, 1) for choice in play.agent.ask(1_000))
    history = History(play.store)
    history.read()
    state = {"pulls": play.agent.time, "pending": 0, "settings": {"reward_range": None}}
    state["table"] = [{"arm": arm, "state": "active", "pulls": 3} for arm in arms]
    details = [warning["detail"] for warning in warnings_of(state, history, play.now)]
    assert len(details) == 6 and details[-1] == "the same is true of 115 other arms"
    for period in (found := history.described(True))["periods"]:
        assert len(period["asked"]) <= 100
    assert sum(period["all_asked"] for period in found["periods"]) == play.agent.time
    assert sum(sum(period["asked"].values()) for period in found["periods"]) == play.agent.time - 20 * 3


def test_rewards_of_one_arm_are_missing():
    play = Play(step=30.0)
    for choice in play.agent.ask(2_000):
        if choice.arm == "red":
            play.agent.tell(choice, 1)
    assert "0% of the decisions of arm 'green'" in play.warnings(2 * HOUR)["mismatch"]


def test_drift():
    play = Play()
    for turn in range(800):
        choice = play.agent.ask()
        play.agent.tell(choice, float(choice.arm == "red" and turn < 400))
    found = play.warnings()
    assert "the mean of arm 'red' was 1 at first and is 0" in found["drift"]
    assert "green" not in found["drift"]


def test_the_estimated_loss():
    agent = lr.Agent("RoundRobin", ["red", "green"])
    assert estimated_loss(agent.summary().to_dicts()) == {"against_best": None, "against_equal_split": None}
    for choice in agent.ask(100):
        agent.tell(choice, 1.0 if choice.arm == "red" else 0.5)
    assert estimated_loss(agent.summary().to_dicts()) == {"against_best": 25.0, "against_equal_split": 0.0}


def test_windows_in_seconds_pass():
    play = Play(expires_after=timedelta(seconds=5), default_reward=0.5)
    play.agent.ask(2)
    play.now += 60
    play.agent.ask()
    history = History(play.store)
    history.read()
    assert history.counts["expired"] == 2
