"""Threads, seeds, numbers of runs, and the corners of the problem."""

import threading

import numpy as np
import pytest
from engine_runs import simulate
from helpers import POLICIES, Lists, Phase, Phases

import lowregret as lr
from lowregret.errors import InputError


def same(one, other):
    return all(
        np.array_equal(one[name].regret, other[name].regret)
        and np.array_equal(one[name].pulls, other[name].pulls)
        and np.array_equal(one[name].eliminated, other[name].eliminated)
        for name in one.policies
    )


BANDIT = lr.bernoulli([0.2, 0.5, 0.4]) + lr.gaussian([0.1, 0.45], 0.01)
CHOSEN = [lr.EUCBV(), lr.EUCBV(rho=0.02), lr.MOSS(), lr.UCB1()]


def test_threads_do_not_matter():
    results = [lr.simulate(CHOSEN, BANDIT, 700, runs=37, seed=5, threads=n) for n in (1, 2, 8)]
    assert same(results[0], results[1])
    assert same(results[0], results[2])


def test_a_run_does_not_depend_on_how_many_there_are():
    few = lr.simulate(CHOSEN, BANDIT, 700, runs=10, seed=5)
    many = lr.simulate(CHOSEN, BANDIT, 700, runs=100, seed=5)
    for name in few.policies:
        assert np.array_equal(few[name].regret, many[name].regret[:10])
        assert np.array_equal(few[name].pulls, many[name].pulls[:10])


def test_another_seed_gives_another_result():
    one, other = (lr.simulate(lr.UCB1(), BANDIT, 700, runs=10, seed=seed) for seed in (5, 6))
    assert not np.array_equal(one["UCB1"].pulls, other["UCB1"].pulls)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize(
    ("arms", "horizon"), [(1, 1), (1, 50), (2, 1), (2, 2), (2, 3), (5, 3), (5, 5), (7, 400)]
)
def test_corner_sizes(policy, arms, horizon):
    bandit = lr.bernoulli([0.25 + 0.5 * (i == arms - 1) for i in range(arms)])
    result = lr.simulate(policy, bandit, horizon, runs=4, seed=1)
    pulls = result[policy].pulls
    assert pulls.sum(axis=1).tolist() == [horizon] * 4
    assert result.regret(policy).tolist() == (0.5 * pulls[:, :-1].sum(axis=1)).tolist()


def test_a_horizon_shorter_than_the_number_of_arms_pulls_the_first_arms_once():
    result = lr.simulate(lr.EUCBV(), lr.bernoulli([0.5] * 9), 4, runs=50, seed=1)
    assert (result["EUCBV"].pulls.max(axis=1) == 1).all()
    assert lr.trace(lr.EUCBV(), [[1]] * 9, horizon=4).arm.tolist() == [0, 1, 2, 3]


def test_the_shuffle_favours_no_arm():
    """With equal arms and a horizon of 1, arm 0 is pulled in a third of the runs (5 sigma, so 6e-7)."""
    result = lr.simulate(lr.UCB1(), lr.bernoulli([0.5] * 3), 1, runs=9000, seed=3)
    counts = result["UCB1"].pulls.sum(axis=0)
    assert np.abs(counts - 3000).max() < 5 * np.sqrt(9000 * 2 / 9)


def test_all_arms_equal_and_without_noise():
    for policy in (lr.EUCBV(), lr.MOSS(), lr.UCB1()):
        result = lr.simulate(policy, lr.gaussian([0.3] * 4, 0.0), 403, runs=3, seed=1)
        pulls = result[policy].pulls
        assert pulls.max() - pulls.min() <= 1
        if result[policy].eliminated is not None:
            assert not result[policy].eliminated.any()


