"""A small experiment of several shards, and how results are compared."""

import pytest

import lowregret as lr


@pytest.fixture(scope="session")
def small() -> lr.Experiment:
    return lr.Experiment(
        environments=[
            {"environment": "bernoulli:0.5*{K-1},0.9", "grid": {"K": [2, 4]}, "name": "coins"},
            {"environment": "gaussian:mean=0.1,0.9;variance=0.01", "name": "bell"},
            {"environment": "bernoulli:0.5,0.9", "name": "coins again", "horizon": 500},
        ],
        policies=["EUCBV", "MOSS"],
        horizon=500,
        runs=30,
        seed=5,
        grid={"points": 20},
    )


@pytest.fixture(scope="session")
def truth(small: lr.Experiment) -> lr.Results:
    """What the small experiment gives, computed in one piece for each pair."""
    return small.run(threads=1)


@pytest.fixture(scope="session")
def same():
    """Say that two results are the same, to the last bit and in the same order."""

    def check(one: lr.Results, other: lr.Results) -> None:
        assert one.description == other.description
        for name in ("finals", "paths", "pulls", "events", "arms"):
            ours, theirs = getattr(one, name), getattr(other, name)
            assert ours.schema == theirs.schema
            assert ours.equals(theirs), name

    return check
