"""Agents as text: exact, readable for ever, and bad ones refused in one sentence."""

import json
from pathlib import Path

import pytest
from helpers import Impatient

import lowregret as lr

DATA = Path(__file__).parents[1] / "data"


def released(number):
    return (DATA / f"agent-{number}.json").read_text(encoding="utf-8")


def test_the_first_format_opens_for_ever():
    agent = lr.Agent.from_json(released(1))
    assert agent.policy == lr.EUCBV(rho=0.1)
    table = agent.summary()
    assert table["arm"].to_list() == ["red", "green", "blue é", "yellow"]
    assert table["pulls"].to_list() == [216, 17, 868, 0]
    assert table["state"].to_list() == ["in play", "retired", "in play", "in play"]
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
    assert state["format"] == 1
    assert state["made_with"]["policy"] == {
        "class": "EUCBV",
        "parameters": {"rho": 0.5, "psi": None, "width": "paper"},
    }


def test_a_class_of_your_own_must_be_given():
    agent = lr.Agent(Impatient(), ["a", "b"], horizon=100)
    text = agent.to_json()
    with pytest.raises(lr.InputError, match=r"plays helpers:Impatient, a class of your own: give it"):
        lr.Agent.from_json(text)
    with pytest.raises(lr.InputError, match=r"plays helpers:Impatient\(rho=0.02.*, not EUCBV"):
        lr.Agent.from_json(text, policy=lr.EUCBV())
    with pytest.raises(lr.InputError, match=r"not Impatient\(rho=0.5\)"):
        lr.Agent.from_json(text, policy=Impatient(rho=0.5))
    assert lr.Agent.from_json(text, policy=Impatient()).ask().arm == agent.ask().arm


def edited(**changes):
    return json.dumps({**json.loads(released(1)), **changes})


def arm(place, **changes):
    arms = json.loads(released(1))["arms"]
    arms[place] |= changes
    return edited(arms=arms)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not the JSON of an agent: ''"),
        ("{", "this is not the JSON of an agent"),
        (None, "this is not the JSON of an agent: None"),
        ("[1, 2]", "this is not the JSON of an agent, which has a 'format'"),
        ('{"name": "somebody"}', "this is not the JSON of an agent, which has a 'format'"),
        ('{"format": 99}', "reads agents of format 1, got 99: use a newer one"),
        ('{"format": 1}', "this agent cannot be loaded: lowregret is missing"),
        (edited(told="many"), "told must be a whole number, got 'many'"),
        (edited(told=-1), "told must be at least 0, got -1"),
        (edited(more=1), "unknown key 'more'"),
        (edited(arms=[]), "arms must have at least one entry"),
        (arm(0, total="x"), r"arms\[0\].total must be a number, got 'x'"),
        (arm(0, total=float("nan")), r"arms\[0\].total"),
        (arm(0, name="yellow"), "two arms have one name or one number"),
        (arm(0, forgotten=10**9), "forgot more pulls than it has"),
        (edited(round={"number": 1}), "a round of EUCBV.rho=0.1. has number, until"),
        (edited(asked=3), "or one was never asked"),
        (edited(answers={"x": 1.0}), "belongs to the decision 'x', which was never asked"),
        (edited(retired=[]), "two arms have one name or one number|unknown arm"),
        (
            edited(
                made_with={
                    **json.loads(released(1))["made_with"],
                    "policy": {"class": "EUCBV", "parameters": {"rho": -1.0}},
                }
            ),
            "EUCBV: rho must be positive, got -1",
        ),
        (
            edited(
                made_with={
                    **json.loads(released(1))["made_with"],
                    "policy": {"class": "EUCBV", "parameters": {"x": 1}},
                }
            ),
            "EUCBV does not take the parameters",
        ),
    ],
)
def test_what_is_no_agent_is_refused_in_one_sentence(text, message):
    with pytest.raises(lr.InputError, match=message) as caught:
        lr.Agent.from_json(text)
    assert "\n" not in str(caught.value)
