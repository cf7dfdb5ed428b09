"""Agents as text: exact, readable for ever, and bad ones refused in one sentence."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from helpers import Impatient

import lowregret as lr
from lowregret.online import transactions
from lowregret.service.views import metrics

RELEASED = (Path(__file__).parents[1] / "data" / "agent-2.json").read_text(encoding="utf-8")


ADJUSTED = Path(__file__).parents[1] / "data" / "agents-2-adjusted.json"


@pytest.mark.parametrize("kind", ["period", "prior"])
def test_agents_whose_policy_sees_adjusted_arms_open_and_continue(kind):
    """The version that stored them held the adjusted statistics in the rows of its arms."""
    stored = json.loads(ADJUSTED.read_text(encoding="utf-8"))[kind]
    agent, arms, used = lr.Agent.from_json(json.dumps(stored["agent"])), ["a", "b", "c"], stored["used"]
    table = np.random.RandomState(5).random_sample((3, 400)) < np.array([[0.2], [0.4], [0.5]])
    chosen = []
    for step in range(40):
        choice = agent.ask()
        arm = arms.index(choice.arm)
        agent.tell(choice, 0.7 * float(table[arm][used[arm]]))
        used[arm] += 1
        chosen.append(arm)
        if step == 20:
            agent = lr.Agent.from_json(agent.to_json())
    assert chosen == stored["choices"]


def test_format_2_opens_for_ever():
    agent = lr.Agent.from_json(RELEASED)
    assert agent.policy == lr.EUCBV(rho=0.1)
    table = agent.summary()
    assert table["arm"].to_list() == ["red", "green", "blue é", "yellow"]
    assert table["pulls"].to_list() == [216, 17, 868, 0]
    assert table["state"].to_list() == ["active", "retired", "active", "active"]
    assert agent.conflicts == 1
    assert [choice.arm for choice in agent.ask(2, request="visits")] == ["blue é", "blue é"]
    arms = []
    for step in range(12):
        choice = agent.ask()
        arms.append(choice.arm)
        agent.tell(choice, step % 5 / 2)
    assert arms == [
        "blue é",
        "red",
        "blue é",
        "blue é",
        "blue é",
        "blue é",
        "blue é",
        "red",
        "blue é",
        "blue é",
        "blue é",
        "blue é",
    ]


def test_it_is_plain_json_with_a_format():
    text = lr.Agent(lr.EUCBV(), ["a", "b"], horizon=100).to_json()
    state = json.loads(text, parse_constant=lambda word: pytest.fail(word))
    assert state["format"] == 2
    assert state["made_with"]["policy"] == {
        "class": "EUCBV",
        "parameters": {"rho": 0.5, "psi": None, "width": "paper"},
    }


def test_a_class_of_your_own_must_be_given():
    agent = lr.Agent(Impatient(), ["a", "b"], horizon=100)
    text = agent.to_json()
    with pytest.raises(lr.InputError, match=r"uses helpers:Impatient\(.*\), which is not part of lowregret"):
        lr.Agent.from_json(text)
    with pytest.raises(lr.InputError, match=r"uses helpers:Impatient\(rho=0.02.*, not EUCBV"):
        lr.Agent.from_json(text, policy=lr.EUCBV())
    with pytest.raises(lr.InputError, match=r"not Impatient\(rho=0.5\)"):
        lr.Agent.from_json(text, policy=Impatient(rho=0.5))
    assert lr.Agent.from_json(text, policy=Impatient()).ask().arm == agent.ask().arm


def edited(**changes):
    return json.dumps({**json.loads(RELEASED), **changes})


ROUND = json.loads(RELEASED)["round"]


def arm(place, **changes):
    arms = json.loads(RELEASED)["arms"]
    for column, value in changes.items():
        arms[column][place] = value
    return edited(arms=arms)


NO_ARMS = {column: [] for column in json.loads(RELEASED)["arms"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not the JSON of an agent: ''"),
        ("{", "not the JSON of an agent"),
        (None, "not the JSON of an agent: None"),
        ("[1, 2]", "not the JSON of an agent, which has a 'format'"),
        ('{"name": "somebody"}', "not the JSON of an agent, which has a 'format'"),
        ('{"format": 99}', "reads agents of format 2, got 99: a newer one wrote it, so upgrade"),
        ('{"format": 1}', "reads agents of format 2, got 1: use the version that wrote it"),
        ('{"format": 2}', "this agent cannot be loaded: lowregret is missing"),
        (edited(told="many"), "told must be an integer, got 'many'"),
        (edited(told=-1), "told must be at least 0, got -1"),
        (edited(more=1), "unknown key 'more'"),
        (edited(arms=NO_ARMS), "arms must have at least one entry"),
        (arm(0, total="x"), r"arms.total\[0\] must be a number, got 'x'"),
        (arm(0, total=float("nan")), r"arms.total\[0\]"),
        (arm(0, name="yellow"), "two arms have the same name or number"),
        (arm(0, reset=10**9), "more forgotten pulls than pulls"),
        (edited(round={"number": 1}), "a round of EUCBV.rho=0.1. has number, until"),
        (edited(asked=3), "occurs twice, or was never used"),
        (edited(answers={"k-x": 1.0}), "belongs to decision 'k-x', which was never made"),
        (edited(answers={"9" * 5_000: 1.0}), "belongs to decision '9999.*, which was never made"),
        (
            edited(round={**ROUND, "width": -1.0}),
            r"EUCBV\(rho=0.1\) cannot choose an arm from it: math domain",
        ),
        (edited(told=1_100), "the arms have 1101 pulls in total, but 1100 rewards are known"),
        (edited(retired=NO_ARMS), "two arms have the same name or number|unknown arm"),
        (
            edited(
                made_with={
                    **json.loads(RELEASED)["made_with"],
                    "policy": {"class": "EUCBV", "parameters": {"rho": -1.0}},
                }
            ),
            "EUCBV: rho must be positive, got -1",
        ),
        (
            edited(
                made_with={
                    **json.loads(RELEASED)["made_with"],
                    "policy": {"class": "EUCBV", "parameters": {"x": 1}},
                }
            ),
            "EUCBV: unknown parameter",
        ),
    ],
)
def test_what_is_no_agent_is_refused_in_one_sentence(text, message):
    with pytest.raises(lr.InputError, match=message) as caught:
        lr.Agent.from_json(text)
    assert "\n" not in str(caught.value)


def test_a_policy_of_one_arm_is_loaded_after_another_arm_has_left(tmp_path, monkeypatch):
    """The policy fits the arms it was made with, and need not fit those that are left."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 2)
    made_with = lr.FixedArm(2), ["a", "b", "c"]
    with lr.open_agent(tmp_path / "agent.db", *made_with) as agent:
        agent.retire_arm("a")
        agent.tell(agent.ask(), 1)
        assert lr.Agent.from_json(agent.to_json()).ask().arm == "c"
    with lr.open_agent(tmp_path / "agent.db", *made_with) as agent:
        assert agent.transactions.store.latest_snapshot() is not None
        assert agent.ask().arm == "c"


