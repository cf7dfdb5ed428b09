"""DiscountedUCB against a computation from the whole history, and the memory that it stands on."""

from math import log, sqrt
from typing import NamedTuple

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.state import rows_of
from lowregret.errors import InputError


def naive(rewards, horizon, gamma, xi, b):
    """Play D-UCB as printed: sums over all earlier pulls at every step."""
    arms, history = len(rewards), []
    for t in range(1, horizon + 1):
        if t <= arms:
            choice = t - 1
        else:
            bounds = []
            for i in range(arms):
                weights = [gamma ** (t - 1 - s) for s, (arm, _) in enumerate(history, 1) if arm == i]
                values = [x for arm, x in history if arm == i]
                count = sum(weights)
                every = sum(gamma ** (t - 1 - s) for s in range(1, t))
                mean = sum(w * x for w, x in zip(weights, values, strict=True)) / count
                bounds.append(mean + 2 * b * sqrt(xi * log(every) / count))
            choice = int(np.argmax(np.round(bounds, 12)))
        pulls = sum(arm == choice for arm, _ in history)
        history.append((choice, rewards[choice][pulls]))
    return [arm for arm, _ in history]


@pytest.mark.parametrize(("gamma", "xi", "b"), [(0.9, 0.6, 1.0), (0.99, 0.5, 1.0), (0.7, 0.2, 0.5)])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_choices_are_those_of_the_formula(gamma, xi, b, engine):
    rewards = np.random.RandomState(3).random_sample((4, 200))  # continuous: no ties
    policy = lr.DiscountedUCB(gamma=gamma, xi=xi, b=b)
    found = lr.trace(policy, rewards, horizon=200, engine=engine).arm.tolist()
    assert found == naive(rewards, 200, gamma, xi, b)


def test_it_follows_a_change_that_ucb1_misses():
    before, after = [1.0, 0.0], [0.0, 1.0]
    table = [[one] * 500 + [other] * 3_000 for one, other in zip(before, after, strict=True)]
    late = {p: lr.trace(p, table, horizon=3_000).arm[-500:].mean() for p in ("DiscountedUCB", "UCB1")}
    assert late["DiscountedUCB"] > 0.8
    assert late["UCB1"] < 0.5


class Count(NamedTuple):
    pulls: int = 0
    last: float = -1.0


class Remembering(lr.Policy):
    """The arm that was pulled longest ago; its memory counts pulls."""

    Memory = Count

    def score(self, arm, clock):
        return -float(arm.memory.last)

    def update_memory(self, arm, reward, clock):
        return Count(arm.memory.pulls + 1, float(clock.t))


def test_a_memory_is_numbers_behind_the_other_fields():
    rows = rows_of(lr.bernoulli([0.1, 0.2]), Remembering())
    assert rows.dtype.names[-2:] == ("memory_pulls", "memory_last")
    path = lr.trace(Remembering(), np.zeros((3, 9)), horizon=9)
    assert path.arm.tolist() == [0, 1, 2] * 3


def test_an_agent_keeps_the_memory():
    agent = lr.Agent(Remembering(), ["x", "y", "z"])
    for _ in range(5):
        agent.tell(agent.ask(), 1)
    again = lr.Agent.from_json(agent.to_json(), Remembering())
    assert [again.ask().arm for _ in range(1)] == [agent.ask().arm for _ in range(1)]
    assert '"memory": {' in agent.to_json()


class Missing(NamedTuple):
    pulls: int


class Words(NamedTuple):
    name: str = "x"


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (Missing, "Odd: Memory must be a NamedTuple in which every field has a default"),
        (dict, "Odd: Memory must be a NamedTuple in which every field has a default"),
        (Words, "Odd: name of Memory must be a finite number, got 'x'"),
    ],
)
def test_other_memories_are_refused(memory, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        type("Odd", (lr.Policy,), {"Memory": memory})
