"""MOSSV and its anytime form: classes, stored agents, what the proof needs, and what was measured."""

import copy
import json
import pickle
import runpy
from dataclasses import replace
from itertools import product
from math import inf, log, sqrt
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.engine.backends import run
from lowregret.engine.problem import Problem
from lowregret.policies import Arm, clock_at
from lowregret.policies.mossv import Round, lower_median
from lowregret.policies.policy_string import policy
from lowregret.policies.views import NEVER
from lowregret.special.divergences import bernoulli_kl_upper

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("kind", [lr.MOSSV, lr.MOSSVAnytime])
def test_names_copies_and_pickles(kind):
    created = kind()
    assert type(created) is kind
    assert str(created) == kind.__name__
    assert repr(created) == f"{kind.__name__}(a=1.2, c=1.4, caution=0.0, peers=2.0)"
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

    arm, clock, round = Arm(0, 10, 0.5, 0.2), clock_at(100, 10_000, 4, 0.0), Round(1, 200, 30)
    for mine in (Mine(width=2.0), replace(Mine(), width=2.0)):
        assert type(mine) is Mine
        assert mine.width == 2.0
        assert mine.score(arm, clock, round) == kind().score(arm, clock, round)
        assert (mine.needs, mine.index_trend) == (kind.needs, kind.index_trend)


def test_only_the_anytime_form_plays_without_a_horizon():
    assert "horizon" in lr.MOSSV.needs
    assert "horizon" not in lr.MOSSVAnytime.needs


@pytest.mark.parametrize(
    ("name", "parameters", "now"),
    [
        ("MOSSV", {}, lr.MOSSV(peers=0)),
        ("MOSSV", {"a": 1.2, "c": 1.4, "caution": 2.0}, lr.MOSSV(caution=2, peers=0)),
        ("MOSSVAnytime", {"a": 1.3}, lr.MOSSVAnytime(a=1.3, peers=0)),
    ],
)
def test_an_agent_stored_before_peers_was_a_parameter_opens(name, parameters, now):
    stored = json.loads(lr.Agent(now, ["red", "green"], seed=1).to_json())
    stored["made_with"]["policy"] = {"class": name, "parameters": parameters}
    for passed in (None, now):
        assert lr.Agent.from_json(json.dumps(stored), policy=passed).policy == now


@pytest.mark.parametrize("name", ["MOSSV", "MOSSVAnytime"])
@pytest.mark.parametrize("given", [False, True])
def test_an_agent_stored_before_peers_goes_on_without_them(name, given):
    """Both were written when MOSSV had three parameters, with the 200 choices after that (tests/data)."""
    stored = json.loads((DATA / "agents-2-mossv.json").read_text())[name]
    kind = getattr(lr, name)
    agent = lr.Agent.from_json(json.dumps(stored["agent"]), policy=kind() if given else None)
    assert agent.policy == kind(peers=0)
    draws, rates, chosen = Random(1), {"red": 0.2, "green": 0.3, "blue": 0.25, "grey": 0.6}, ""
    for _ in range(60):
        draws.random()  # of the choices before it was stored
    for _ in range(200):
        choice = agent.ask()
        agent.tell(choice, float(draws.random() < rates[choice.arm]))
        chosen += choice.arm[2]
    assert chosen == stored["next"]


def test_a_program_that_opens_an_agent_of_a_former_default_finds_it_as_it_was(tmp_path):
    path, arms = tmp_path / "a.db", ["red", "green", "blue"]
    lr.open_agent(path, lr.MOSSV(peers=0), arms, horizon=100).close()
    with lr.open_agent(path, lr.MOSSV(), arms, horizon=100) as agent:
        assert agent.policy == lr.MOSSV(peers=0)
    for other in (lr.MOSSV(peers=3), lr.MOSSV(caution=1)):
        with pytest.raises(lr.InputError, match="was created with policy"):
            lr.open_agent(path, other, arms, horizon=100)


def test_parameters_out_of_range_are_refused():
    for wrong in ({"a": 0}, {"c": -1}, {"caution": -0.1}, {"peers": -1}):
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
    index, mean, target = script["index_of_policy"](lr.MOSSV(peers=0), 40, 2), 0.4, 0.25
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
    regret = [0.015 * horizon * script["exclusion"](lr.MOSSV(peers=0), horizon) for horizon in horizons]
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
    peers=st.floats(0.0, 10.0),
    part=st.floats(0.0, 1.0),
)
def test_what_the_proof_needs_of_the_index(pulls, mean, spread, share, caution, peers, part):
    """It increases with caution, peers, the median and time; l <= L <= (1 + caution + peers) l if K' = K."""
    arm, later = Arm(0, pulls, mean, spread * mean * (1 - mean)), clock_at(1, int(3 * share * 5), 5, 0.0)
    clock = clock_at(1, int(share * 5), 5, 0.0)
    median = int(part * 2 * clock.horizon / 6)  # the largest lower median of five arms
    first, behind = Round(0, NEVER, 0), Round(1, NEVER, median)
    policy, total = lr.MOSSV(caution=caution, peers=peers), 1 + caution + peers
    plain, careful = lr.MOSSV(peers=0).score(arm, clock, first), policy.score(arm, clock, behind)
    widest = lr.MOSSV(a=1.2 * total, c=1.4 * total, peers=0).score(arm, clock, first)
    slack = 1e-9 * (1 + abs(careful))
    assert mean <= plain <= careful + slack
    assert careful <= policy.score(arm, later, behind) + slack
    assert careful <= policy.score(arm, clock, behind._replace(median=median + 7)) + slack
    assert careful <= replace(policy, peers=peers + 1).score(arm, clock, behind) + slack
    level = max(log(clock.horizon / (5 * pulls)), 0.0) / pulls
    bernstein = mean + sqrt(1.2 * total * arm.variance * level) + 1.4 * total * level
    assert plain <= widest + slack
    if careful <= 0.8:
        assert careful <= bernstein + slack


