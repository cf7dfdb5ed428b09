"""The front door: what comes back, and what is refused."""

import json

import numpy as np
import pytest

import lowregret as lr
from lowregret.analysis.columns import INTERVALS, TAIL_COLUMNS
from lowregret.errors import InputError

BANDIT = lr.bernoulli([0.2, 0.8, 0.5])


@pytest.fixture(scope="module")
def result():
    return lr.simulate([lr.EUCBV(), "UCB1(alpha=1)"], BANDIT, 400, runs=20, seed=3, grid=10)


def test_summary(result):
    table = result.summary(all=True)
    assert table["policy"].to_list() == ["EUCBV", "UCB1(alpha=1)"]
    regret = result.regret("EUCBV")
    row = table.row(0, named=True)
    assert row["mean"] == pytest.approx(regret.mean())
    assert row["se"] == pytest.approx(regret.std(ddof=1) / np.sqrt(20))
    assert row["median"] == pytest.approx(np.median(regret))
    assert row["p05"] == pytest.approx(np.quantile(regret, 0.05))
    assert row["optimal_arm_eliminated"] == 0
    assert result["EUCBV"].seconds > 0
    assert table.row(1, named=True)["optimal_arm_eliminated"] is None


def test_curves_and_paths(result):
    curve = result.curves().filter(policy="EUCBV")
    assert curve["t"].to_list() == list(range(40, 401, 40))
    assert curve["mean"].to_list() == pytest.approx(result["EUCBV"].regret.mean(axis=0))
    assert result.curves().height == 20
    table = result.paths
    assert table.columns == ["environment", "policy", "run", "t", "regret"]
    assert table.height == 2 * 20 * 10
    one = table.filter(policy="UCB1(alpha=1)", run=7)["regret"].to_list()
    assert one == result["UCB1(alpha=1)"].regret[7].tolist()


def test_pulls_and_regret_agree(result):
    for name in result.policies:
        pulls = result[name].pulls
        assert pulls.shape == (20, 3)
        assert (pulls.sum(axis=1) == 400).all()
        np.testing.assert_allclose(result.regret(name), pulls @ BANDIT.gaps)


def test_a_policy_is_found_by_itself_or_its_name(result):
    assert result[lr.UCB1(alpha=1)] is result["UCB1(alpha=1)"]
    with pytest.raises(
        InputError, match=r"unknown policy 'MOSS': environment '.*' has EUCBV, UCB1\(alpha=1\)"
    ):
        result[lr.MOSS()]


def test_plain_data_is_valid_json(result):
    single = lr.simulate(lr.MOSS(), BANDIT, 50, runs=1)
    for data in (result.to_dict(), single.to_dict()):
        text = json.dumps(data, allow_nan=False)
        policy = json.loads(text)["policies"][0]
        assert set(policy) == {
            "policy", "note", "regret", "curve", "optimal_arm_eliminated", "failures",
            "failures_high", "steps", "seconds", "threads"
        }  # fmt: skip
        assert set(policy["regret"]) == {"mean", "se", "median", "p05", "p95", *INTERVALS, *TAIL_COLUMNS}
    assert single.to_dict()["policies"][0]["regret"]["se"] is None
    assert result.to_dict()["policies"][0]["steps"] == 8000


def test_the_optimal_arm_counts_as_lost_only_when_no_optimal_arm_is_left():
    bandit = lr.gaussian([0.5, 0.5, 0.4], 0.25)
    result = lr.simulate(lr.EUCBV(rho=0.001), bandit, 300, runs=200, seed=1)
    times = result["EUCBV(rho=0.001)"].eliminated
    lost = sum(bool(row[0] and row[1]) for row in times)
    assert 0 < lost < (times[:, 0] > 0).sum()
    assert result.summary(all=True)["optimal_arm_eliminated"].to_list() == [lost]


