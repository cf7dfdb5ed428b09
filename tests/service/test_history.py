"""The history of an agent and the warnings about it."""

from datetime import timedelta
from itertools import count
from random import Random

import numpy as np
import pytest

import lowregret as lr
from lowregret.online.stores.in_memory import MemoryStore
from lowregret.service import history as module
from lowregret.service.checks import warnings_of
from lowregret.service.history import History
from lowregret.service.views import estimated_loss, metrics, summary

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
        found = warnings_of(summary(self.agent), history, self.now + after)
        return {warning["kind"]: warning["detail"] for warning in found}


@pytest.mark.parametrize("decisions", [1, 9, 10, 11, 639, 640, 641, 5_000])
def test_periods_are_bounded_and_lose_nothing(decisions):
    play = Play()
    for choice in play.agent.ask(decisions):
        play.agent.tell(choice, 0.25)
    history = History(play.store)
    while not history.read():
        pass
    found = history.to_dict(True)
    assert 1 <= len(found["periods"]) <= module.MAX_HISTORY_PERIODS
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
    assert whole.to_dict(True) == parts.to_dict(True)
    monkeypatch.setattr(module, "READ_EVENTS", 7)
    monkeypatch.setattr(module, "MAX_READ_EVENTS", 70)
    slow = History(play.store)
    assert not slow.read()
    for _ in count():
        if slow.read():
            break
    assert slow.to_dict(True) == whole.to_dict(True)


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
    for period in (found := history.to_dict(True))["periods"]:
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


