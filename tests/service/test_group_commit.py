"""Calls that arrive together share a transaction; each is answered for itself."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

import lowregret as lr
from lowregret.online import calls
from lowregret.service import group_commit
from lowregret.service.group_commit import GroupCommit

ARMS = ["red", "green"]


def run(scenario, path, **options):
    """Run a coroutine with an agent."""

    async def main():
        with ThreadPoolExecutor(2) as threads:
            commits = GroupCommit(lr.open_agent(path, lr.UCB1(), ARMS), threads, **options)
            try:
                return await asyncio.wait_for(scenario(commits), 180)
            finally:
                await commits.close()

    return asyncio.run(main())


def ask(commits, request=None, n=1):
    return commits.call(calls.ask, n, None, request)


def test_calls_share_transactions_and_fail_alone(tmp_path):
    async def scenario(commits):
        wrong = [commits.call(calls.tell, [("x-1", 1.0)]), commits.call(calls.ask, 1, ["grey"], None)]
        found = await asyncio.gather(
            *(ask(commits, f"r{turn}") for turn in range(50)), *wrong, return_exceptions=True
        )
        return found, commits.groups, commits.calls

    found, groups, made = run(scenario, tmp_path / "a.db")
    assert [type(error) for error in found[50:]] == [lr.UnknownDecisionError, lr.InputError]
    assert sorted(choice.time for (choice,) in found[:50]) == list(range(1, 51))
    assert made == 52 and groups <= 3
    with lr.open_agent(tmp_path / "a.db") as agent:
        assert agent.verify() == 50


def test_without_group_commit_each_has_its_own(tmp_path):
    async def scenario(commits):
        await asyncio.gather(*(ask(commits) for _ in range(10)))
        return commits.groups

    assert run(scenario, tmp_path / "a.db", max_group=1) == 10


def test_readings_come_between(tmp_path):
    async def scenario(commits):
        before = [ask(commits) for _ in range(3)]
        reading = commits.read(lambda: commits.agent.time)
        after = [ask(commits) for _ in range(3)]
        found = await asyncio.gather(*before, reading, *after)
        return found[3], found[-1][0].time

    assert run(scenario, tmp_path / "a.db") == (3, 6)


def test_large_calls_are_split_into_groups(tmp_path):
    async def scenario(commits):
        found = await asyncio.gather(*(ask(commits, n=300) for _ in range(6)))
        return [choice.time for made in found for choice in made]

    assert run(scenario, tmp_path / "a.db") == list(range(1, 1801))


def test_too_many_calls_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(group_commit, "MAX_WAITING", 5)

    async def scenario(commits):
        release = Event()
        held = asyncio.create_task(commits.read(release.wait))
        await asyncio.sleep(0.05)
        waiting = [asyncio.create_task(ask(commits)) for _ in range(5)]
        await asyncio.sleep(0)
        with pytest.raises(lr.StoreError, match="more than 5 calls wait"):
            await ask(commits)
        release.set()
        await asyncio.gather(held, *waiting)

    run(scenario, tmp_path / "a.db")


def test_a_client_that_is_gone_harms_nobody(tmp_path):
    async def scenario(commits):
        gone = asyncio.create_task(ask(commits, "gone"))
        await asyncio.sleep(0)
        gone.cancel()
        (one,) = await ask(commits, "one")
        (again,) = await ask(commits, "gone")
        return one.time, again.time

    assert sorted(run(scenario, tmp_path / "a.db")) == [1, 2]


def test_a_store_that_fails_fails_all_and_is_noticed(tmp_path):
    async def scenario(commits):
        await ask(commits)
        (tmp_path / "a.db").rename(tmp_path / "b.db")
        found = await asyncio.gather(*(ask(commits) for _ in range(5)), return_exceptions=True)
        assert all(isinstance(error, lr.StoreError) for error in found) and commits.failed
        (tmp_path / "b.db").rename(tmp_path / "a.db")
        return (await ask(commits))[0].time

    assert run(scenario, tmp_path / "a.db") == 2
