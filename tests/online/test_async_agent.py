"""Calls that are awaited: the same results, in order, while the event loop goes on."""

import asyncio
import sqlite3

import pytest

import lowregret as lr

ARMS = ["red", "green", "blue"]


def test_awaited_calls_give_what_plain_calls_give(tmp_path):
    async def main():
        plain = lr.Agent(lr.EUCBV(), ARMS, horizon=200, seed=1)
        async with lr.AsyncAgent(lr.open_agent(tmp_path / "x.db", lr.EUCBV(), ARMS, 200, 1)) as agent:
            for step in range(40):
                choice, same = await agent.ask(request=f"visit {step}"), plain.ask()
                assert choice.arm == same.arm
                assert await agent.tell(choice, step % 2) is plain.tell(same, step % 2)
            await agent.add_arm("yellow")
            await agent.retire_arm("red")
            lost, *told = await agent.ask(3, only=["green", "blue"])
            assert await agent.forget(lost) is True
            assert await agent.forget_many([lost]) == 0
            assert await agent.tell_many((one, 1) for one in told) == 2
            assert await agent.pending() == ()
            assert (await agent.summary())["pulls"].sum() == 42
            with pytest.raises(lr.ConflictError):
                await agent.tell(told[0], 0)
            assert repr(agent).startswith("AsyncAgent(EUCBV")
        with pytest.raises(lr.InputError, match="this agent is closed: open it again"):
            await agent.ask()
        await agent.close()

    asyncio.run(main())


def test_the_loop_goes_on_while_a_call_waits(tmp_path):
    """Another process holds the file until the loop has gone on for some time."""

    async def main():
        async with lr.AsyncAgent(lr.open_agent(tmp_path / "x.db", lr.UCB1(), ARMS)) as agent:
            link = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
            link.execute("BEGIN IMMEDIATE")
            call = asyncio.create_task(agent.ask())
            for _ in range(50):  # a loop that waits with the call would wait for its timeout
                await asyncio.sleep(0.005)
                assert not call.done()
            link.close()
            assert (await call).time == 1

    asyncio.run(main())


def test_calls_made_at_once_are_all_made(tmp_path):
    async def main():
        async with lr.AsyncAgent(lr.open_agent(tmp_path / "x.db", lr.UCB1(), ARMS)) as agent:
            choices = await asyncio.gather(*(agent.ask() for _ in range(50)))
            assert [choice.time for choice in choices] == list(range(1, 51))
            told = await asyncio.gather(*(agent.tell(choice, 1) for choice in choices))
            assert all(told)

    asyncio.run(main())


def test_what_it_takes():
    with pytest.raises(lr.InputError, match="AsyncAgent takes an Agent, got 'x.db'"):
        lr.AsyncAgent("x.db")
