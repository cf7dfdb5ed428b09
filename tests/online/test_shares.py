"""Minimum shares and the control arm: their probabilities, their randomness, and what is stored."""

import json
from collections import Counter

import pytest

import lowregret as lr

ARMS = ["a", "b", "c", "d"]
RATES = {"a": 0.2, "b": 0.4, "c": 0.6, "d": 0.8}


def play(agent, steps, reward=lambda step, arm: (step * 7919 % 1000) / 1000 < RATES[arm]):
    """Ask and tell; return the decisions."""
    made = []
    for step in range(steps):
        made.append(agent.ask())
        agent.tell(made[-1], float(reward(step, made[-1].arm)))
    return made


@pytest.mark.parametrize("policy", ["EUCBV", "UCB1", "ThompsonBeta", "EpsilonGreedy", "RoundRobin"])
@pytest.mark.parametrize("control", [None, ("b", 0.15)])
def test_the_propensities_are_right(policy, control):
    """An arm has a propensity of 0.05 or, if the policy is sure, of what the others leave.

    The mean of 1{arm} / p is 1 for every arm within 4.5 of its standard deviations, at most sqrt(20 / n), but
    for once in 10,000.
    """
    agent = lr.Agent(policy, ARMS, 3_000, seed=3, minimum_share=0.05, control=control)
    made = play(agent, 3_000)
    inverse = Counter()
    for choice in made:
        inverse[choice.arm] += 1 / choice.propensity / 3_000
        assert choice.propensity >= 0.05
        if control and choice.arm == "b":
            assert choice.propensity == 0.15
        elif policy in ("EUCBV", "UCB1", "RoundRobin"):
            most = 1 - 3 * 0.05 if control is None else 1 - 0.15 - 2 * 0.05
            assert choice.propensity == pytest.approx(0.05) or choice.propensity == pytest.approx(most)
    for arm in ARMS:
        assert abs(inverse[arm] - 1) < 4.5 * (20 / 3_000) ** 0.5
    if control:
        held = sum(choice.arm == "b" for choice in made)
        assert abs(held / 3_000 - 0.15) < 4.5 * (0.15 * 0.85 / 3_000) ** 0.5


def test_without_shares_choices_are_those_of_before_and_with_them_a_function_of_the_seed():
    plain, zero = (lr.Agent("EUCBV", ARMS, 500, seed=4, **more) for more in ({}, {"minimum_share": 0.0}))
    assert [c.arm for c in play(plain, 300)] == [c.arm for c in play(zero, 300)]
    runs = []
    for seed, compiled in ((4, False), (4, True), (5, False)):
        agent = lr.Agent("EUCBV", ARMS, 500, seed=seed, minimum_share=0.1, control=("d", 0.2))
        runs.append([c[1:4] for c in play(agent.compile() if compiled else agent, 300)])
    assert runs[0] == runs[1] != runs[2]


def test_a_draw_belongs_to_a_decision_number_and_is_not_repeated():
    """After a decision is discarded the time goes back, but the draw does not come again."""
    agent = lr.Agent("UCB1", ["a", "b"], seed=1, control=("b", 0.5))
    arms = []
    for _ in range(60):
        choice = agent.ask()
        assert choice.time == 1
        arms.append(choice.arm)
        agent.forget(choice)
    assert 10 < arms.count("b") < 50


def test_the_policy_neither_chooses_nor_sees_the_control_arm():
    """It makes the choices of an agent without that arm; even the best control arm eliminates nothing."""
    held = lr.Agent("EUCBV", [*ARMS, "old"], 2_000, seed=2, control=("old", 0.3))
    made = play(held, 1_000, lambda step, arm: arm == "old")
    free = lr.Agent("EUCBV", ARMS, 2_000, seed=2)
    others = [choice.arm for choice in made if choice.arm != "old"]
    assert [choice.arm for choice in play(free, len(others), lambda step, arm: 0)][:100] == others[:100]
    summary = held.summary()
    assert summary.filter(arm="old")["state"].item() == "control"
    assert summary.filter(arm="old")["mean"].item() == 1.0
    assert set(summary["state"]) == {"control", "active"}
    assert sorted(held.arms) == sorted([*ARMS, "old"])