def test_a_huge_horizon_costs_nothing_once_one_arm_is_left():
    result = lr.simulate(lr.EUCBV(), lr.bernoulli([0.0, 1.0]), 10**15, runs=2, seed=1, grid=[10, 10**9])
    pulls = result["EUCBV"].pulls
    assert (pulls.sum(axis=1) == 10**15).all()
    assert (pulls[:, 0] < 500).all()
    assert result["EUCBV"].grid.tolist() == [10, 10**9, 10**15]
    assert np.array_equal(result["EUCBV"].regret[:, 2], pulls[:, 0])
    assert result.summary(all=True)["optimal_arm_eliminated"].to_list() == [0]


def test_uniform_has_the_regret_of_uniform_play():
    for number, exact in zip((1, 2, 3, 4), (1710, 11880, 3760, 3960), strict=True):
        result = lr.simulate(lr.RoundRobin(), lr.paper(number), runs=1)
        assert result.regret("RoundRobin")[0] == pytest.approx(exact, rel=1e-12)


def test_a_policy_with_lists_has_no_eliminations():
    result = lr.simulate([Lists(), Phases()], BANDIT, 500, runs=5)
    assert result["Lists"].eliminated is None
    assert result["Phases"].eliminated.any()


class DropsAll(Phases):
    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            arms.eliminate(i)
        return Phase(round.number + 1, clock.t + 10, 0.0)


class TooSure(lr.Policy):
    """A lower bound above its own score, or a score that is no number after some pulls."""

    number_until: int = 99
    index_trend = "constant"

    def score(self, arm, clock):
        return arm.mean if arm.pulls <= self.number_until else float("nan")

    def lower_bound(self, arm, clock, round):
        return arm.mean + (0.5 if self.number_until == 99 else -0.5)


class TooSureAnyhow(TooSure):
    index_trend = "arbitrary"


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("policy", [DropsAll(), TooSure(), TooSureAnyhow()], ids=str)
def test_a_policy_that_drops_every_arm_is_told_so(policy, engine):
    with pytest.raises(InputError, match=f"{policy}: it eliminated every arm"):
        lr.trace(policy, [[0] * 50] * 3, engine=engine)


@pytest.mark.parametrize("number_until", [0, 5])
@pytest.mark.parametrize("kind", [TooSure, TooSureAnyhow])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_score_that_is_no_number_is_told_so(kind, number_until, engine):
    """With an index that increases: test_arm_groups."""
    with pytest.raises(InputError, match="a score must be a number, got nan"):
        lr.trace(kind(number_until), [[0.5] * 99] * 5, engine=engine)
    with pytest.raises(InputError, match="a score must be a number, got nan"):
        lr.simulate(kind(number_until), BANDIT, 100, runs=3)


class Arrays(Phases):
    def first_round(self, clock):
        return Phase(0, 10, np.zeros(clock.arms))


class Bare(Phases):
    def first_round(self, clock):
        return (0, 10)


class Short(lr.Policy):
    def score(self, arm):
        return arm.mean


class Forgets(Phases):
    def score(self, arm, clock):
        return arm.mean


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Arrays(), "Arrays: gap of a round must be a number, got array"),
        (Bare(), "Bare: first_round must return a NamedTuple with number and until"),
        (Short(), r"Short: write score\(self, arm, clock\)"),
        (Forgets(), r"Forgets: write score\(self, arm, clock, round\)"),
    ],
    ids=str,
)
def test_methods_that_do_not_fit_are_told_how(policy, message):
    with pytest.raises(InputError, match=message):
        lr.simulate(policy, BANDIT, 100, runs=1)


def test_an_interrupt_stops_the_threads():
    def interrupt(now):
        if now.done:
            raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        lr.simulate("MOSS", BANDIT, 10**7, runs=400, threads=2, progress=interrupt)
    assert set(threading.enumerate()) <= before  # one of another test may end meanwhile


