"""Realised regret, metrics of one's own, and the comparison of two results."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.errors import InputError

BANDIT = "gaussian:mean=0.2,0.5;variance=0.25"
POLICIES = ["UCB1", "MOSS"]
SHARE = lr.Metric("worst arm", lambda pulls, rewards: pulls[:, 0] / pulls.sum(axis=1))
EARNED = lr.Metric("earned", lambda pulls, rewards: rewards.sum(axis=1), lower_is_better=False)


@pytest.fixture(scope="module")
def recorded() -> lr.Results:
    return lr.simulate(POLICIES, BANDIT, horizon=400, runs=20, seed=2, record_rewards=True)


def test_rewards_are_those_of_the_trace(recorded: lr.Results) -> None:
    for run in (0, 7):
        path = lr.trace("UCB1", BANDIT, horizon=400, seed=2, run=run)
        sums = [path.reward[path.arm == arm].sum() for arm in (0, 1)]
        assert recorded["UCB1"].rewards[run] == pytest.approx(sums)
        final = recorded.finals.filter(policy="UCB1", run=run)
        assert final["reward"].item() == pytest.approx(path.reward.sum())
        assert final["realised_regret"].item() == pytest.approx(400 * 0.5 - path.reward.sum())


def test_realised_regret_has_the_mean_of_the_pseudo_regret(recorded: lr.Results) -> None:
    difference = recorded.finals["realised_regret"] - recorded.finals["regret"]
    assert abs(difference.mean()) < 5 * difference.std() / len(difference) ** 0.5
    row = recorded.summary(all=True).row(0, named=True)
    assert row["realised_regret"] == pytest.approx(200 - row["reward"])


def test_both_engines_and_experiments_record_the_same(recorded: lr.Results, tmp_path: Path) -> None:
    reference = lr.simulate("UCB1", BANDIT, 100, 3, engine="reference", record_rewards=True)
    compiled = lr.simulate("UCB1", BANDIT, 100, 3, record_rewards=True)
    assert reference["UCB1"].rewards == pytest.approx(compiled["UCB1"].rewards)
    experiment = lr.Experiment(
        environments=BANDIT, policies=POLICIES, horizon=400, runs=20, seed=2, record_rewards=True
    )
    for results in (experiment.run(), experiment.run(tmp_path), lr.open_results(tmp_path)):
        assert results.outcome("MOSS").rewards == pytest.approx(recorded["MOSS"].rewards)
        assert results.finals["reward"].to_list() == pytest.approx(recorded.finals["reward"].to_list())


def test_without_recording_nothing_is_added() -> None:
    result = lr.simulate("UCB1", BANDIT, 50, 2)
    assert result["UCB1"].rewards is None
    assert result.finals.columns == ["environment", "policy", "run", "regret"]
    with pytest.raises(
        InputError, match="metric 'earned': AttributeError: .* unless recorded with record_rewa"
    ):
        result.with_metrics(EARNED).summary(all=True)


def test_metrics_in_summary_and_compare(recorded: lr.Results, tmp_path: Path) -> None:
    table = recorded.with_metrics(SHARE, EARNED).summary(all=True)
    pulls = recorded["MOSS"].pulls
    row = table.filter(policy="MOSS").row(0, named=True)
    values = pulls[:, 0] / 400
    assert row["metric.worst arm"] == pytest.approx(values.mean())
    assert row["metric.worst arm se"] == pytest.approx(values.std(ddof=1) / 20**0.5)
    by_share = recorded.compare("UCB1", metric=SHARE, all=True).row(0, named=True)
    by_regret = recorded.compare("UCB1", all=True).row(0, named=True)
    assert by_share["verdict"] == "better in these runs" and by_share["low"] is by_share["p_bounded"] is None
    assert by_share["p_value"] == pytest.approx(by_regret["p_value"])  # the regret is a multiple of the share
    assert by_share["wins"] == by_regret["wins"]
    other = lr.Metric("best arm", lambda pulls, rewards: pulls[:, 1], lower_is_better=False)
    reversed_ = recorded.compare("UCB1", metric=other, all=True).row(0, named=True)
    assert (reversed_["verdict"], reversed_["wins"]) == ("better in these runs", by_share["wins"])
    page = recorded.with_metrics(SHARE).report(tmp_path)[0].read_text(encoding="utf-8")
    assert "worst arm" in page


@pytest.mark.parametrize("function", [lambda p, r: 1.0, lambda p, r: p, lambda p, r: np.full(len(p), np.nan)])
def test_a_metric_must_return_a_number_for_each_run(recorded: lr.Results, function) -> None:
    with pytest.raises(InputError, match="metric 'bad': function must return 20 finite numbers, one per run"):
        recorded.with_metrics(lr.Metric("bad", function)).summary(all=True)


def test_two_folders_are_compared_policy_by_policy(tmp_path: Path) -> None:
    def run(alpha: float, name: str, seed: int = 1) -> None:
        policies = ["MOSS", {"policy": "UCB1", "parameters": {"alpha": alpha}}]
        experiment = lr.Experiment(
            name=name, environments=BANDIT, policies=policies, horizon=300, runs=10, seed=seed
        )
        experiment.run(tmp_path / name)

    run(2, "before")
    run(2, "after")
    run(2, "elsewhere", seed=2)
    same = lr.open_results(tmp_path / "after").compare(lr.open_results(tmp_path / "before"), all=True)
    assert same.select("policy", "baseline", "difference").rows() == [
        ("MOSS", "MOSS (before)", 0.0),
        ("UCB1", "UCB1 (before)", 0.0),
    ]
    told = CliRunner().invoke(app, ["compare", str(tmp_path / "after"), str(tmp_path / "before")])
    assert "UCB1 against UCB1 (before) is inconclusive: difference 0" in told.output
    told = CliRunner().invoke(app, ["compare", str(tmp_path / "after"), str(tmp_path / "elsewhere")])
    assert told.exit_code == 2 and "the seeds differ (1 and 2)" in told.stderr
