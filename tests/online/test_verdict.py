"""The verdict of an agent: what it claims, in which units, and when it says nothing."""

from math import log

import numpy as np
import pytest

import lowregret as lr
from lowregret.analysis.mean_differences import log_evidence
from lowregret.errors import InputError
from lowregret.online.arm_summary import gain_over_control
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
    assert agent.verdict(within=20).claim == agent.verdict(within=50).claim == "within"  # the whole range
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
    assert verdict.sentence == (
        "a is the best (error about 5%, whenever you look; assumes that rewards much larger than those so "
        "far are too rare to matter)"
    )
    assert verdict.arms[0].probability_best > 0.999


@pytest.mark.parametrize("reward_range", [None, (0, 3_000)])
def test_an_arm_that_sold_too_seldom_leaves_no_probability(reward_range):
    """The dear arm has sold once so far: its mean may be the largest, whatever its sample looks like."""
    agent = lr.Agent("RoundRobin", ["cheap", "dear"], reward_range=reward_range)
    for number, choice in enumerate(agent.ask(4_000)):
        sales = {"cheap": 50.0 * (number % 50 < 2), "dear": 500.0 * (number == 17)}
        agent.tell(choice, sales[choice.arm])
    verdict = agent.verdict()
    assert verdict.claim == "not yet" and verdict.expected_loss is None
    assert [arm.probability_best for arm in verdict.arms] == [None, None]


def test_an_arm_without_rewards_leaves_no_probability():
    """The prior alone would say that a new arm is probably the best."""
    chances = {"red": 0.1, "violet": 0.2}
    agent = play(lr.Agent("RoundRobin", list(chances)), chances, 300)
    assert agent.verdict().arms[1].probability_best > 0.9
    agent.add_arm("green")
    verdict = agent.verdict()
    assert [arm.probability_best for arm in verdict.arms] == [None] * 3 and verdict.expected_loss is None
    agent.tell(agent.ask(only=["green"]), 0)
    assert all(arm.probability_best is not None for arm in agent.verdict().arms)


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
    agent.transactions.state.rows["forgotten"][0] = 3
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
    assert arms.totals.pulls.tolist() == [5, 0]
    row = agent.summary().row(0, named=True)
    assert row["low"] < 5 / 20 < row["high"] == 1
    assert agent.verdict().claim in ("none", "not yet")


def fill(agent, arm, count, chance, told=None, seed=1):
    """Ask for an arm so often, and tell the rewards of the first ``told`` decisions."""
    rewards = np.random.default_rng(seed).random(count) < chance
    choices = agent.ask(count, only=[arm])
    agent.tell_many(zip(choices[:told], rewards[:told].tolist(), strict=True))


def test_the_leader_and_the_posterior_are_those_of_the_rewards_that_are_known():
    """Counted as failures, 1,000 pending decisions made the better arm the worse one for certain."""
    agent = lr.Agent("ThompsonBeta", ["old", "new"], seed=1, expires_after=3_000, default_reward=0)
    fill(agent, "old", 2_000, 0.3)
    fill(agent, "new", 1_500, 0.6, told=500)
    verdict = agent.verdict()
    assert (verdict.claim, verdict.arm) == ("not yet", "new")
    assert verdict.arms[1].probability_best > 0.999


def test_without_a_range_pending_decisions_that_may_turn_into_failures_exclude_a_verdict():
    """Two equal arms: of the last 1,000 decisions the sales are known, and most of the others are not."""
    options = {"reward_range": None, "expires_after": 1_500, "default_reward": 0.0, "control": ("a", 0.5)}
    agent, random = lr.Agent("RoundRobin", ["a", "b"], seed=1, **options), np.random.default_rng(3)
    for arm, size in (("a", 3_000), ("b", 1_000)):
        for choice in agent.ask(size, only=[arm]):
            if random.random() < 0.3:
                agent.tell(choice, random.lognormal())
    verdict = agent.verdict()
    assert verdict.claim == "none" and "use matures_after" in verdict.sentence
    ends = ["low", "high", "to_leader_low", "to_leader_high", "to_control_low", "to_control_high"]
    assert set(agent.summary().select(ends).row(1)) == {None}
    with agent.transactions.reading() as state:
        assert gain_over_control(state) is None


