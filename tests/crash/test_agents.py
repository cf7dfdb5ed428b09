"""Agents killed at random moments under load: what was acknowledged is there, and nothing is there twice.

The workers are forked, so that starting one costs nothing; each opens the store itself, and keeps a diary of
what it tried and what it was answered. They are forked by a process of their own, which has no threads.
"""

import os
import signal
from collections import Counter
from itertools import filterfalse, pairwise
from random import Random
from time import sleep

import pytest
from agent_workers import (
    agent_of,
    check_replay,
    crowd,
    entries,
    is_lost,
    number,
    opened,
    reward,
    slaughter,
    worker,
)
from forked import LIMIT_SECONDS, context

KILLS, RESTARTS = 200, 20
CASES = [
    (50, 3, ["one", "two"]),
    pytest.param(KILLS, 3, ["one", "two"], marks=pytest.mark.heavy),
    pytest.param(KILLS, 2, ["default"], marks=pytest.mark.heavy),
]
"""How many workers are killed, how many are alive at once, and the agents they use."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


def events(place):
    """Read the log itself, past the agent."""
    with opened(*place) as agent:
        return agent.transactions.store.events(0)


@pytest.mark.parametrize(("kills", "at_once", "agents"), CASES)
def test_killed_many_times(tmp_path, kills, at_once, agents):
    """With several on one file they die alone or together."""
    path = str(tmp_path / "agent.db")
    with context().Pool(1) as pool:
        killed = pool.apply_async(slaughter, (path, kills, at_once, 2018, agents)).get(LIMIT_SECONDS)
    assert killed == kills
    check_all(path, tmp_path, agents, kills)


@pytest.mark.parametrize(("kills", "at_once", "agents"), CASES)
def test_killed_many_times_on_postgresql(postgres_url, tmp_path, kills, at_once, agents):
    with context().Pool(1) as pool:
        work = (postgres_url, kills, at_once, 2018, agents, tmp_path)
        killed = pool.apply_async(slaughter, work).get(LIMIT_SECONDS)
    assert killed == kills
    check_all(postgres_url, tmp_path, agents, kills)


@pytest.mark.heavy
def test_postgresql_is_stopped_at_once_and_started_twenty_times(postgres, postgres_url, tmp_path):
    """Workers go on by themselves when the server is back."""
    random, agents, grown = Random(2018), ["one", "two"], []
    with context().Pool(1) as pool:
        end = tmp_path / "end"
        ended = pool.apply_async(crowd, (postgres_url, tmp_path, end, 4, agents))
        diaries = [tmp_path / f"{seed}.diary" for seed in range(4)]
        while not all(diary.exists() for diary in diaries):
            assert not ended.ready(), ended.get()
            sleep(0.05)
        for _ in range(RESTARTS):
            sleep(random.uniform(0.2, 0.8))
            grown.append(sum(diary.stat().st_size for diary in diaries))
            postgres.stop_immediately()
            sleep(random.uniform(0.0, 0.3))
            postgres.start()
        sleep(1.0)
        end.touch()
        assert ended.get(60) == [signal.SIGKILL] * 4  # none had died of an error
    for before, after in pairwise(grown):
        assert after > before
    check_all(postgres_url, tmp_path, agents, 4)


def check_all(path, folder, agents, workers):
    """Compare the diaries of the workers with the log of each agent."""
    for agent in agents:
        turns = [turn for turn in range(workers) if agent_of(turn, agents) == agent]
        assert len(turns) >= workers / 4
        diaries, place = [entries(folder / f"{turn}.diary") for turn in turns], (path, agent)
        log = events(place)
        check_asks(place, log, *of_kind(diaries, "ask"))
        told, cut_off = of_kind(diaries, "tell")
        named, cut_off_named = of_kind(diaries, "name")  # by the request
        told += [([[key]], new) for (_, key), new in named]
        cut_off += [[[key]] for _, key in cut_off_named]
        others = {event.decision for event in log if is_observed(event)}
        own = [event for event in log if event.decision not in others]
        check_answers(own, told, cut_off, *of_kind(diaries, "forget"))
        check_observed(log, *of_kind(diaries, "observe"))
        check_conflicts(log, *of_kind(diaries, "contradict"))
        for call, kind in (("add", "added"), ("retire", "retired")):
            check_arms([event.arm for event in log if event.kind == kind], *of_kind(diaries, call))
        check_state(place, log)


def of_kind(diaries, call):
    """Give the calls of one kind that were answered, with the answers, and those cut off by a kill.

    Also those that found no server in time, some of which may have been stored.
    """
    answered, cut_off = [], []
    for diary in diaries:
        for (tried, *what), done in diary:
            if tried == call:
                if done and "connection" not in str(done[1]):
                    answered.append((what, done[1]))
                else:
                    cut_off.append(what)
    assert answered  # there was load
    assert len(cut_off) <= KILLS
    return answered, cut_off


def check_asks(place, log, answered, cut_off):
    seen = [event for event in log if event.kind == "asked"]
    assert [event.decision for event in seen] == list(range(1, len(seen) + 1))
    assert len(seen) > 50
    requests, named, unnamed = {}, {}, []
    for (count, request), choices in answered:
        assert len(choices) == count
        for key, *fields in choices:
            event = seen[number(key) - 1]  # not lost
            assert key == f"{event.key}-{event.decision}"
            assert [event.arm, event.time, event.propensity, event.timestamp] == fields
            assert event.request == request
        if request is None:
            unnamed += [number(choice[0]) for choice in choices]
        else:
            assert requests.setdefault(request, choices) == choices  # asked again, it is the same
    assert len(set(unnamed)) == len(unnamed)
    for event in filterfalse(is_observed, seen):
        named.setdefault(event.request, []).append(event.decision)
    assert len(named.pop(None)) - len(unnamed) <= sum(count for count, request in cut_off if not request)
    counts = {request: count for count, request in [*(what for what, _ in answered), *cut_off]}
    assert {request: len(numbers) for request, numbers in named.items()} == {
        request: counts[request] for request in named
    }  # whole, and once
    assert requests.keys() <= named.keys()
    with opened(*place) as agent:
        for request, choices in requests.items():
            assert [list(choice) for choice in agent.ask(len(choices), request=request)] == choices
    assert events(place) == log


def check_answers(log, told, cut_off_tells, forgot, cut_off_forgets):
    answers = [event for event in log if event.kind in ("told", "forgot")]
    known = {event.decision: event.reward for event in answers}
    assert len(known) == len(answers)  # none twice
    for event in answers:
        key = f"agent-{event.decision}"
        assert event.reward == (None if is_lost(key) else reward(key))
    tells = [(keys, new) for (keys,), new in told]
    for keys, _ in tells:
        assert {number(key) for key in keys} <= known.keys()  # none lost
    for (key,), new in forgot:
        assert number(key) in known and isinstance(new, bool)
    beyond = sum(event.kind == "told" for event in answers) - sum(new for _, new in tells)
    assert 0 <= beyond <= sum(len(keys) for (keys,) in cut_off_tells)
    beyond = sum(event.kind == "forgot" for event in answers) - sum(new for _, new in forgot)
    assert 0 <= beyond <= len(cut_off_forgets)


def is_observed(event):
    return event.kind == "asked" and event.key.startswith("observed")


def check_observed(log, answered, cut_off):
    """Each is there once, with its reward, however often it was tried and whoever was killed meanwhile."""
    rewards = {event.decision: event.reward for event in log if event.kind == "told"}
    seen = {
        event.request: [event.arm, rewards[event.decision], event.request]
        for event in filter(is_observed, log)
    }
    assert len(seen) == sum(map(is_observed, log))  # none twice
    for what, new in answered:
        assert seen[what[-1]] == what and isinstance(new, bool)  # none lost
    tried = [what for what, _ in answered] + cut_off
    assert all(what in tried for what in seen.values())
    assert sum(new for _, new in answered) <= len(seen)
    assert any(not new for _, new in answered)


def check_conflicts(log, answered, cut_off):
    refused = sum("is rejected" in answer for _, answer in answered)
    assert refused == len(answered)
    assert 0 <= sum(event.kind == "conflict" for event in log) - refused <= len(cut_off)


def check_arms(logged, answered, cut_off):
    """Of two who add or retire an arm at the same time one does it, and the other finds it done."""
    done = [arm for (arm,), answer in answered if answer is None]
    assert len(set(logged)) == len(logged)
    assert set(done) <= set(logged) <= {*done, *(arm for (arm,) in cut_off)}


def check_state(place, log):
    """The state is the replay of the log, and adds up."""
    with opened(*place) as agent:
        assert agent.transactions.store.latest_snapshot() is not None
        assert agent.verify() == len(log)
        check_replay(agent)
        table = agent.summary()
    arms = {event.decision: event.arm for event in log if event.kind == "asked"}
    pulls, sums = Counter(), Counter()
    for event in log:
        if event.kind == "told":
            pulls[arms[event.decision]] += 1
            sums[arms[event.decision]] += event.reward
    for arm, count, mean in table.select("arm", "pulls", "mean").iter_rows():
        assert count == pulls[arm]
        assert (mean or 0.0) * count == pytest.approx(sums[arm])


TOLD = {
    "some": (20, 10),
    "many": (200, 96),
}
"""How many rewards each of four processes tells alone, and how many batches of 50."""


@pytest.mark.parametrize("told", ["some", pytest.param("many", marks=pytest.mark.heavy)])
def test_four_processes_lose_and_double_nothing(tmp_path, told):
    """Sums of quarters are exact."""
    check_four(str(tmp_path / "agent.db"), *TOLD[told])


@pytest.mark.parametrize("told", ["some", pytest.param("many", marks=pytest.mark.heavy)])
def test_four_processes_on_postgresql(postgres_url, told):
    check_four(postgres_url, *TOLD[told])


def check_four(path, singles, batches):
    rewards = 4 * (singles + 50 * batches)
    with context().Pool(4) as pool:
        work = [(path, seed, singles, batches) for seed in range(4)]
        done = pool.starmap_async(worker, work).get(LIMIT_SECONDS)
    counts, sums = sum((part[0] for part in done), Counter()), sum((part[1] for part in done), Counter())
    log = events((path, "default"))
    assert counts.total() == rewards
    assert sum(event.kind == "told" for event in log) == rewards
    assert [event.decision for event in log if event.kind == "asked"] == list(range(1, rewards + 1))
    with opened(path) as agent:
        state = agent.transactions.state
        for place, arm in enumerate(state.names):
            row = state.rows[place]
            assert row["pulls"] == counts[arm]
            assert row["total"] + row["pulls"] * row["origin"] == sums[arm]
        assert agent.pending == ()