def test_rewards_outside_the_unit_interval_are_refused_scaled_or_clipped():
    far = lr.gaussian([0.2, 0.8], 1.0)
    with pytest.raises(
        InputError,
        match=r"KLUCB needs rewards in \[0, 1\], and the rewards of 'gaussian' lie in \[-inf, inf\]: no",
    ):
        lr.simulate(lr.KLUCB(), far, 100)
    with pytest.raises(InputError, match=r"the rewards of the table lie in \[0, 2\]: .*, or pass clip=True"):
        lr.trace(lr.KLUCB(), [[0.5, 2.0], [0.1, 0.0]])
    clipped = lr.simulate([lr.KLUCB(), lr.ThompsonBeta(), lr.UCB1()], far, 100, runs=2, clip=True)
    assert clipped.notes == {
        "KLUCB": "rewards clipped to [0, 1]",
        "ThompsonBeta": "rewards clipped to [0, 1]; rewards transformed by ThompsonBeta: "
        "turn a reward between 0 and 1 into a success or a failure",
        "UCB1": "assumes rewards in [0, 1], and they lie in [-inf, inf]",
    }
    assert clipped.to_dict()["policies"][0]["note"] == "rewards clipped to [0, 1]"
    assert lr.simulate(lr.ThompsonBeta(), lr.bernoulli([0.5]), 5, runs=1).notes == {}
    one, other = (
        lr.trace(lr.KLUCB(), rows, horizon=12, clip=True).arm.tolist()
        for rows in ([[0.3, 5.0] * 9, [0.6, -1.0] * 9], [[0.3, 1.0] * 9, [0.6, 0.0] * 9])
    )
    assert one == other


def test_clipping_and_counting_are_the_same_in_both_engines():
    table = np.random.default_rng(1).normal(0.5, 0.5, (4, 300))
    for policy in (lr.KLUCB(), lr.ThompsonBeta(), lr.BayesUCBBeta(), lr.DMED()):
        fast, plain = (
            lr.trace(policy, table, 300, clip=True, engine=e).arm for e in ("compiled", "reference")
        )
        assert fast.tolist() == plain.tolist()


def test_progress_counts_every_run():
    calls = []
    lr.simulate(["UCB1", "MOSS"], BANDIT, 100, runs=23, progress=calls.append)
    assert {(call.total, call.unit) for call in calls} == {(46, "runs")}
    for first, name in ((0, "UCB1"), (23, "MOSS")):
        counts = [call.done for call in calls if call.what == name]
        assert (counts[0], counts[-1]) == (first, first + 23)
    assert calls[-1].share == 1.0


def test_part_of_a_simulation_gives_the_same_runs():
    grid = np.array([50, 300])
    whole = simulate(lr.EUCBV(), lr.bernoulli([0.4, 0.6]), 300, 7, 3, grid)
    part = simulate(lr.EUCBV(), lr.bernoulli([0.4, 0.6]), 300, 2, 3, grid, first_run=4)
    assert np.array_equal(part.regret, whole.regret[4:6])
    assert np.array_equal(part.pulls, whole.pulls[4:6])


@pytest.mark.parametrize(
    ("names", "bound"),
    [
        (("UCB1", "UCBTuned", "UCBV", "MOSS", "MOSSAnytime", "EUCBV", "UCBImproved", "CCB"), 1),
        (("MedianElimination", "DiscountedUCB"), 1),
        (("UCBV(b=9)",), 9),
    ],
)
def test_notes_say_that_rewards_leave_what_a_source_assumes(names, bound):
    far = lr.bernoulli([0.2, 0.8]).scaled(-1.0, -0.875)
    remedy = ": scale = [8, 16] maps them to [0, 1]" if bound == 1 else ""
    notes = lr.simulate([*names, "OCUCB"], far, 100, runs=1, engine="reference").notes
    assert notes == dict.fromkeys(names, f"assumes rewards in [0, {bound}], and they lie in [8, 16]{remedy}")
    assert lr.simulate(names, "bernoulli:0.2,0.8", 100, runs=1, engine="reference").notes == {}
