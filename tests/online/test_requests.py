"""A decision by the name of its request, wherever its id is taken."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from serving import AGENT, served
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.online import agent_state, calls
from lowregret.online.decisions import Request
from lowregret.service.group_commit import GroupCommit

ARMS = ["red", "green"]


@pytest.fixture(params=["memory", "sqlite", "postgresql", "remote"])
def agent(request, tmp_path):
    if request.param == "memory":
        yield lr.Agent(lr.UCB1(), ARMS)
    elif request.param == "remote":
        with served(tmp_path / "a.db") as client, lr.connect(str(client.base_url), "UCB1", ARMS) as remote:
            yield remote
    else:
        where = tmp_path / "a.db"
        if request.param == "postgresql":
            where = request.getfixturevalue("postgres_url")
        with lr.open_agent(where, lr.UCB1(), ARMS) as stored:
            yield stored


def test_a_request_stands_for_its_decision(agent):
    choice = agent.ask(request="visit 17")
    assert agent.tell(request="visit 17", reward=0.5) is True
    assert agent.tell(choice, 0.5) is False and agent.tell(request="visit 17", reward=0.5) is False
    with pytest.raises(lr.ConflictError, match="has the reward 0.5: the reward 1.0 is rejected"):
        agent.tell(request="visit 17", reward=1)
    assert agent.conflicts == 1
    with pytest.raises(lr.ConflictError, match="cannot be discarded"):
        agent.forget(request="visit 17")
    lost = agent.ask(request="visit 18")
    assert agent.forget(request="visit 18") is True and agent.forget(lost) is False
    assert agent.time == 1 and agent.pending == ()
    third, _ = agent.ask(request="third"), agent.ask(request="fourth")
    assert agent.tell_many([(lr.Request("visit 17"), 0.5), (lr.Request("third"), 1), (third, 1)]) == 1
    assert agent.forget_many([lr.Request("fourth"), lost]) == 1


def test_what_names_no_decision_or_several_is_refused(agent):
    agent.ask(2, request="two")
    with pytest.raises(lr.UnknownDecisionError, match="unknown request 'nobody': this agent made no"):
        agent.tell(request="nobody", reward=1)
    with pytest.raises(lr.InputError, match="request 'two' made 2 decisions: name each by its id"):
        agent.tell(request="two", reward=1)
    for arguments in ({"reward": 1}, {"decision": "x-1", "request": "two", "reward": 1}):
        with pytest.raises(lr.InputError, match="one of the two"):
            agent.tell(**arguments)
    with pytest.raises(lr.InputError, match="must not be empty"):
        agent.tell(request="", reward=1)
    agent.ask(request="one")
    with pytest.raises(lr.InputError, match="tell: pass the reward as well"):
        agent.tell(request="one")
    assert len(agent.pending) == 3 and agent.conflicts == 0


def test_the_store_remembers_what_memory_has_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(agent_state, "MAX_REMEMBERED", 2)
    with lr.open_agent(tmp_path / "a.db", lr.UCB1(), ARMS) as agent:
        for visit in range(5):
            agent.ask(request=str(visit))
        assert agent.tell(request="0", reward=1) is True
        assert agent.erase_request("1") == 1
        with pytest.raises(lr.UnknownDecisionError):
            agent.tell(request="1", reward=1)


def test_an_async_agent(tmp_path):
    async def main():
        async with lr.AsyncAgent(lr.Agent(lr.UCB1(), ARMS)) as agent:
            await agent.ask(request="visit 17")
            return await agent.tell(request="visit 17", reward=1)

    assert asyncio.run(main()) is True


def test_calls_of_one_transaction_find_the_requests_of_each_other(tmp_path):
    """Requests of asks and tells are looked up at once; a tell finds an ask of the same group."""

    async def main():
        with ThreadPoolExecutor(2) as threads:
            commits = GroupCommit(lr.open_agent(tmp_path / "a.db", lr.UCB1(), ARMS), threads)
            asks = [commits.call(calls.ask, 1, None, name) for name in ("a", "b", "c")]
            tells = [commits.call(calls.tell, [(Request(name), 1.0)]) for name in ("b", "c", "d")]
            found = await asyncio.wait_for(asyncio.gather(*asks, *tells, return_exceptions=True), 180)
            await commits.close()
            return found[3:]

    told, again, unknown = asyncio.run(main())
    assert (told, again, type(unknown)) == (1, 1, lr.UnknownDecisionError)


def test_over_http_ids_and_requests_may_be_mixed(tmp_path):
    with served(tmp_path / "a.db") as client:
        client.post("/v1/agents", json=AGENT)
        path = "/v1/agents/buttons"
        ids = [client.post(f"{path}/ask", json={"request": r}).json()["decisions"][0]["id"] for r in "abc"]
        rewards = [{"id": ids[0], "reward": 1}, {"request": "b", "reward": 0}]
        assert client.post(f"{path}/tell", json={"rewards": rewards}).json() == {"new": 2}
        assert client.post(f"{path}/forget", json={"requests": ["c"]}).json() == {"new": 1}
        for wrong in ({"reward": 1}, {"id": ids[0], "request": "b", "reward": 1}, {"id": None, "reward": 1}):
            answer = client.post(f"{path}/tell", json={"rewards": [wrong]})
            assert answer.status_code == 400 and "an id or a request" in answer.json()["detail"]


def test_the_command(tmp_path):
    path = str(tmp_path / "a.db")
    with lr.open_agent(path, lr.UCB1(), ARMS, name="buttons") as agent:
        agent.ask(request="visit 17")
        other = agent.ask()

    def called(*words, code=0):
        result = CliRunner().invoke(app, ["agent", "tell", path, *words])
        assert result.exit_code == code, result.output
        return result.output.strip()

    assert called("1", "--request", "visit 17") == "recorded"
    assert called("1", "buttons", "--request", "visit 17") == "recorded before"
    assert called("0.5", "--id", other.id) == "recorded"
    assert "is rejected" in called("0", "--request", "visit 17", code=2)