def chernoff(mean, level):
    """The largest q with kl(mean, q) <= level, by bisection."""

    def kl(q):
        return mean * log(mean / q) + (1 - mean) * log((1 - mean) / (1 - q))

    low, high = mean, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < 1 and kl(middle) <= level else (low, middle)
    return low


def independent_pulls(table, horizon, peers, caution, anytime):
    """The arms that MOSSV pulls of a table of rewards, written from the formula on its page."""
    arms = len(table)
    caution += peers / 2 if arms == 2 else 0
    seen, pulled, bounds, median, until = [[] for _ in table], [], [inf] * arms, 0, 2 * arms

    def bound(rewards, share):
        n = len(rewards)
        mean = sum(rewards) / n
        variance = sum((x - mean) ** 2 for x in rewards) / n
        low = max(log(share / n), 0)
        level = low * (1 + caution * (low / log(share)) ** 2) if low > 0 else 0
        if median > 0 and arms > 2:
            level += peers * max(log(median / (2 * n)), 0)
        bernstein = mean + sqrt(1.2 * variance * level / n) + 1.4 * level / n
        return min(bernstein, mean + sqrt(low / n), chernoff(mean, level / n))

    for t in range(1, horizon + 1):
        share = 1.5 * t / arms if anytime else horizon / max(arms, min(arms**3 / (4 * horizon), 2 * arms))
        for i in range(arms):
            if seen[i] and (anytime or until == 2 * (t - 1) or i == pulled[-1]):
                bounds[i] = bound(seen[i], share)
        arm = bounds.index(max(bounds))
        seen[arm].append(table[arm][len(seen[arm])])
        pulled.append(arm)
        if t > arms and t >= until:
            median, until = sorted(map(len, seen))[(arms - 1) // 2], 2 * t
    return pulled


@pytest.mark.parametrize(
    ("anytime", "arms", "horizon"),
    [(False, 2, 300), (False, 5, 700), (False, 40, 1500), (True, 6, 500), (True, 2, 300)],
)
def test_the_pulls_are_those_of_an_independent_program(anytime, arms, horizon):
    """One arm is given up after bad luck, so that the pulls of its peers matter."""
    draws = np.random.default_rng(arms)
    table = draws.uniform(0.2, 0.3, (arms, horizon))
    table[0] = np.concatenate([np.full(20, 0.02), draws.uniform(0.4, 0.6, horizon - 20)])
    policy = lr.MOSSVAnytime() if anytime else lr.MOSSV()
    expected = independent_pulls(table, horizon, 2.0, 0.0, anytime)
    for engine in ("reference", "compiled"):
        played = lr.trace(policy, table, horizon=horizon, engine=engine).arm.tolist()
        assert sorted(played[:arms]) == sorted(expected[:arms]) == list(range(arms))
        assert played[arms:] == expected[arms:]
    if (anytime, arms) != (True, 2):  # where no choice happens to differ
        assert played[arms:] != independent_pulls(table, horizon, 0.0, 0.0, anytime)[arms:]


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30))
def test_the_lower_median_also_where_a_prior_is_worth_more_pulls_than_there_were(pulls):
    arms = SimpleNamespace(at=lambda place: SimpleNamespace(pulls=pulls[place]))
    found = lower_median(arms, clock_at(20, 1_000, len(pulls), 0.0))
    assert found == sorted(pulls)[(len(pulls) - 1) // 2]


@pytest.mark.parametrize("policy", [lr.MOSSV(), lr.MOSSVAnytime()], ids=str)
def test_both_engines_record_the_same_rounds(policy):
    problem = Problem(policy, lr.bernoulli([0.1] * 9 + [0.2]), 700, 2, record=frozenset({"path"}))
    plain, compiled = (run(problem, engine).records["path"] for engine in ("reference", "compiled"))
    assert plain[0, -1, 1] == 6  # from 20 pulls on the rounds double
    assert (plain == compiled).all()


def test_the_scale_above_four_fifths_changes_no_choice_of_rewards_in_the_unit_interval():
    draws = np.random.default_rng(3)
    for _ in range(300):
        clock = clock_at(1, int(10 ** draws.uniform(1, 5)), 4, 0.0)
        arms = []
        for _ in range(4):
            rewards = draws.random(int(10 ** draws.uniform(0, 3))) ** draws.choice([0.02, 1.0])
            arms.append(Arm(0, len(rewards), rewards.mean(), rewards.var()))
        bounds = [smallest_bound(arm, clock) for arm in arms]
        scores = [lr.MOSSV(peers=0).score(arm, clock, Round(0, NEVER, 0)) for arm in arms]
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
