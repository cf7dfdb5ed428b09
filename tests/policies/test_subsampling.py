"""LB-SDA and LDS-SDA against a game that is written round by round."""

from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np
import pytest

import lowregret as lr


def naive(policy, rewards, horizon):
    """Play in rounds, the arms of a round in the order of their last pulls."""
    seen, path = [[x[0]] for x in rewards], list(range(len(rewards)))
    leader, number = None, 1

    def pull(arm):
        seen[arm].append(rewards[arm][len(seen[arm])])
        path.append(arm)

    def rank(arm):
        return len(seen[arm]), sum(seen[arm]), arm == leader, -arm

    while len(path) < horizon:
        leader = max(range(len(rewards)), key=rank)
        winners = []
        for arm, x in enumerate(seen):
            spare = len(seen[leader]) - len(x)
            if spare > 0:
                start, forced = spare, sqrt(log(number))
                if isinstance(policy, lr.LDSSDA):
                    digits = f"{number:b}"[::-1]
                    start, forced = ceil(Fraction(int(digits, 2), 2 ** len(digits)) * spare), 0
                block = seen[leader][start : start + len(x)]
                if len(x) <= forced or np.mean(x) >= np.mean(block):
                    winners.append(arm)
        last = {arm: max(t for t, each in enumerate(path) if each == arm) for arm in winners}
        for arm in sorted(winners, key=last.get) or [leader]:
            pull(arm)
        number += 1
    return path[:horizon]


@pytest.mark.parametrize("arms", [1, 2, 3, 6])
@pytest.mark.parametrize(
    ("policy", "engine"),
    [(lr.LBSDA(), "compiled"), (lr.LBSDA(), "reference"), (lr.LDSSDA(), "reference")],
)
def test_choices_are_those_of_the_rounds(arms, policy, engine):
    draws = np.random.RandomState(arms)
    rewards = draws.random_sample((arms, 400)) + draws.random_sample((arms, 1)) / 4  # continuous: no ties
    found = lr.trace(policy, rewards, horizon=400, engine=engine).arm.tolist()
    assert found == naive(policy, rewards, 400)


def test_equal_rewards_are_shared_out():
    path = lr.trace(lr.LBSDA(), np.full((3, 90), 0.3), horizon=90).arm
    assert np.bincount(path).tolist() == [30, 30, 30]