@pytest.mark.parametrize(
    ("grid", "times"), [(1, [10]), (4, [2, 5, 7, 10]), (99, list(range(1, 11))), ([3, 7, 3], [3, 7, 10])]
)
def test_grids(grid, times):
    assert lr.simulate(lr.MOSS(), BANDIT, 10, runs=1, grid=grid)["MOSS"].grid.tolist() == times


def test_the_horizon_of_a_testbed_is_its_own():
    assert lr.simulate("MOSS", "paper-1", runs=1).horizon == 60_000
    assert lr.simulate("MOSS", "paper-1", 100, runs=1).horizon == 100


def good(**changes):
    arguments = {"policies": "MOSS", "bandit": BANDIT, "horizon": 10, "runs": 1} | changes
    return lr.simulate(arguments.pop("policies"), arguments.pop("bandit"), **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": 0}, "horizon must be an integer of at least 1, got 0"),
        ({"horizon": 1.5}, "horizon must be an integer of at least 1, got 1.5"),
        ({"horizon": 2**60}, "horizon must be at most"),
        ({"horizon": None}, "give a horizon, since 'bernoulli' has none of its own"),
        ({"runs": 0}, "runs must be an integer of at least 1, got 0"),
        ({"runs": 10**19}, "10000000000000000000 runs need 1.28e.12 GB of memory: use fewer"),
        ({"seed": -1}, r"seed must be an integer from 0 to 2\^64 - 1, got -1"),
        ({"seed": 0.5}, "seed must be an integer"),
        ({"threads": 0}, "threads must be an integer of at least 1, got 0"),
        ({"grid": 0}, "grid must be an integer of at least 1, got 0"),
        ({"grid": 1.5}, "grid must be an integer or a list of times, got 1.5"),
        ({"grid": [0]}, "a time of the grid must be an integer of at least 1, got 0"),
        ({"grid": [11]}, "a time of the grid must be at most 10, got 11"),
        ({"policies": []}, "give at least one policy"),
        ({"policies": ["MOSS", lr.MOSS()]}, "MOSS is given twice"),
        ({"policies": lr.MOSS}, r"MOSS is a class: write MOSS\(\)"),
        ({"policies": 3}, "a policy must be a Policy or its name, got 3"),
        ({"policies": "Nobody"}, "unknown policy 'Nobody'"),
        ({"bandit": "nowhere"}, "unknown environment 'nowhere'"),
        ({"bandit": 3}, "environment"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(InputError, match=message):
        good(**changes)


def test_good_is_good():
    assert good().runs == 1


def test_a_policy_of_a_module_in_this_folder(tmp_path, monkeypatch):
    (tmp_path / "own_bandits.py").write_text(
        "import lowregret as lr\n\nclass Last(lr.Policy):\n    at: float = 0.0\n\n"
        "    def score(self, arm, clock):\n        return arm.number + self.at\n"
    )
    monkeypatch.chdir(tmp_path)
    trace = lr.trace("own_bandits:Last(at=1)", [[0] * 9, [0] * 9], horizon=5, engine="reference")
    assert trace.arm.tolist() == [0, 1, 1, 1, 1]
    result = lr.simulate(["own_bandits:Last", "UCB1"], "bernoulli:0,1", 20, runs=2, engine="reference")
    assert result.regret("Last").tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match="no module 'own_bandit'"):
        lr.simulate("own_bandit:Last", "bernoulli:0,1", 20)


def test_only_floats_that_are_integers_are_horizons():
    for given in (2.5, -1.0, float("inf")):
        with pytest.raises(InputError, match=rf"got {given}$"):
            lr.simulate("UCB1", "bernoulli:0,1", given)


def test_a_misspelt_policy_is_corrected():
    result = lr.simulate(["MOSS", "UCB1"], "bernoulli:0,1", 20, runs=2, engine="reference")
    for call in (result.compare, result.regret, result.outcome):
        with pytest.raises(InputError, match=r"unknown policy 'MOS': did you mean 'MOSS'\?$"):
            call("MOS")
