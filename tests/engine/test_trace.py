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


def test_bad_engine():
    with pytest.raises(InputError, match="'compiled' or 'reference', got 'fast'"):
        lr.trace(lr.UCB1(), [[1.0]], engine="fast")
