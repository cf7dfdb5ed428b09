"""Windows of decisions: early rewards wait for late ones, and what is never reported ends by itself."""

from collections import deque
from datetime import timedelta
from itertools import pairwise
from random import Random
from time import time

import polars as pl
import pytest
from agent_workers import check_replay, contents

import lowregret as lr
from lowregret.online import calls, clock_readings, stores, transactions, windows

ARMS = ["red", "green", "blue"]
MEANS = {"red": 0.2, "green": 0.5, "blue": 0.8}
PLACES = [None, "agent.db"]


def made(folder, name, policy=None, **changed):
    given = {"horizon": 400, "seed": 3, **changed}
    if name is None:
        return lr.Agent(policy or lr.UCB1(), ARMS, **given)
    return lr.open_agent(folder / name, policy or lr.UCB1(), ARMS, **given)


@pytest.mark.parametrize("policy", [lr.UCB1(), lr.EUCBV(), lr.ThompsonBeta()], ids=str)
def test_rewards_in_a_window_count_as_if_all_were_reported_at_its_end(policy):
    """Reported at once, in any order or, if they are 0, never: the choices are the same."""
    windowed = made(None, None, policy, matures_after=25, default_reward=0)
    plain, random = made(None, None, policy), Random(1)
    due, early = deque(), []
    for _ in range(400):
        while due and due[0][0].time <= plain.time - 25:
            plain.tell(*due.popleft())
        choice, same = windowed.ask(), plain.ask()
        assert (choice.arm, choice.time) == (same.arm, same.time)
        reward = float(random.random() < MEANS[choice.arm])
        due.append((same, reward))
        if reward or random.random() < 0.3:
            early.append((choice, reward))
        if random.random() < 0.5:  # all within the window
            random.shuffle(early)
            windowed.tell_many(early)
            early = []
    assert windowed.summary()["pulls"].sum() == 374
    assert windowed.summary().equals(plain.summary())


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("default", [0.25, None])
def test_what_is_not_reported_in_time_has_the_default_or_is_discarded(tmp_path, name, default):
    agent = made(tmp_path, name, matures_after=3, default_reward=default)
    told, late, *_ = agent.ask(3)
    assert agent.tell(told, 1) is True
    assert agent.summary()["pulls"].sum() == 0
    assert late in agent.pending and told not in agent.pending
    assert agent.tell(told, 1) is False
    with pytest.raises(lr.ConflictError, match=r"has the reward 1.0: the reward 0.0 is rejected"):
        agent.tell(told, 0)
    with pytest.raises(lr.ConflictError, match=r"has the reward 1.0: it cannot be discarded"):
        agent.forget(told)
    agent.ask(2)
    assert agent.tell(late, 1) if default is None else True  # windows end when the agent is asked
    agent.ask()
    expected = {told.arm: 1.0} if default is not None else {told.arm: 1.0, late.arm: 1.0}
    if default is not None:
        expected[late.arm] = default
    known = agent.summary().filter(pulls=1)
    assert dict(zip(known["arm"], known["mean"], strict=True)) == pytest.approx(expected)
    third = agent.pending[0]
    agent.ask()
    rejected = "was discarded" if default is None else "has the reward 0.25"
    with pytest.raises(lr.ConflictError, match=f"{rejected}: the reward 1.0 is rejected"):
        agent.tell(third, 1)
    if default is not None:
        assert agent.tell(third, default) is False
    if name is not None:
        check_replay(agent)
    agent.close()


@pytest.mark.parametrize("name", PLACES)
def test_a_window_in_time(tmp_path, name):
    now = [1_000.0]
    agent = made(tmp_path, name, matures_after=timedelta(hours=1), default_reward=0, clock=lambda: now[0])
    first = agent.ask(2)
    now[0] += 3_000
    agent.tell(first[0], 1)  # so that the next reading is not the only one that is far ahead
    second = agent.ask()
    now[0] += 599
    agent.ask()
    assert agent.summary()["pulls"].sum() == 0
    now[0] += 1
    agent.ask()
    assert agent.summary()["pulls"].sum() == 2
    assert second in agent.pending
    now[0] += 10**6
    assert agent.forget_expired() == 0
    assert agent.forget_expired() == 3
    assert agent.forget_expired() == 0
    assert agent.pending == ()
    if name is not None:
        check_replay(agent)
    agent.close()