def windowed(rates, decisions=5_000, window="matures_after", **options):
    """Let an agent play with a window, where only conversions are told; return it and its history."""
    play, random = Play("RoundRobin", list(rates(0)), **{window: 300}, default_reward=0, **options), Random(1)
    for turn in range(decisions // 50):
        choices = play.agent.ask(50)
        now = rates(50 * turn / decisions)
        play.agent.tell_many([(choice, 1) for choice in choices if random.random() < now[choice.arm]])
    history = History(play.store)
    assert history.read() or history.read()
    return play, history


@pytest.mark.parametrize("window", ["matures_after", "expires_after"])
def test_with_a_window_arms_that_differ_are_no_mismatch_and_no_drift(window):
    play, history = windowed(lambda _: {"red": 0.05, "green": 0.3}, window=window)
    assert play.warnings() == {}
    counts = history.counts
    assert counts["expired"] == counts["forgot"] == 0  # ordinary zeros
    assert counts["told"] + counts["defaulted"] + len(play.agent.pending) == counts["asked"] == 5_000
    whole = module.join_periods(history.periods)
    for arm, rate in {"red": 0.05, "green": 0.3}.items():
        assert whole.sums[arm] / whole.told[arm] == pytest.approx(rate, abs=0.04)


def test_with_a_window_a_fall_is_a_drift():
    play, _ = windowed(lambda part: dict.fromkeys(["red", "green"], 0.5 if part < 0.5 else 0.05))
    assert "was 0.482 at first and is 0.066 in its latest" in play.warnings()["drift"]


def test_with_a_window_rewards_that_stop_are_seen():
    play, _ = windowed(lambda part: dict.fromkeys(["red", "green"], 0.1 if part < 0.6 else 0))
    found = play.warnings(HOUR)
    assert " was 0.1" in found["drift"] and found["silence"].startswith("no reward was reported for")
    stopped = metrics(play.agent)
    for _ in range(10):
        play.agent.ask(50)
    after = metrics(play.agent)
    assert after["rewards"] == stopped["rewards"] > 0  # so that an alert on their rate fires
    assert after["defaults"] - stopped["defaults"] == 500


def test_with_a_window_an_hour_without_a_reward_may_be_ordinary():
    play, _ = windowed(lambda _: {"red": 0.01, "green": 0.01}, step=1.0)
    play.agent.ask(50)
    assert "silence" not in play.warnings(2 * HOUR)
    play.agent.ask(2_000)
    assert "silence" in play.warnings(2 * HOUR)


def test_an_expired_decision_without_a_default_has_no_reward():
    play = Play(matures_after=10)
    for choice in play.agent.ask(400)[::2]:
        play.agent.tell(choice, 1)
    play.agent.ask(10)
    play.agent.ask()
    history = History(play.store)
    history.read()
    assert history.counts["expired"] == 200 and history.counts["defaulted"] == 0
    assert module.join_periods(history.periods).told.total() == 200


def periods_of(rewards, length):
    """Return the history of one arm with these rewards, in periods of a length."""
    history = History(MemoryStore())
    history.periods = []
    for start in range(0, len(rewards), length):
        period = module.Period()
        part = rewards[start : start + length]
        period.asked["red"] = period.told["red"] = len(part)
        period.sums["red"] = float(part.sum())
        history.periods.append(period)
    return history


def drifts(rewards, length, ends=(0, 1)):
    state = {"pulls": 0, "pending": 0, "table": [], "settings": {"reward_range": ends}}
    return "drift" in {warning["kind"] for warning in warnings_of(state, periods_of(rewards, length), 0.0)}


def test_a_fall_from_one_percent_to_zero_is_seen_soon():
    """20,000 rewards at 1%, then none: some 3,000 are enough; by the range alone it takes 129,394."""
    before = np.random.default_rng(1).random(20_000) < 0.01
    assert not drifts(before, 640)
    assert drifts(np.concatenate([before, np.zeros(4_000)]), 640)
    assert drifts(30.0 * np.concatenate([before, np.zeros(4_000)]) - 10.0, 640, (-10, 20))


@pytest.mark.parametrize("rate", [0.5, 0.05, 0.005])
def test_means_that_do_not_change_are_no_drift(rate):
    """100 agents, looked at at ten times each: at most 5% may warn; more than 13 have odds below 1e-3."""
    random, warned = np.random.default_rng(27), 0
    for _ in range(100):
        rewards = random.random(6_400) < rate
        for end in range(640, 6_401, 640):
            if drifts(rewards[:end], 10 * 2 ** ((end - 1) // 640).bit_length()):
                warned += 1
                break
    assert warned <= 13


def test_the_estimated_loss():
    agent = lr.Agent("RoundRobin", ["red", "green"])
    assert estimated_loss(agent.summary().to_dicts()) is None
    for choice in agent.ask(100):
        agent.tell(choice, 1.0 if choice.arm == "red" else 0.5)
    assert estimated_loss(agent.summary().to_dicts()) == 25.0


def test_no_gain_is_reported_without_a_control_arm():
    """Rarely pulled arms have means that are too small: any gain over them is too large."""
    play = Play("UCB1", ["red", "green"])
    play.agent.tell_many((choice, 1) for choice in play.agent.ask(10))
    found = summary(play.agent)
    assert set(found["loss"]) == {"against_best", "regret_bound"} and found["gain_over_control"] is None
    play = Play("UCB1", ["red", "green"], control=("red", 0.5))
    play.agent.tell_many((choice, 1) for choice in play.agent.ask(10))
    assert summary(play.agent)["gain_over_control"]["estimate"] == 0


def test_windows_in_seconds_pass():
    play = Play(expires_after=timedelta(seconds=5), default_reward=0.5)
    play.agent.ask(2)
    play.now += 60
    play.agent.ask()
    history = History(play.store)
    history.read()
    assert history.counts["defaulted"] == 2 and history.counts["expired"] == 0


def test_withdrawn_decisions_are_not_in_it(monkeypatch):
    monkeypatch.setattr(module, "READ_EVENTS", 30)
    store = MemoryStore()
    with lr.open_agent(store, "UCB1", ["red", "green"]) as agent:
        for turn in range(40):
            agent.tell(agent.ask(request=f"{'attack' if turn % 2 else 'honest'} {turn}"), 1)
        seen = History(store)
        assert seen.read() and seen.counts["told"] == 40
        assert agent.forget_where(request_prefix="attack") == 20
        assert seen.read()
    shown = seen.to_dict(True)
    assert shown["counts"]["asked"] == shown["counts"]["told"] == 20
    assert sum(period["all_told"] for period in shown["periods"]) == 20
