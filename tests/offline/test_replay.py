"""Replays: true in distribution, with intervals that cover, and sane at the edges."""

import json

import numpy as np
import polars as pl
import pytest

import lowregret as lr

MEANS = np.array([0.2, 0.5, 0.6])
ROWS = 900


def uniform_log(draws, rows=ROWS):
    """Make a log whose arms were chosen uniformly."""
    arm = draws.integers(0, 3, rows)
    return {"arm": arm, "reward": (draws.random(rows) < MEANS[arm]).astype(float)}


def skew_log(draws, rows=ROWS):
    """Make a log whose logger favours the worst arm for those who reward everything more."""
    kind = draws.random(rows) < 0.5
    chance = np.where(kind[:, None], [[0.6, 0.2, 0.2]], [[0.2, 0.4, 0.4]])
    arm = (draws.random(rows)[:, None] > chance.cumsum(axis=1)).sum(axis=1)
    reward = (draws.random(rows) < MEANS[arm] + np.where(kind, 0.2, -0.2)).astype(float)
    return {"arm": arm, "reward": reward, "propensity": chance[np.arange(rows), arm]}


def values(policy, horizon):
    """Give the mean reward of a policy over its first t steps, for every t, from 20,000 simulated runs."""
    times = np.arange(1, horizon + 1)
    result = lr.simulate(policy, lr.bernoulli(MEANS), horizon, 20_000, seed=5, grid=times.tolist())
    return MEANS.max() - result[policy].regret.mean(axis=0) / times


@pytest.mark.parametrize(
    ("policy", "make", "horizon"),
    [
        ("UCB1", skew_log, 180),
        pytest.param("UCB1", uniform_log, 300, marks=pytest.mark.heavy),
        pytest.param("EUCBV", skew_log, 180, marks=pytest.mark.heavy),
        pytest.param("EUCBV", uniform_log, 300, marks=pytest.mark.heavy),
    ],
)
def test_replay_gives_what_simulation_gives(policy, make, horizon):
    """1,000 logs: the mean difference is within 4 of its standard errors, but for once in 16,000."""
    truth, draws = values(policy, horizon), np.random.default_rng(3)
    differences = []
    for number in range(1000):
        estimate = lr.replay(make(draws), policy, horizon, number, resamples=0)[policy]["replay"]
        differences.append(estimate.mean - truth[estimate.matched - 1])
    error = np.std(differences) / np.sqrt(1000)
    assert error < 0.002
    assert abs(np.mean(differences)) < 4 * error


def test_the_log_of_a_deterministic_policy_is_refused_and_impossible_propensities_are_warned_of():
    """A third of the rows over 0.8 is 0.42, where it should be 1."""
    log = uniform_log(np.random.default_rng(3))
    with pytest.raises(lr.InputError, match="every row of the log has propensity 1"):
        lr.replay(log | {"propensity": np.ones(ROWS)}, "RoundRobin")
    words = r"the mean of 1\{arm = '[012]'\} / propensity in the log is 0.[34]\d*, not about 1"
    with pytest.warns(UserWarning, match=words):
        lr.replay(log | {"propensity": np.full(ROWS, 0.8)}, "RoundRobin")


def test_tiny_propensities_and_huge_rewards_are_plain_json():
    log = {"arm": [0, 1, 0, 1], "reward": [1e150, 1e150, 3.0, 2.0], "propensity": [1e-100, 0.5, 0.5, 0.5]}
    found = lr.replay(log, "RoundRobin").to_dict()
    json.dumps(found, allow_nan=False)
    assert found["estimates"][1]["mean"] == pytest.approx(1.25e249)
    assert found["estimates"][1]["se"] is None


def test_a_skew_log_misleads_without_its_propensities():
    """The logger showed the worst arm to those who like everything: 0.2 becomes 0.3 in its rows."""
    log = skew_log(np.random.default_rng(3), 20_000)
    right = lr.replay(log, "FixedArm(arm=0)", resamples=0)["FixedArm(arm=0)"]
    assert right["SNIPS"].mean == pytest.approx(0.2, abs=4 * right["SNIPS"].se)
    del log["propensity"]
    with pytest.warns(UserWarning, match="the arms of the log were not chosen uniformly: .* rows have '0'"):
        wrong = lr.replay(log, "FixedArm(arm=0)", resamples=0)["FixedArm(arm=0)"]
    assert wrong["SNIPS"].mean > 0.2 + 6 * wrong["SNIPS"].se