@pytest.mark.parametrize("name", PLACES)
def test_decisions_expire(tmp_path, name):
    """Rewards count at once; the time that is never reported does not pile up."""
    agent = made(tmp_path, name, expires_after=10)
    for step in range(100):
        choice = agent.ask()
        if step % 4:
            agent.tell(choice, 1)
            assert choice not in agent.pending
    assert agent.summary()["pulls"].sum() == 75
    assert len(agent.pending) == 2
    assert agent.time == 77
    agent.ask(3)
    assert agent.forget_expired() == 1
    if name is not None:
        check_replay(agent)
    agent.close()


def test_pending_has_one_meaning_in_what_an_agent_prints():
    agent = lr.Agent(lr.UCB1(), ["a", "b"], matures_after=50)
    choices = agent.ask(6)
    agent.tell(choices[0], 1)
    assert len(agent.pending) == 5 and agent.summary()["pending"].sum() == 6
    text = str(agent)
    assert "pending 5" in text and "pending in the table: also 1 reported, which count when windows" in text


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize(
    "window", [{"matures_after": 7}, {"expires_after": 7}, {"matures_after": timedelta(0, 9)}]
)
def test_an_agent_with_a_window_goes_on_exactly(tmp_path, name, window, monkeypatch):
    """Closed and opened again at random moments, with arms that come and go."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 11)
    ticks, random = iter(range(10**6)), Random(2)
    given = {"default_reward": 0.5, "clock": lambda: float(next(ticks)), **window}
    agent, twin_ticks = made(tmp_path, name, **given), iter(range(10**6))
    twin = made(None, None, **{**given, "clock": lambda: float(next(twin_ticks))})
    for step in range(150):
        pairs = list(zip(agent.ask(2), twin.ask(2), strict=True))
        assert [one.arm for one, _ in pairs] == [other.arm for _, other in pairs]
        for one, other in pairs:
            if random.random() < 0.6:
                reward = random.random()
                agent.tell(one, reward), twin.tell(other, reward)
            elif random.random() < 0.3:
                agent.forget(one), twin.forget(other)
        if step == 60:
            for each in (agent, twin):
                each.add_arm("new")
                each.retire_arm("blue")
        if step % 13 == 0:
            text = agent.to_json()
            agent.close()
            if name is None:
                agent = lr.Agent.from_json(text)
                agent.transactions.clock = given["clock"]
            else:
                agent = made(tmp_path, name, **given)
        assert len(agent.pending) == len(twin.pending)
    one, other = contents(agent), contents(twin)
    for key in ("answers", "requests"):
        del one[key], other[key]
    assert one == other
    agent.close()


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({"matures_after": 0}, "matures_after must be a number of decisions or a datetime.timedelta, got 0"),
        ({"matures_after": 2.5}, "must be a number of decisions or a datetime.timedelta, got 2.5"),
        ({"expires_after": "1h"}, "expires_after must be a number of decisions or .*, got '1h'"),
        ({"expires_after": timedelta(0)}, "expires_after must be a positive time, got 0:00:00"),
        ({"matures_after": 2, "expires_after": 2}, "pass matures_after or expires_after, not both"),
        ({"default_reward": 0}, "default_reward needs matures_after or expires_after"),
        ({"matures_after": 2, "default_reward": 2}, r"reward 2.0 lies outside \[0, 1\]"),
        ({"matures_after": 2, "default_reward": "x"}, "a reward must be a finite number, got 'x'"),
    ],
)
def test_windows_that_make_no_sense(window, message):
    with pytest.raises(lr.InputError, match=message):
        made(None, None, **window)


@pytest.mark.parametrize("name", PLACES)
def test_forget_many(tmp_path, name):
    agent = made(tmp_path, name)
    first, second, *others = agent.ask(5)
    agent.tell(first, 1)
    with pytest.raises(lr.ConflictError):
        agent.forget_many([second, first])
    assert second in agent.pending  # all or none
    assert agent.forget_many([second, second.id, *others]) == 4
    assert agent.forget_many(others) == 0
    assert (agent.time, agent.pending) == (1, ())
    for bad in ("id", second, 7):
        with pytest.raises(lr.InputError, match="forget_many takes a list of decisions"):
            agent.forget_many(bad)
    agent.close()


@pytest.mark.parametrize("name", PLACES)
def test_a_clock_that_was_ahead_does_not_stop_windows_for_ever(tmp_path, name):
    """What was asked meanwhile ends with the next decision whose window has ended."""
    now = [1_000.0]
    agent = made(tmp_path, name, matures_after=timedelta(hours=1), default_reward=0, clock=lambda: now[0])
    agent.ask()
    now[0] += 10**9
    agent.tell_many((choice, 1) for choice in agent.ask(2))
    agent.preview()
    agent.tell(agent.ask(), 1)  # ends the first window, since three readings have agreed
    assert agent.summary()["pulls"].sum() == 1
    now[0] -= 10**9
    last = agent.ask()
    now[0] += 3_599
    agent.preview()
    agent.ask()
    assert agent.summary()["pulls"].sum() == 1
    now[0] += 1
    agent.ask()
    assert agent.summary()["pulls"].sum() == 5
    assert last not in agent.pending and len(agent.pending) == 2
    if name is not None:
        check_replay(agent)
    agent.close()


@pytest.mark.parametrize("window", [timedelta(hours=1), 2])
@pytest.mark.parametrize("name", PLACES)
def test_many_windows_end_in_parts_between_which_others_are_not_kept_waiting(
    tmp_path, monkeypatch, name, window
):
    monkeypatch.setattr(windows, "MAX_ENDED", 10, raising=False)
    now, ended = [1_000.0], []
    agent = made(tmp_path, name, matures_after=window, default_reward=0, clock=lambda: now[0])
    session = agent.transactions.store.session

    def recorded(timeout):
        ended.append(agent.transactions.state.matured)
        return session(timeout)

    monkeypatch.setattr(agent.transactions.store, "session", recorded)
    pair = [(calls.ask, (1, None, None))] * 2
    for asking in (agent.ask, lambda: agent.transactions.execute_group(pair)):
        agent.ask(35)
        now[0] += 4_000
        agent.preview()
        ended.clear()
        asking()
        assert [after - before for before, after in pairwise(ended)][:3] == [10, 10, 10]
        assert len(agent.pending) < 5
    agent.ask(25)
    now[0] += 4_000
    agent.preview()
    due = len(agent.pending) - (2 if window == 2 else 0)
    assert agent.forget_expired() == due > 20
    if name is not None:
        check_replay(agent)
    agent.close()


class Clocks:
    """A clock of the user or the system, and the monotonic one, which goes on with the right time."""

    def __init__(self, monkeypatch, right=1_000.0):
        self.right, self.ahead = right, 0.0
        monkeypatch.setattr(clock_readings, "monotonic", lambda: self.right)

    def __call__(self):
        return self.right + self.ahead


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("jump", [3_601.0, 25 * 3_600.0, 3e7])
def test_one_reading_that_is_ahead_ends_no_window(tmp_path, monkeypatch, name, jump):
    """A click half a day after its decision still counts, although a clock was ahead for one ask."""
    clock, day = Clocks(monkeypatch), timedelta(days=1)
    agent = made(tmp_path, name, matures_after=day, default_reward=0, clock=clock)
    waiting = deque()
    for hour in range(60):
        clock.right += 3_600.0
        clock.ahead = jump if hour == 30 else 0.0
        waiting.append(agent.ask())
        clock.ahead = 0.0
        if len(waiting) > 12:
            assert agent.tell(waiting.popleft(), 1)
    assert agent.summary().filter(pl.col("pulls") > 0)["mean"].to_list() == [1.0] * 3
    assert len(agent.pending) == 12
    assert any(note.startswith("the clock was") for note in agent.notes)
    if name is not None:
        check_replay(agent)
    agent.close()


def test_a_clock_that_stays_ahead_is_believed_at_the_second_reading(monkeypatch):
    clock = Clocks(monkeypatch)
    agent = made(None, None, matures_after=timedelta(hours=1), default_reward=0, clock=clock)
    agent.ask(3)
    clock.ahead = 7_200.0
    agent.ask()
    assert agent.summary()["pulls"].sum() == 0
    agent.ask()
    assert agent.summary()["pulls"].sum() == 3


def test_a_reading_that_is_ahead_ends_the_windows_that_are_due_without_it(monkeypatch):
    clock = Clocks(monkeypatch)
    agent = made(None, None, matures_after=timedelta(hours=1), default_reward=0, clock=clock)
    agent.ask(3)
    clock.right += 1_800.0
    agent.ask(2)
    clock.right, clock.ahead = clock.right + 1_801.0, 1e6
    agent.ask()
    assert agent.summary()["pulls"].sum() == 3


@pytest.mark.parametrize("opened_again", [False, True])
def test_an_agent_that_nobody_asks_for_a_day_ends_its_windows_at_the_next_ask(
    tmp_path, monkeypatch, opened_again
):
    """In a process that goes on, and in one that is started for each decision, by the clock of the system."""
    clock = Clocks(monkeypatch, right=1.7e9)
    monkeypatch.setattr(stores.Store, "time", staticmethod(clock))
    options = {"matures_after": timedelta(hours=1), "default_reward": 0}
    agent = made(tmp_path, "agent.db", **options)
    agent.ask(3)
    clock.right += 86_400.0
    if opened_again:
        agent.close()
        agent = made(tmp_path, "agent.db", **options)
    agent.ask()
    assert agent.summary()["pulls"].sum() == 3
    agent.close()


def test_the_first_call_of_a_process_may_be_the_one_whose_reading_is_ahead(tmp_path, monkeypatch):
    """It was opened before the decisions of others."""
    clock = Clocks(monkeypatch, right=1.7e9)
    monkeypatch.setattr(stores.Store, "time", staticmethod(clock))
    options = {"matures_after": timedelta(hours=1), "default_reward": 0}
    with made(tmp_path, "agent.db", **options) as agent, made(tmp_path, "agent.db", **options) as other:
        agent.ask(3)
        clock.ahead = 90_000.0
        other.ask()
        assert other.summary()["pulls"].sum() == 0


def test_a_clock_behind_the_latest_event_is_noted_and_logged(tmp_path, caplog):
    now = [1e6]
    with made(tmp_path, "agent.db", clock=lambda: now[0]) as agent:
        agent.tell(agent.ask(), 1)
    with made(tmp_path, "agent.db", clock=lambda: now[0] - 59.0) as agent:
        agent.tell(agent.ask(), 1)
        assert agent.notes == () and not caplog.records
    other = made(tmp_path, "agent.db", clock=lambda: now[0] - 90_000.0)
    with made(tmp_path, "agent.db", clock=lambda: now[0]) as agent:
        agent.ask()
        other.ask(3)  # of another host
        assert agent.notes == ()
    assert other.notes[0].startswith("the clock was 1 day, 1:00:00 behind the latest event or reading")
    assert [record.getMessage()[:21] for record in caplog.records] == ["agent default: the cl"]
    other.close()


def test_the_server_of_several_hosts_gives_the_time(postgres_url, monkeypatch):
    monkeypatch.setattr(stores.Store, "time", lambda _: 0.0)  # a host with a wrong clock
    with lr.open_agent(postgres_url, lr.UCB1(), ARMS, name="server-time") as agent:
        before = time()
        choice = agent.ask()
        agent.tell(choice, 1)
        assert all(abs(stamp.timestamp() - before) < 60.0 for stamp in agent.events()["timestamp"])
        assert abs(agent.transactions.clock() - before) < 60.0
    with lr.open_agent(postgres_url, name="server-time", clock=lambda: 7.0) as agent:
        assert agent.ask().timestamp == 7.0
