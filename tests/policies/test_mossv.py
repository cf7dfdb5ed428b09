"""MOSSV and its anytime form: classes, stored agents, what the proof needs, and what was measured."""

import copy
import json
import pickle
import runpy
from dataclasses import replace
from itertools import product
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.policies import Arm, clock_at
from lowregret.policies.policy_string import policy
from lowregret.special.divergences import bernoulli_kl_upper


@pytest.mark.parametrize("kind", [lr.MOSSV, lr.MOSSVAnytime])
def test_names_copies_and_pickles(kind):
    created = kind()
    assert type(created) is kind
    assert str(created) == kind.__name__
    assert repr(created) == f"{kind.__name__}(a=1.2, c=1.4, caution=0.0)"
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
    for mine in (Mine(width=2.0), replace(Mine(), width=2.0)):
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
        ("MOSSV", {}, lr.MOSSV()),
        ("lowregret.policies.mossv:_Anytime", {"anytime": True}, lr.MOSSVAnytime()),
        ("BayesUCBBeta", {"c": 0.0}, lr.BayesUCBBeta()),
        ("BayesUCBBeta", {"c": 2.0}, lr.BayesUCBBetaHorizon(c=2)),
    ],
)
def test_an_agent_stored_when_the_form_was_a_parameter_opens(name, parameters, now):
    stored = json.loads(lr.Agent(now, ["red", "green"], seed=1).to_json())
    stored["made_with"]["policy"] = {"class": name, "parameters": parameters}
    for passed in (None, now):
        assert lr.Agent.from_json(json.dumps(stored), policy=passed).policy == now


def test_parameters_out_of_range_are_refused():
    for wrong in ({"a": 0}, {"c": -1}, {"caution": -0.1}):
        with pytest.raises(lr.InputError, match=next(iter(wrong))):
            lr.MOSSV(**wrong)


def crossings():
    return runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "crossings.py"))


@pytest.mark.parametrize("horizon", [4, 40, 400])
def test_exact_probabilities_are_below_the_lemmas(horizon):
    script = crossings()
    for mean in (0.05, 0.3, 0.5, 0.9):
        for x in (0.04, 0.1, 0.25, 0.45):
            exact, bound = script["lemma_1"](mean, x, horizon, 2)
            assert 0.0 < exact <= min(bound, 1.0) or (exact == 0.0 and x > mean)
            exact, bound = script["lemma_2"](mean, x, horizon, 2)
            assert 0.0 < exact <= bound


def test_exact_probabilities_are_those_of_all_sequences():
    script, length = crossings(), 9
    index, mean, target = script["index_of_policy"](lr.MOSSV(), 40, 2), 0.4, 0.25
    once, often = 0.0, 0.0
    for rewards in product((0, 1), repeat=length):
        sums = np.cumsum(rewards)
        indices = [index(n, sums[n - 1 : n])[0] for n in range(1, length + 1)]
        probability = mean ** sums[-1] * (1 - mean) ** (length - sums[-1])
        once += probability * (min(indices) <= target)
        often += probability * sum(value >= 0.7 for value in indices)
    assert 0.05 < once < 0.95
    assert script["ever_at_most"](index, mean, target, length) == pytest.approx(once, rel=1e-12)
    assert script["times_at_least"](index, mean, 0.7, length) == pytest.approx(often, rel=1e-12)


def test_regret_from_excluding_the_best_arm_falls_with_the_horizon():
    """An index that is too small after zeros alone makes it grow as a power of the horizon."""
    script, horizons = crossings(), (10**5, 10**6)
    regret = [0.015 * horizon * script["exclusion"](lr.MOSSV(), horizon) for horizon in horizons]
    assert 2.5 > regret[0] > 1.2 * regret[1] > 0.0

    def too_small(horizon):
        return lambda n, successes: successes / n + 0.5 * max(log(horizon / (2 * n)), 0.0) / n

    regret = [
        0.015 * horizon * script["ever_at_most"](too_small(horizon), 0.115, 0.1, 2_000)
        for horizon in horizons
    ]
    assert regret[0] < regret[1]