class Halved(NamedTuple):
    number: int
    until: int
    gap: float
    width: float


class Halving(lr.Policy):
    """Rounds whose numbers begin whole and do not stay so."""

    def first_round(self, clock):
        return Halved(0, 5, 1, 1.0)

    def score(self, arm, clock, round):
        return arm.mean - round.gap * arm.pulls

    def next_round(self, arms, clock, round):
        return Halved(round.number + 1, round.until + 5, round.gap / 2, float("inf"))


def test_the_numbers_of_a_round_are_those_that_were_written():
    agent = lr.Agent(Halving(), ["a", "b"], horizon=100)
    for _ in range(12):
        agent.tell(agent.ask(), 0.5)
    loaded = lr.Agent.from_json(agent.to_json(), Halving())
    rounds = [each.transactions.state.round for each in (agent, loaded)]
    assert rounds == [Halved(2, 15, 0.25, float("inf"))] * 2


def test_coins_go_on_after_a_decision_was_given_up():
    """Asked and given up 400 times at one time; outside 60 to 140 of the other arm has odds below 1e-5."""
    agent = lr.Agent(lr.EpsilonGreedy(0.5), ["a", "b"], seed=1)
    for _ in range(10):
        choice = agent.ask()
        agent.tell(choice, float(choice.arm == "a"))
    arms = []
    for step in range(400):
        if step == 200:
            agent = lr.Agent.from_json(agent.to_json())
        choice = agent.ask()
        assert choice.propensity == {"a": 0.75, "b": 0.25}[choice.arm]
        arms.append(choice.arm)
        agent.forget(choice)
    assert 60 < arms.count("b") < 140
    assert arms[:200] != arms[200:]


def test_defaults_are_counted_apart_and_stored(tmp_path):
    with lr.open_agent(tmp_path / "a.db", "UCB1", ["a", "b"], matures_after=5, default_reward=0) as agent:
        agent.tell_many((choice, 0) for choice in agent.ask(10)[:3])
        agent.ask(5)
        assert metrics(agent)["rewards"] == 3 and metrics(agent)["defaults"] == 2
        text = agent.to_json()
    assert metrics(lr.Agent.from_json(text))["defaults"] == 2
    with lr.open_agent(tmp_path / "a.db") as agent:
        assert metrics(agent)["defaults"] == 2 and agent.verify() == 19
        agent.transactions.state.models[0]["defaulted"] = 0  # as a snapshot of an older version has it
        assert agent.verify() == 19
