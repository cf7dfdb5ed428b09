"""The tables: made by a simulation, and joined."""

import pytest
from analysis_data import frames_of

import lowregret as lr
from lowregret.results.tables import COLUMNS, join


def test_a_simulation_gives_the_tables() -> None:
    result = lr.simulate(["EUCBV", "MOSS"], "bernoulli:0.1,0.9", horizon=60, runs=3, grid=4, seed=9)
    frames = result.tables()
    for name, columns in COLUMNS.items():
        assert tuple(getattr(frames, name).columns) == columns
    assert frames.seed == 9
    assert frames.finals.filter(policy="MOSS")["regret"].to_list() == result.regret("MOSS").tolist()
    assert frames.curves.filter(policy="EUCBV", run=1)["t"].to_list() == [15, 30, 45, 60]
    assert (
        frames.curves.filter(policy="EUCBV", run=1)["regret"].to_list() == result["EUCBV"].regret[1].tolist()
    )
    assert frames.pulls.filter(policy="MOSS", run=2)["pulls"].to_list() == result.pulls("MOSS")[2].tolist()
    times = result.eliminated("EUCBV")
    found = {(row["run"], row["arm"]): row["t"] for row in frames.events.to_dicts()}
    assert found == {(r, a): times[r, a] for r in range(3) for a in range(2) if times[r, a]}
    assert frames.arms["gap"].to_list() == pytest.approx([0.8, 0.0])
    assert frames.arms["optimal"].to_list() == [False, True]


def test_joined_tables_keep_a_seed_they_share() -> None:
    one, other = frames_of({"e": {"A": [1.0]}}), frames_of({"f": {"A": [2.0]}})
    joined = join("both", [one, other])
    assert (joined.name, joined.seed, len(joined.finals)) == ("both", 1, 2)
