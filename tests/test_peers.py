"""The package still plays what was compared with other packages; ``make verify`` plays the other side."""

import hashlib
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import lowregret as lr

ROOT = Path(__file__).parents[1]
RECORDS = json.loads((ROOT / "tests" / "data" / "peers.json").read_text(encoding="utf-8"))
TABLES = runpy.run_path(str(ROOT / "tools" / "peers" / "rewards.py"))
DOCUMENT = runpy.run_path(str(ROOT / "tools" / "peers" / "document.py"))
PLAYED = {(record["policy"], record["rewards"]): record["arms"] for record in RECORDS["steps"]}
EQUAL = [record for record in RECORDS["steps"] if not record["differing_steps"]]


@pytest.mark.parametrize(("policy", "rewards"), PLAYED)
def test_the_package_plays_what_was_compared(policy, rewards):
    arms = lr.trace(policy, TABLES[rewards](), horizon=TABLES["STEPS"]).arm
    assert hashlib.sha256(bytes(arms.astype(np.uint8))).hexdigest()[:16] == PLAYED[policy, rewards]


def test_every_record_of_a_policy_has_the_same_arms():
    assert all(PLAYED[record["policy"], record["rewards"]] == record["arms"] for record in RECORDS["steps"])


def test_equal_means_the_same_arms():
    assert {record["policy"] for record in EQUAL} >= {"UCB1", "MOSS", "DiscountedUCB", "BayesUCBBeta"}
    assert all(record["arms"] == record["arms_of_peer"] for record in EQUAL)


def test_every_difference_is_proved():
    assert DOCUMENT["unproven"](RECORDS, 1e-4) == []


def test_a_difference_without_proof_is_found():
    record = next(record for record in RECORDS["steps"] if record["differing_steps"])
    for wrong in ({"differing_steps_changed": 1}, {"why": ""}, {"differing_steps_changed": None}):
        assert len(DOCUMENT["unproven"]({"steps": [{**record, **wrong}], "shares": []}, 1e-4)) == 1


def test_the_page_shows_the_records():
    page = (ROOT / "docs" / "evidence" / "peers.md").read_text(encoding="utf-8")
    assert page == DOCUMENT["with_tables"](page, RECORDS)
    assert all(f"`{record['policy']}`" in page for record in RECORDS["steps"] + RECORDS["shares"])


def test_every_policy_is_compared_or_named():
    page = (ROOT / "docs" / "evidence" / "peers.md").read_text(encoding="utf-8")
    assert [name for name in lr.policies.POLICIES if f"`{name}" not in page] == []


def test_the_packages_are_those_that_the_tool_installs():
    tool = (ROOT / "tools" / "verify_peers.py").read_text(encoding="utf-8")
    assert all(f'"{name}=={version}"' in tool for name, version in RECORDS["versions"].items())
