"""Windows of decisions: early rewards wait for late ones, and what is never reported ends by itself."""

from collections import deque
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest
from agent_workers import check_replay, contents

import lowregret as lr
from lowregret.online import calls, transactions, windows

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
    second = agent.ask()
    agent.tell(first[0], 1)
    now[0] += 599
    agent.ask()
    assert agent.summary()["pulls"].sum() == 0
    now[0] += 1
    agent.ask()
    assert agent.summary()["pulls"].sum() == 2
    assert second in agent.pending
    now[0] += 10**6
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
    agent.tell_many((choice, 1) for choice in agent.ask(2))  # ends the first window
    now[0] -= 10**9
    last = agent.ask()
    now[0] += 3_599
    agent.ask()
    assert agent.summary()["pulls"].sum() == 1
    now[0] += 1
    agent.ask()
    assert agent.summary()["pulls"].sum() == 4
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
    for asking in (agent.ask, lambda: agent.transactions.together(pair)):
        agent.ask(35)
        now[0] += 4_000
        ended.clear()
        asking()
        assert [after - before for before, after in pairwise(ended)][:3] == [10, 10, 10]
        assert len(agent.pending) < 5
    agent.ask(25)
    now[0] += 4_000
    due = len(agent.pending) - (2 if window == 2 else 0)
    assert agent.forget_expired() == due > 20
    if name is not None:
        check_replay(agent)
    agent.close()
