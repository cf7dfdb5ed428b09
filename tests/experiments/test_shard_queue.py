"""The order of shards: one policy compiles at a time, then the slowest first; and the share of the work."""

import pytest

import lowregret as lr
from lowregret.experiments.shard_queue import ShardAttempt, ShardQueue
from lowregret.experiments.sharding import Shard, make_shard_plan
from lowregret.experiments.worker import Finished

POLICIES = ["MOSS", "EUCBV", "UCB1"]


@pytest.fixture
def shards() -> tuple[Shard, ...]:
    """Three policies, three shards each of two runs of 100 steps."""
    experiment = lr.Experiment(environments="bernoulli:0.1,0.9", policies=POLICIES, horizon=100, runs=6)
    return make_shard_plan(experiment, shard_steps=200).shards


def took(seconds: float, setup_seconds: float = 0.0) -> Finished:
    return Finished(b"", "", seconds, setup_seconds)


def names(attempts: list[ShardAttempt]) -> list[tuple[str, int]]:
    return [(attempt.shard.policy.name, attempt.shard.first) for attempt in attempts]


def drain(queue: ShardQueue) -> list[ShardAttempt]:
    order = []
    while queue:
        order.append(queue.pop(1))
    return order


def test_a_worker_plays_what_is_compiled_while_another_compiles(shards: tuple[Shard, ...]) -> None:
    queue = ShardQueue(shards)
    first = queue.pop(1)
    queue.finish(first.shard, took(1.0))
    assert names([first, queue.pop(1), queue.pop(1), queue.pop(1)]) == [
        ("MOSS", 0),
        ("EUCBV", 0),  # compiles
        ("MOSS", 2),
        ("MOSS", 4),
    ]
    assert names([queue.pop(1)]) == [("UCB1", 0)]  # nothing else waits that is compiled


def test_workers_elsewhere_compile_at_once(shards: tuple[Shard, ...]) -> None:
    queue = ShardQueue(shards)
    queue.finish(queue.pop(3).shard, took(1.0))
    assert names([queue.pop(3), queue.pop(3), queue.pop(3)]) == [("EUCBV", 0), ("UCB1", 0), ("MOSS", 2)]


def test_first_runs_come_first_and_among_them_the_slowest(shards: tuple[Shard, ...]) -> None:
    queue = ShardQueue(shards)
    for seconds in (1.0, 3.0, 2.0):
        queue.finish(queue.pop(1).shard, took(seconds))
    expected = [(name, first) for first in (2, 4) for name in ("EUCBV", "UCB1", "MOSS")]
    assert names(drain(queue)) == expected


def test_a_failed_shard_waits_behind_the_others(shards: tuple[Shard, ...]) -> None:
    queue = ShardQueue(shards)
    first = queue.pop(1)
    queue.retry(first, alone=False)
    queue.finish(queue.pop(1).shard, took(1.0))
    second = queue.pop(1)
    queue.drop(second)
    order = drain(queue)
    assert len(order) == 9 - 2
    assert ShardAttempt(first.shard, failures=1) in order and second not in order


def test_a_shard_that_may_have_broken_an_executor_is_next_and_alone(shards: tuple[Shard, ...]) -> None:
    queue = ShardQueue(shards)
    queue.finish(queue.pop(1).shard, took(1.0))
    first, second = queue.pop(1), queue.pop(1)
    assert not queue.next_is_alone()
    for attempt in (first, second):
        queue.retry(attempt, alone=True)
    assert queue.next_is_alone() and queue.pop(1) == ShardAttempt(first.shard, 1, alone=True)
    queue.put_back(ShardAttempt(first.shard, 1, alone=True))  # no executor has begun it
    again = queue.pop(1)
    assert again.failures == 1 and again.shard is first.shard
    queue.retry(again, alone=True)  # it broke another one, alone
    assert queue.pop(1).shard is second.shard and not queue.next_is_alone()
    order = drain(queue)
    assert order[-1] == ShardAttempt(first.shard, 2, alone=True) and len(order) == 7
    assert not queue


def test_the_share_is_one_of_time(shards: tuple[Shard, ...]) -> None:
    queue = ShardQueue(shards)
    assert queue.share() == 0.0
    queue.finish(queue.pop(1).shard, took(1.0, 5.0))
    # 6 s are done; 2 s of this policy remain, and for each of the others 5 s and three times 1 s
    assert queue.share() == pytest.approx(6 / (6 + 2 + 2 * 8))
    queue.finish(queue.pop(1).shard, took(3.0, 1.0))
    assert queue.share() == pytest.approx(10 / (10 + 2 + 6 + 3 + 3 * 2))
    while queue:
        queue.finish(queue.pop(1).shard, took(0.1))
    assert queue.share() == 1.0
