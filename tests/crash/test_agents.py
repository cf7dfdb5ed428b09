"""Agents killed at random moments under load: what was acknowledged is there, and nothing is there twice.

The workers are forked, so that starting one costs nothing; each opens the store itself and says on a pipe
what it was answered. They are forked by a process of their own, which has no threads.
"""

import os
from collections import Counter
from multiprocessing import get_context

import pytest
from agent_workers import ACK, opened, slaughter, worker

KILLS = 200

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


def acknowledged(said: list[bytes]) -> tuple[list[int], dict[int, float]]:
    """Read what the workers said; a last word may be cut off."""
    asked, told = [], {}
    for words in said:
        whole = len(words) - len(words) % ACK.size
        for kind, decision, reward in ACK.iter_unpack(words[:whole]):
            if kind == b"a":
                asked.append(decision)
            else:
                assert decision not in told
                told[decision] = reward
    return asked, told


def events(path):
    """Read the log itself, past the agent."""
    agent = opened(path)
    with agent:
        return agent._ledger.store.events(0), agent.summary()


@pytest.mark.parametrize("name", ["agent.db", "agent.journal"])
def test_killed_two_hundred_times(tmp_path, name):
    path = str(tmp_path / name)
    with get_context("spawn").Pool(1) as pool:
        said, killed = pool.apply(slaughter, (path, KILLS, 2018))
    assert killed == KILLS
    asked, told = acknowledged(said)
    log, summary = events(path)
    seen = {event.decision: event for event in log if event.kind == "asked"}
    answers = [event for event in log if event.kind == "told"]
    assert len(seen) == sum(event.kind == "asked" for event in log)  # none twice
    assert len({event.decision for event in answers}) == len(answers)
    assert sorted(seen) == list(range(1, len(seen) + 1))
    assert set(asked) <= set(seen)  # none lost
    rewards = {event.decision: event.reward for event in answers}
    assert told.items() <= rewards.items()
    assert len(told) > 2 * KILLS  # there was load
    # What is there beyond the acknowledged is at most what each worker was doing when it died.
    assert len(seen) - len(asked) <= 2 * KILLS
    assert len(rewards) - len(told) <= KILLS
    pulls = Counter(seen[event.decision].arm for event in answers)
    sums = Counter()
    for event in answers:
        sums[seen[event.decision].arm] += event.reward
    for arm, count, mean in summary.select("arm", "pulls", "mean").iter_rows():
        assert count == pulls[arm]
        assert mean * count == pytest.approx(sums[arm])


def test_four_processes_lose_and_double_nothing(tmp_path):
    """20,000 rewards: 4 times 200 alone and 96 batches of 50. Sums of quarters are exact."""
    path = str(tmp_path / "agent.db")
    with get_context("spawn").Pool(4) as pool:
        done = pool.starmap(worker, [(path, seed, 200, 96) for seed in range(4)])
    counts, sums = sum((part[0] for part in done), Counter()), sum((part[1] for part in done), Counter())
    log, _ = events(path)
    assert counts.total() == 20_000
    assert sum(event.kind == "told" for event in log) == 20_000
    assert [event.decision for event in log if event.kind == "asked"] == list(range(1, 20_001))
    with opened(path) as agent:
        core = agent._ledger.core
        for place, arm in enumerate(core.names):
            row = core.rows[place]
            assert row["pulls"] == counts[arm]
            assert row["total"] + row["pulls"] * row["origin"] == sums[arm]
        assert agent.pending == ()
