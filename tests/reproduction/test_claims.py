"""The paper's claims as data."""

from lowregret.reproduction.claims import CLAIMS, GAUSSIAN_NAMES
from lowregret.reproduction.paper_experiments import chosen


def test_every_name_is_a_policy_that_plays_in_some_experiment_of_the_claim():
    for claim in CLAIMS:
        played = {"KLUCB"}.union(*(chosen(number)[0].printed for number in claim.experiments))
        for name in (*claim.better, *claim.worse):
            assert name in played or GAUSSIAN_NAMES[name] in played, (claim.quote, name)


def test_no_claim_is_made_twice():
    assert len({(c.place, c.quote, c.worse, c.experiments) for c in CLAIMS}) == len(CLAIMS)
