"""One run on given rewards."""

import csv
from pathlib import Path

import numpy as np
import pytest

import lowregret as lr
from lowregret.errors import InputError

DATA = Path(__file__).parents[1] / "data"
ENGINES = ["compiled", "reference"]


def read(name):
    with open(DATA / f"{name}.rewards.csv") as file:
        rewards = [[float(cell) for cell in row] for row in csv.reader(file)]
    with open(DATA / f"{name}.trace.csv") as file:
        steps = [[int(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    return rewards, np.array(steps)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["bern4", "gauss5"])
def test_the_given_traces_of_eucbv(name, engine):
    rewards, steps = read(name)
    trace = lr.trace(lr.EUCBV(), rewards, engine=engine)
    assert trace.arm.tolist() == steps[:, 1].tolist()
    assert trace.round.tolist() == steps[:, 2].tolist()
    assert trace.active.tolist() == steps[:, 3].tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_ties_go_to_the_first_arm(engine):
    trace = lr.trace(lr.MOSS(), [[1] * 9] * 3, horizon=9, engine=engine)
    assert trace.arm.tolist() == [0, 1, 2] * 3
    assert trace.round is None
    assert trace.active is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("policy", [lr.EUCBV(), lr.UCB1(), lr.FixedArm(1)], ids=str)
def test_a_row_that_runs_out_is_named(policy, engine):
    with pytest.raises(InputError, match=r"the rewards of arm 1 ran out"):
        lr.trace(policy, [[0.0] * 100, [1.0] * 3], horizon=100, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_must_last_even_when_one_arm_is_left(engine):
    with pytest.raises(InputError, match=r"the rewards of arm 0 ran out"):
        lr.trace(lr.EUCBV(), [[1.0, 1.0]], horizon=3, engine=engine)
    assert lr.trace(lr.EUCBV(), [[1.0, 1.0, 0.5]], engine=engine).arm.tolist() == [0, 0, 0]


def test_ragged_rows_and_arrays():
    rewards = [[0.0, 1.0], [1.0], np.array([0.5, 0.25, 0.0])]
    assert len(lr.trace(lr.RoundRobin(), rewards, horizon=4).arm) == 4
    assert lr.trace("RoundRobin", np.eye(2)).arm.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        ([], "one row of numbers per arm"),
        (3, "one row of numbers per arm"),
        ([[], []], "horizon must be an integer of at least 1, got 0"),
        ([[1.0], [float("nan")]], "arm 1 must be a row of finite numbers"),
        ([[1.0], ["x"]], "arm 1 must be a row of finite numbers"),
        ([[1.0], 2.0], "arm 1 must be a row of finite numbers"),
    ],
)
def test_bad_tables(rewards, message):
    with pytest.raises(InputError, match=message):
        lr.trace(lr.UCB1(), rewards)


@pytest.mark.parametrize("policy", ["EUCBV", "ThompsonBeta", "DiscountedUCB"])
def test_a_trace_on_a_bandit_is_a_run_of_simulate(policy):
    bandit = lr.bernoulli([0.2, 0.8]) + lr.beta([2.0], [3.0])
    result = lr.simulate(policy, bandit, 300, runs=3, seed=4)
    for run in range(3):
        fast, plain = (lr.trace(policy, bandit, 300, seed=4, run=run, engine=engine) for engine in ENGINES)
        assert fast.arm.tolist() == plain.arm.tolist()
        assert fast.reward.tolist() == plain.reward.tolist()
        assert np.bincount(fast.arm, minlength=3).tolist() == result[policy].pulls[run].tolist()


def test_a_trace_takes_the_horizon_of_the_bandit_and_returns_the_rewards():
    assert lr.trace("RoundRobin", "paper-1").arm.shape == (60_000,)
    with pytest.raises(InputError, match="trace: give a horizon"):
        lr.trace("RoundRobin", "bernoulli:0.1,0.2")
    assert lr.trace("RoundRobin", [[0.25, 1.0], [0.5]], horizon=3).reward.tolist() == [0.25, 0.5, 1.0]


@pytest.mark.parametrize("policy", ["EUCBV(rho=0.02)", "UCB1", "ThompsonGauss", "DMED", "UCBImproved"])
def test_simulate_by_the_reference_gives_the_same_bits(policy):
    bandit = lr.gaussian([0.1, 0.5, 0.4, 0.45], [0.1, 0.2, 0.01, 0.3])
    fast, plain = (
        lr.simulate(policy, bandit, 400, runs=3, seed=9, grid=7, clip=True, engine=engine)[policy]
        for engine in ENGINES
    )
    assert np.array_equal(fast.regret, plain.regret)
    assert np.array_equal(fast.pulls, plain.pulls)
    assert np.array_equal(fast.eliminated, plain.eliminated)


def test_the_reference_compiles_nothing_of_a_policy():
    class Curious(lr.Policy):
        seen = []  # noqa: RUF012  # what only plain Python can write to

        def score(self, arm, clock):
            self.seen.append(clock.t)
            return arm.mean

    lr.simulate(Curious(), "bernoulli:0.1,0.2", 5, runs=1, engine="reference")
    assert Curious.seen == [3, 3, 4, 4, 5, 5]
    with pytest.raises(
        InputError, match="simulate: engine must be 'compiled', 'reference' or 'cuda', got 'fast'"
    ):
        lr.simulate("UCB1", "bernoulli:0.1,0.2", 5, engine="fast")


def test_bad_engine():
    with pytest.raises(InputError, match="'reference' or 'cuda', got 'fast'"):
        lr.trace(lr.UCB1(), [[1.0]], engine="fast")
