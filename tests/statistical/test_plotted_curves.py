"""Published curves against their configurations, those that are quick to simulate.

A curve is matched within 3 standard errors of the difference or within 5%; were its configuration the true
one, a curve would fail for at most one seed in 370. The seed is fixed.
"""

import pytest

from lowregret.reproduction.agreement import match_curves
from lowregret.reproduction.readings import experiments_to_run

QUICK = ("EUCBV(width='released')", "MOSS", "MOSSAnytime(alpha=1)", "OCUCB(alpha=2)", "UCB1")


def results_of(name, policies, runs):
    """Simulate some of the policies of a testbed."""
    (experiment,) = (each for each in experiments_to_run(int(name[6]), runs) if each.name == name)
    return experiment.model_copy(update={"policies": policies}).run()


@pytest.mark.parametrize(
    "name", ["paper-1", "paper-2-swapped-groups", "paper-3-squared-variances", "paper-4-squared-variances"]
)
def test_a_curve_is_matched_by_its_configuration(name):
    (experiment,) = (each for each in experiments_to_run(int(name[6])) if each.name == name)
    policies = [player.name for player in experiment.players if player.name in QUICK]
    runs = 100 if name == "paper-1" else 20
    table = match_curves(results_of(name, policies, runs)).drop_nulls("mean")
    assert (
        table.height
        == {
            "paper-1": 3,
            "paper-2-swapped-groups": 2,
            "paper-3-squared-variances": 2,
            "paper-4-squared-variances": 1,
        }[name]
    )
    for row in table.to_dicts():
        expected = (
            "not matched" if (name, row["our_policy"]) == ("paper-2-swapped-groups", "UCB1") else "matched"
        )
        assert row["verdict"] == expected, row


def test_eucbv_in_the_first_experiment_is_within_three_standard_errors():
    table = match_curves(results_of("paper-1", ["EUCBV(width='released')"], 100)).drop_nulls("mean")
    assert abs(table["z_score"].item()) < 3.0
