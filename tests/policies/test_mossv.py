"""MOSSV and its anytime form are two plain classes: names, copies, subclasses, and stored agents."""

import copy
import json
import pickle
from dataclasses import replace

import pytest

import lowregret as lr
from lowregret.policies import Arm, clock_at
from lowregret.policies.policy_string import policy


@pytest.mark.parametrize("kind", [lr.MOSSV, lr.MOSSVAnytime])
def test_names_copies_and_pickles(kind):
    created = kind()
    assert type(created) is kind
    assert str(created) == kind.__name__
    assert repr(created) == f"{kind.__name__}()"
    for copied in (
        policy(str(created)),
        pickle.loads(pickle.dumps(created)),
        copy.deepcopy(created),
        replace(created),
    ):
        assert type(copied) is kind
        assert copied == created


@pytest.mark.parametrize("kind", [lr.MOSSV, lr.MOSSVAnytime])
def test_a_subclass_keeps_its_form(kind):
    class Mine(kind):
        width: float = 1.0

    arm, clock = Arm(0, 10, 0.5, 0.2), clock_at(100, 10_000, 4, 0.0)
    for mine in (Mine(2.0), replace(Mine(), width=2.0)):
        assert type(mine) is Mine
        assert mine.width == 2.0
        assert mine.score(arm, clock) == kind().score(arm, clock)
        assert (mine.needs, mine.index_trend) == (kind.needs, kind.index_trend)


def test_only_the_anytime_form_plays_without_a_horizon():
    assert "horizon" in lr.MOSSV.needs
    assert "horizon" not in lr.MOSSVAnytime.needs


@pytest.mark.parametrize(
    ("name", "parameters", "now"),
    [
        ("MOSSV", {"anytime": False}, lr.MOSSV()),
        ("lowregret.policies.mossv:_Anytime", {"anytime": True}, lr.MOSSVAnytime()),
        ("BayesUCBBeta", {"c": 0.0}, lr.BayesUCBBeta()),
        ("BayesUCBBeta", {"c": 2.0}, lr.BayesUCBBetaHorizon(c=2)),
    ],
)
def test_an_agent_stored_when_the_form_was_a_parameter_opens(name, parameters, now):
    stored = json.loads(lr.Agent(now, ["red", "green"], seed=1).to_json())
    stored["made_with"]["policy"] = {"class": name, "parameters": parameters}
    for given in (None, now):
        assert lr.Agent.from_json(json.dumps(stored), policy=given).policy == now


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
    known, anytime = lr.MOSSV(), lr.MOSSVAnytime()
    result = lr.simulate([known, anytime], environment, horizon, runs=600, seed=1, grid=1)
    assert result.regret(anytime).mean() <= 1.25 * result.regret(known).mean()
