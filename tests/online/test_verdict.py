"""The verdict of an agent: what it claims, in which units, and when it says nothing."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.errors import InputError
from lowregret.online.arm_totals import arm_totals


def play(agent, chances, turns, seed=1, size=1.0, start=0.0):
    random = np.random.default_rng(seed)
    for _ in range(turns):
        choice = agent.ask()
        agent.tell(choice, start + size * (random.random() < chances[choice.arm]))
    return agent


def test_the_best_arm_is_named_and_how_much_longer_it_takes_before():
    chances = {"red": 0.3, "violet": 0.6}
    agent = play(lr.Agent("RoundRobin", list(chances)), chances, 60)
    early = agent.verdict()
    assert (early.claim, early.arm) == ("not yet", "violet")
    assert 20 < early.more_decisions < 2_000
    assert early.sentence.startswith("not yet: violet leads, about ")
    late = play(agent, chances, 600).verdict()
    assert late.claim == "best"
    assert late.sentence == "violet is the best (error at most 5%, whenever you look)"
    assert late.more_decisions is None and not late.asymptotic
    assert {arm.arm: round(arm.probability_best, 6) for arm in late.arms} == {"red": 0.0, "violet": 1.0}
    assert 0 <= late.expected_loss < 1e-6


def test_equal_arms_are_within_a_margin_in_the_units_of_the_user():
    chances = {"red": 0.5, "violet": 0.5}
    agent = lr.Agent("RoundRobin", list(chances), reward_range=(10, 30))
    verdict = play(agent, chances, 3_000, size=20, start=10).verdict(within=3)
    assert verdict.claim == "within"
    assert verdict.sentence.endswith("is within 3 of the best (error at most 5%, whenever you look)")
    assert agent.verdict().claim == "not yet"
    assert agent.verdict(within=0.01).claim == "not yet"


def test_lifts_over_the_control_and_rewards_without_a_range():
    chances = {"red": 0.2, "green": 0.3, "violet": 0.5}
    agent = play(lr.Agent("UCB1", list(chances), control=("red", 0.4)), chances, 2_000)
    green, violet, red = agent.verdict().arms  # the control is the last
    assert red.lift is None and green.lift > 0
    assert 0 < violet.lift_low < violet.lift < violet.lift_high
    assert violet.lift_low < 1.5 < violet.lift_high
    agent = lr.Agent("RoundRobin", ["a", "b"], reward_range=None)
    random = np.random.default_rng(0)
    for choice in agent.ask(400):
        agent.tell(choice, 1e6 + random.normal() + (choice.arm == "a"))
    verdict = agent.verdict()
    assert verdict.claim == "best" and verdict.asymptotic
    assert verdict.sentence == "a is the best (error about 5%, whenever you look)"
    assert verdict.arms[0].probability_best > 0.999


def test_no_verdict_without_rewards_rivals_or_statistics():
    agent = lr.Agent("UCB1", ["a", "b", "c"])
    assert agent.verdict().sentence == "not yet: a and 2 others have no reward"
    agent.tell(agent.ask(), 1)
    assert agent.verdict().claim == "none"
    agent.retire_arm("a")
    agent.retire_arm("b")
    assert agent.verdict().sentence == "no verdict: there is only one arm"
    agent = lr.Agent("UCB1", ["a", "b"])
    agent.tell_many((choice, 1) for choice in agent.ask(10))
    agent.transactions.state.rows["reset"][0] = 3
    assert agent.verdict().sentence.startswith("no verdict: the policy has reset its statistics")
    for arguments in ({"error": 0}, {"error": 1.0}, {"within": -1}, {"within": float("nan")}):
        with pytest.raises(InputError):
            agent.verdict(**arguments)


def test_pending_decisions_that_may_turn_into_failures_count_as_either():
    """Successes are reported at once and failures are not, so an arm of many new pulls would lead."""
    agent = lr.Agent("RoundRobin", ["a", "b"], expires_after=100, default_reward=0)
    for choice in agent.ask(40):
        if choice.arm == "a" and choice.time <= 10:
            agent.tell(choice, 1)
    with agent.transactions.reading() as state:
        arms = arm_totals(state)
    assert arms.low.pulls.tolist() == arms.high.pulls.tolist() == [20, 20]
    assert arms.low.total.tolist() == [5, 0] and arms.high.total.tolist() == [20, 20]
    row = agent.summary().row(0, named=True)
    assert row["low"] < 5 / 20 < row["high"] == 1
    assert agent.verdict().claim in ("none", "not yet")
