"""The paper's claims as data."""

from lowregret.reproduction.claims import CLAIMS, GAUSSIAN_NAMES
from lowregret.reproduction.stated import paper_experiment


def test_every_name_is_a_policy_in_some_experiment_of_the_claim():
    for claim in CLAIMS:
        policies = {"KLUCB"}.union(*(paper_experiment(number).policies for number in claim.experiments))
        for name in (*claim.better, *claim.worse):
            assert name in policies or GAUSSIAN_NAMES[name] in policies, (claim.quote, name)


def test_no_claim_is_made_twice():
    assert len({(c.place, c.quote, c.worse, c.experiments) for c in CLAIMS}) == len(CLAIMS)


def test_claims_stand_by_group_and_have_a_criterion():
    groups = [claim.group for claim in CLAIMS]
    assert groups == [group for group in dict.fromkeys(groups) for _ in range(groups.count(group))]
    assert all(claim.criterion for claim in CLAIMS)
    strong = [claim for claim in CLAIMS if "much" in claim.quote or "extremely" in claim.quote]
    assert strong and all(claim.criterion.endswith("less than the words say") for claim in strong)