@settings(max_examples=300)
@given(
    pulls=st.integers(1, 10**5),
    mean=st.floats(0.0, 1.0),
    spread=st.floats(0.0, 1.0),
    share=st.floats(1.0, 1e6),
    caution=st.floats(0.0, 10.0),
)
def test_what_the_proof_needs_of_the_index(pulls, mean, spread, share, caution):
    """It does not decrease with caution or time, and is at least the mean; l <= L <= (1 + caution) l."""
    arm, later = Arm(0, pulls, mean, spread * mean * (1 - mean)), clock_at(1, int(3 * share * 5), 5, 0.0)
    clock = clock_at(1, int(share * 5), 5, 0.0)
    plain, careful = (lr.MOSSV(caution=value).score(arm, clock) for value in (0.0, caution))
    widest = lr.MOSSV(a=1.2 * (1 + caution), c=1.4 * (1 + caution)).score(arm, clock)
    slack = 1e-9 * (1 + abs(careful))
    assert mean <= plain <= careful + slack
    assert careful <= lr.MOSSV(caution=caution).score(arm, later) + slack
    level = max(log(clock.horizon / (5 * pulls)), 0.0) / pulls
    bernstein = mean + 1.2 * (1 + caution) * sqrt(arm.variance * level) + 1.4 * (1 + caution) * level
    assert plain <= widest + slack
    if careful <= 0.8:
        assert careful <= bernstein + slack


def test_the_scale_above_four_fifths_changes_no_choice_of_rewards_in_the_unit_interval():
    draws = np.random.default_rng(3)
    for _ in range(300):
        clock = clock_at(1, int(10 ** draws.uniform(1, 5)), 4, 0.0)
        arms = []
        for _ in range(4):
            rewards = draws.random(int(10 ** draws.uniform(0, 3))) ** draws.choice([0.02, 1.0])
            arms.append(Arm(0, len(rewards), rewards.mean(), rewards.var()))
        bounds = [smallest_bound(arm, clock) for arm in arms]
        scores = [lr.MOSSV().score(arm, clock) for arm in arms]
        assert np.argsort(bounds).tolist() == np.argsort(scores).tolist()


def smallest_bound(arm, clock):
    """The index before it is stretched."""
    n, m = arm.pulls, arm.mean
    level = max(log(clock.horizon / (clock.arms * n)), 0.0) / n
    return min(
        m + sqrt(1.2 * arm.variance * level) + 1.4 * level, m + sqrt(level), bernoulli_kl_upper(m, level)
    )


@pytest.mark.parametrize("environment", ["poisson:1*9,1.3", "exponential:1*9,1.5", "poisson:2*4,2.5"])
def test_rewards_above_one_cost_at_most_twice_the_regret_of_moss(environment):
    result = lr.simulate(["MOSSV", "MOSS"], environment, 10_000, runs=300, seed=1, grid=1)
    assert result.regret("MOSSV").mean() <= 2 * result.regret("MOSS").mean()


@pytest.mark.parametrize(
    ("environment", "horizon"),
    [
        (lr.beta([20] * 4, [20] * 4) + lr.bernoulli([0.6]), 10_000),
        (lr.bernoulli([0.3 + 0.4 * (k / 60) ** 2 for k in range(60)]), 2_400),
        (lr.empirical([[0.45, 0.55]] * 49 + [[0.47, 0.57]]), 5_000),
    ],
    ids=["best arm of large variance", "forty pulls an arm", "two values"],
)
def test_the_anytime_form_costs_at_most_a_quarter_more(environment, horizon):
    """At least K^2 / 4 steps; with fewer MOSSV uses that they are few, and its anytime form cannot."""
    known, anytime = lr.MOSSV(), lr.MOSSVAnytime()
    result = lr.simulate([known, anytime], environment, horizon, runs=300, seed=1, grid=1)
    assert result.regret(anytime).mean() <= 1.25 * result.regret(known).mean()