def shop(sales, pulls=2_000):
    """Sell a cheap plan in 2% of the decisions, and a dear one so many times."""
    agent = lr.Agent("RoundRobin", ["cheap", "dear"], reward_range=None, seed=1)
    for arm, number, price in (("cheap", pulls // 50, 50.0), ("dear", sales, 1_500.0)):
        rewards = [price] * number + [0.0] * (pulls - number)
        agent.tell_many(zip(agent.ask(pulls, only=[arm]), rewards, strict=True))
    return agent


def test_an_arm_that_sells_seldom_and_dear_is_not_yet_the_worse_one():
    """The mean of the dear plan may be 1.5; in a seventh of all logs it has no sale in 2,000 decisions."""
    verdict = shop(sales=0).verdict()
    assert (verdict.claim, verdict.arm, verdict.more_decisions) == ("not yet", "cheap", None)
    assert verdict.sentence == (
        "not yet: cheap leads, but the rewards of dear are too few or too uneven to compare means; "
        "too little to say when a verdict would come"
    )
    assert [shop(sales).verdict().claim for sales in (29, 30, 40)] == ["not yet", "best", "best"]
    early = shop(sales=29).verdict()
    assert early.arm == "dear" and 100 < early.more_decisions < 300  # 30 / 29 times as many


def test_the_gate_is_for_rewards_that_were_never_negative():
    agent = shop(sales=0)
    agent.tell(agent.ask(only=["cheap"]), -1.0)  # a refund: these are no rewards at least 0
    assert agent.verdict().claim == "best"


def test_a_window_without_a_default_states_what_the_claim_assumes():
    agent = lr.Agent("RoundRobin", ["a", "b"], matures_after=50, seed=1)
    for time in range(1_500):
        choice = agent.ask()
        if choice.arm == "a" or time % 3:
            agent.tell(choice, choice.arm == "a")
    assert agent.verdict().sentence == (
        "a is the best (error at most 5%, whenever you look), if rewards were missing at random"
    )


def test_who_retires_arms_may_look_at_the_data():
    """The best and the worst of 30 equal arms: 435 pairs to choose from, so 30 do not bound the error."""
    agent = lr.Agent("RoundRobin", [str(number) for number in range(30)])
    successes = {0: 134, 29: 84}
    for number in range(30):
        choices = agent.ask(200, only=[str(number)])
        agent.tell_many((choice, place < successes.get(number, 108)) for place, choice in enumerate(choices))
    with agent.transactions.reading() as state:
        first, last = (arm_totals(state).totals.at([place]) for place in (0, 29))
    assert log(30 / 0.05) < log_evidence(first, last, bounded=True).item() < log(30 * 29 / 0.05)
    for number in range(1, 29):
        agent.retire_arm(str(number))
    assert agent.verdict().claim == "not yet"
    fill(agent, "0", 1_000, 0.9)
    assert agent.verdict().sentence == (
        "0 is the best of the arms not retired (error at most 5%, whenever you look)"
    )


def test_the_forecast_leaves_out_the_pulls_of_retired_arms():
    more = []
    for pulls in (500, 20_000):
        agent = lr.Agent("RoundRobin", ["a", "b", "c"], seed=1)
        for arm, size, chance in (("c", pulls, 0.5), ("a", 500, 0.5), ("b", 500, 0.6)):
            fill(agent, arm, size, chance)
        agent.retire_arm("c")
        more.append(agent.verdict().more_decisions)
    assert more[0] == more[1] > 0


def test_a_claim_needs_the_proof_beside_the_search(monkeypatch):
    agent = lr.Agent("RoundRobin", ["a", "b"])
    fill(agent, "a", 300, 0.8)
    fill(agent, "b", 300, 0.2)
    assert agent.verdict().claim == "best" and agent.verdict(within=0.1).claim == "best"
    monkeypatch.setattr("lowregret.online.verdict.proved", lambda *_: False)
    assert agent.verdict().claim == agent.verdict(within=0.1).claim == "not yet"
