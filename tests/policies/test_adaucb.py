"""AdaUCB against a game that computes H from its definition, and what a policy sees of the other arms."""

from math import e, log, sqrt

import numpy as np
import pytest

import lowregret as lr


def naive(rewards, horizon, variance):
    """Play Algorithm 1 of Lattimore 2018 as printed."""
    arms = len(rewards)
    pulls, totals, chosen = [0] * arms, [0.0] * arms, []
    for t in range(horizon):
        if t < arms:
            choice = t
        else:
            indices = []
            for n, total in zip(pulls, totals, strict=True):
                k = sum(min(1.0, sqrt(other / n)) for other in pulls)
                x = horizon / (n * k)
                level = log((x + e) * log(x + e) ** 0.5)
                indices.append(total / n + sqrt(variance * 2 / n * level))
            choice = int(np.argmax(np.round(indices, 12)))
        totals[choice] += rewards[choice][pulls[choice]]
        pulls[choice] += 1
        chosen.append(choice)
    return chosen


@pytest.mark.parametrize("variance", [1.0, 0.25, 0.01])
@pytest.mark.parametrize("arms", [2, 7])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_choices_are_those_of_the_formula(variance, arms, engine):
    rewards = np.random.RandomState(arms).random_sample((arms, 400))  # continuous: no ties
    found = lr.trace(lr.AdaUCB(variance=variance), rewards, horizon=400, engine=engine).arm.tolist()
    assert found == naive(rewards, 400, variance)


class SumOfPulls(lr.Policy):
    """The arm with the fewest pulls, seen from the others."""

    uses_arms = True

    def score(self, arm, clock):
        total = 0
        for j in range(clock.arms):
            if arm.arms.at(j).number != arm.number:
                total += arm.arms.at(j).pulls
        return float(total)


def test_any_policy_may_look_at_other_arms():
    """Compiled, ``OwnRow`` of tests/engine/test_odd_policies.py does."""
    path = lr.trace(SumOfPulls(), np.zeros((3, 9)), horizon=9, engine="reference")
    assert path.arm.tolist() == [0, 1, 2] * 3


def test_an_agent_shows_other_arms():
    agent = lr.Agent(SumOfPulls(), ["x", "y", "z"])
    chosen = []
    for _ in range(9):
        chosen.append(agent.ask())
        agent.tell(chosen[-1], 1.0)
    arms = [choice.arm for choice in chosen]
    assert sorted(arms[3:6]) == sorted(arms[6:]) == ["x", "y", "z"]


def test_the_attribute_is_a_flag():
    with pytest.raises(lr.InputError, match="uses_arms must be True or False, got 1"):
        type("Odd", (lr.Policy,), {"uses_arms": 1})
