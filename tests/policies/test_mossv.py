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