@pytest.mark.parametrize(
    ("make", "horizon"), [(uniform_log, 300), pytest.param(skew_log, 180, marks=pytest.mark.heavy)]
)
def test_intervals_cover(make, horizon):
    """400 logs: coverage of 95% has an error of 1.1%, so below 90.5% less than once in 10,000."""
    truth, draws, covered = values("UCB1", horizon), np.random.default_rng(8), 0
    for number in range(400):
        estimate = lr.replay(make(draws), "UCB1", horizon, number)["UCB1"]["replay"]
        low, high = estimate.interval
        covered += low <= truth[estimate.matched - 1] <= high
    assert covered / 400 >= 0.905
    assert covered < 400


def test_the_default_horizon_is_the_number_of_matches_to_expect():
    draws = np.random.default_rng(1)
    assert lr.replay(uniform_log(draws), "MOSS", resamples=0).horizon == 300
    assert lr.replay(skew_log(draws), "MOSS", resamples=0).horizon == 180
    assert lr.replay({"arm": [1, 2, 3], "reward": [0, 0, 1]}, "MOSS").horizon == 1


def test_a_walk_ends_at_the_horizon():
    result = lr.replay(uniform_log(np.random.default_rng(1)), "MOSS", 50, resamples=3)
    assert result["MOSS"]["replay"].matched == 50
    assert (np.diff(result.events["MOSS"]) > 0).all()


def test_the_summary_by_hand():
    """RoundRobin has the weights 2 / 3, 2 / 3 and 1 / 2, the arm y has 0, 4 / 3 and 1.

    The last row is not used: no other arm could be chosen.
    """
    log = {"arm": ["x", "y", "y", "y"], "reward": [1, 0, 1, 1], "propensity": [0.75, 0.75, 0.999999, 1]}
    result = lr.replay(log, [lr.RoundRobin(), lr.FixedArm(1)])
    assert result.summary().columns == ["policy", "method", "matched", "mean", "se", "low", "high"]
    uniform, fixed = result["RoundRobin"], result[lr.FixedArm(1)]
    assert uniform["IPS"].mean == pytest.approx((2 / 3 + 0.5) / 3, rel=1e-5)
    assert uniform["SNIPS"].mean == pytest.approx((2 / 3 + 0.5) / (2 / 3 + 2 / 3 + 0.5), rel=1e-5)
    assert fixed["IPS"].mean == pytest.approx(1 / 3, rel=1e-5)
    assert fixed["SNIPS"].mean == pytest.approx(1 / (4 / 3 + 1), rel=1e-5)
    methods = ["IPS", "SNIPS", "DR"]
    assert [row["mean"] for row in result.arms().filter(arm="y").to_dicts()] == [
        fixed[method].mean for method in methods
    ]
    assert result.to_dict()["rows_not_used"] == 1
    assert max(result.events["FixedArm(arm=1)"]) < 3


def test_one_arm():
    result = lr.replay({"arm": ["only"] * 50, "reward": np.arange(50) % 2}, ["UCB1", "EUCBV", "RoundRobin"])
    for row in result.summary().to_dicts():
        assert row["matched"] == 50
        assert row["mean"] == 0.5
        assert row["low"] < 0.5 < row["high"]


def test_a_policy_that_never_matches():
    """Arm 0 is never accepted: its propensity is so large beside that of the other."""
    log = {"arm": [0] * 20 + [1], "reward": [1.0] * 21, "propensity": [0.9] * 20 + [1e-12]}
    result = lr.replay(log, "FixedArm(arm=0)", 5)
    assert result["FixedArm(arm=0)"]["replay"] == (0, None, None)
    assert result.summary().filter(method="replay").select("mean", "se", "low", "high").row(0) == (None,) * 4
    json.dumps(result.to_dict(), allow_nan=False)