def test_only_restricts_the_shares():
    agent = lr.Agent("UCB1", ARMS, seed=1, minimum_share=0.1, control=("a", 0.25))
    play(agent, 50)
    choices = [agent.ask(only=["b", "c"]) for _ in range(200)]
    assert {choice.arm for choice in choices} == {"b", "c"}
    assert {round(choice.propensity, 6) for choice in choices} == {0.1, 0.9}
    assert {choice.propensity for choice in agent.ask(20, only=["a"])} == {1.0}
    mixed = Counter(choice.arm for choice in agent.ask(1_000, only=["a", "d"]))
    assert abs(mixed["a"] / 1_000 - 0.25) < 4.5 * (0.25 * 0.75 / 1_000) ** 0.5


def test_an_agent_with_shares_is_stored_and_opened_again(tmp_path):
    settings = {"minimum_share": 0.1, "control": ("d", 0.2), "seed": 6, "horizon": 500}
    known = [choice[1:4] for choice in play(lr.Agent("EUCBV", ARMS, **settings), 120)]
    made = []
    for _ in range(4):
        with lr.open_agent(tmp_path / "agent.db", "EUCBV", ARMS, **settings) as agent:
            for _ in range(30):
                made.append(agent.ask())
                step = len(made) - 1
                agent.tell(made[-1], float((step * 7919 % 1000) / 1000 < RATES[made[-1].arm]))
    assert [choice[1:4] for choice in made] == known
    with pytest.raises(lr.InputError, match="was created with minimum_share 0.1, got 0.2"):
        lr.open_agent(tmp_path / "agent.db", "EUCBV", ARMS, 500, 6, control=("d", 0.2), minimum_share=0.2)


def test_json_restores_the_shares_and_pending_pulls_of_the_control_arm():
    agent = lr.Agent("UCB1", ARMS, seed=2, minimum_share=0.1, control=("a", 0.4))
    play(agent, 40)
    agent.ask(30)
    copy = lr.Agent.from_json(agent.to_json())
    assert copy.to_json() == agent.to_json()
    assert json.loads(agent.to_json())["made_with"]["control"] == ["a", 0.4]
    assert [c[1:4] for c in copy.ask(50)] == [c[1:4] for c in agent.ask(50)]
    pending = [choice for choice in copy.pending if choice.arm == "a"]
    assert copy.tell_many([(choice, 1.0) for choice in pending]) == len(pending) > 5


def test_arms_come_and_go_beside_the_control_arm():
    agent = lr.Agent("UCB1", ARMS, seed=2, minimum_share=0.2, control=("a", 0.2))
    agent.add_arm("e")
    with pytest.raises(lr.InputError, match="minimum_share is 0.2 for each of 5 arms, and .* is 0.2: toget"):
        agent.add_arm("f")
    with pytest.raises(lr.InputError, match="arm 'a' is the control arm: it cannot be retired"):
        agent.retire_arm("a")
    agent.add_arm("a")
    agent.retire_arm("b")
    assert sorted(agent.arms) == ["a", "c", "d", "e"]
    assert {choice.arm for choice in agent.ask(200)} == {"a", "c", "d", "e"}
    assert agent.summary()["arm"].to_list()[-1] == "e"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"minimum_share": 0.3}, "minimum_share is 0.3 for each of 4 arms: together they must not exceed 1"),
        ({"minimum_share": -0.1}, "minimum_share must be between 0 and 1, got -0.1"),
        ({"minimum_share": "much"}, "minimum_share must be a finite number .*, got 'much'"),
        ({"control": "a"}, "control must be an arm and its share, as in .*, got 'a'"),
        ({"control": ("z", 0.1)}, "the control arm must be one of the arms, got 'z'"),
        ({"control": ("a", 1.5)}, "the share of the control arm must be between 0 and 1, got 1.5"),
        ({"control": ("a", 0.5), "minimum_share": 0.2}, "that of the control arm is 0.5: together"),
        ({"log_propensities": 1}, "log_propensities must be True, False or None, got 1"),
    ],
)
def test_bad_shares_are_refused(options, sentence):
    with pytest.raises(lr.InputError, match=sentence):
        lr.Agent("UCB1", ARMS, **options)
    with pytest.raises(lr.InputError, match="arm 'a' is the only one"):
        lr.Agent("UCB1", ["a"], control=("a", 0.5))
