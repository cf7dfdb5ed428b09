"""The two forms of MOSSV are one policy with a parameter, for users, strings, files and pickles."""

import copy
import pickle
from dataclasses import replace

import pytest

import lowregret as lr
from lowregret.policies.policy_string import policy


@pytest.mark.parametrize("anytime", [False, True])
def test_names_copies_and_pickles(anytime):
    made = lr.MOSSV(anytime=anytime)
    assert made.anytime is anytime
    assert policy(str(made)) == made
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert str(made) == ("MOSSV(anytime=True)" if anytime else "MOSSV")
    assert made == lr.MOSSV(anytime)
    assert isinstance(made, lr.MOSSV)


def test_replace_changes_the_form():
    assert replace(lr.MOSSV(), anytime=True) == lr.MOSSV(anytime=True)
    assert replace(lr.MOSSV(anytime=True), anytime=False) == lr.MOSSV()


def test_only_the_anytime_form_plays_without_a_horizon():
    assert "horizon" in lr.MOSSV().needs
    assert "horizon" not in lr.MOSSV(anytime=True).needs


def test_another_value_is_refused():
    with pytest.raises(lr.InputError, match="anytime must be True or False, got 'yes'"):
        lr.MOSSV(anytime="yes")


def test_a_subclass_stays_one():
    class Mine(lr.MOSSV):
        width: float = 1.0

    assert type(Mine(width=2)) is Mine


@pytest.mark.parametrize(
    ("environment", "horizon"),
    [
        (lr.beta([20] * 4, [20] * 4) + lr.bernoulli([0.6]), 10_000),
        (lr.bernoulli([0.3] * 40 + [0.6] * 10), 150),
        (lr.bernoulli([0.3 + 0.4 * (k / 60) ** 2 for k in range(60)]), 2_400),
    ],
    ids=["best arm of large variance", "three pulls an arm", "forty pulls an arm"],
)
def test_the_anytime_form_costs_at_most_a_quarter_more(environment, horizon):
    known, anytime = lr.MOSSV(), lr.MOSSV(anytime=True)
    result = lr.simulate([known, anytime], environment, horizon, runs=600, seed=1, grid=1)
    assert result.regret(anytime).mean() <= 1.25 * result.regret(known).mean()