def test_few_matches_and_equal_rewards_have_no_interval():
    few = lr.replay(uniform_log(np.random.default_rng(1)), "UCB1", 29)["UCB1"]["replay"]
    assert few.matched == 29 and few.se is None and few.interval is None
    none = lr.replay({"arm": [0, 1] * 100, "reward": [0.0] * 200}, "UCB1")["UCB1"]["replay"]
    assert none.se == 0 and none.interval is None


def test_the_names_of_arms_change_nothing_if_their_order_stays():
    log = uniform_log(np.random.default_rng(6))
    named = log | {"arm": [("ant", "bee", "cat")[arm] for arm in log["arm"]]}
    for policy in ("UCB1", "EUCBV"):
        assert lr.replay(log, policy, seed=3)[policy] == lr.replay(named, policy, seed=3)[policy]


def test_the_order_of_rows_does_not_change_inverse_propensity():
    log = pl.DataFrame(skew_log(np.random.default_rng(6)))
    there = lr.replay(log, "RoundRobin", resamples=0)["RoundRobin"]
    back = lr.replay(log.reverse(), "RoundRobin", resamples=0)["RoundRobin"]
    for method in ("IPS", "SNIPS"):  # DR predicts a row from those before it
        assert there[method].mean == pytest.approx(back[method].mean, rel=1e-12)


def test_a_seed_fixes_everything():
    log = uniform_log(np.random.default_rng(6))
    one, same, other = (lr.replay(log, "UCB1", seed=seed) for seed in (1, 1, 2))
    assert one.to_dict() == same.to_dict()
    assert one.resampled["UCB1"].tolist() != other.resampled["UCB1"].tolist()


def test_rewards_outside_the_unit_interval_are_refused_or_clipped():
    log = {"arm": [0, 1] * 50, "reward": [0, 3] * 50}
    with pytest.raises(
        lr.InputError, match=r"needs rewards in \[0, 1\], and the rewards of the log lie in \[0, 3\]"
    ):
        lr.replay(log, "ThompsonBeta")
    result = lr.replay(log, ["ThompsonBeta", "RoundRobin"], clip=True)
    assert result.notes == {"ThompsonBeta": "rewards clipped to [0, 1]", "RoundRobin": ""}
    assert result["ThompsonBeta"]["replay"].mean > 1.5


def test_a_replay_prints_in_one_line():
    result = lr.replay({"arm": [0, 1] * 50, "reward": [0, 1] * 50}, "RoundRobin", resamples=0)
    assert repr(result) == "Replay('the log': 1 policy, 100 rows, horizon 50, seed 0)"
    assert repr(result.log) == "Log('the log', 100 rows, 2 arms)"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"horizon": 0}, "replay: horizon must be an integer of at least 1, got 0"),
        ({"resamples": -1}, "replay: resamples must be an integer of at least 0, got -1"),
        ({"seed": -1}, "seed must be an integer"),
        ({"threads": 0}, "replay: threads must be an integer of at least 1, got 0"),
        ({"policies": []}, "replay: give at least one policy"),
        ({"policies": ["MOSS", lr.MOSS()]}, "replay: MOSS is given twice"),
        ({"policies": "FixedArm(arm=2)"}, r"FixedArm: arm must be below the number of arms \(2\), got 2"),
    ],
)
def test_bad_options_are_refused(options, sentence):
    with pytest.raises(lr.InputError, match=sentence):
        lr.replay({"arm": [0, 1], "reward": [0, 1]}, **({"policies": "MOSS"} | options))


def test_an_unknown_policy_is_told():
    result = lr.replay({"arm": [0, 1], "reward": [0, 1]}, "MOSS")
    with pytest.raises(lr.InputError, match="unknown policy 'UCB1': this replay has MOSS"):
        result["UCB1"]


def test_progress_counts_every_walk():
    calls = []
    log = uniform_log(np.random.default_rng(6))
    lr.replay(log, ["MOSS", "UCB1"], resamples=25, progress=calls.append)
    assert {(call.total, call.unit) for call in calls} == {(52, "replays")}
    for first, policy in ((0, "MOSS"), (26, "UCB1")):
        done = [call.done for call in calls if call.what == policy]
        assert (done[0], done[-1]) == (first, first + 26)
