"""Policies as text."""

import pytest

import lowregret as lr
from lowregret.errors import InputError
from lowregret.policies import POLICIES
from lowregret.policies.policy_string import policy


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("EUCBV", lr.EUCBV()),
        (" EUCBV() ", lr.EUCBV()),
        ("EUCBV(0.25, width='released')", lr.EUCBV(rho=0.25, width="released")),
        ("EUCBV(psi=None)", lr.EUCBV()),
        ("UCB1(alpha=3)", lr.UCB1(alpha=3.0)),
        ("FixedArm(2)", lr.FixedArm(2)),
    ],
)
def test_reading(text, made):
    assert policy(text) == made


@pytest.mark.parametrize("kind", [kind for kind in POLICIES.values() if kind is not lr.FixedArm])
def test_what_a_policy_prints_can_be_read(kind):
    assert policy(str(kind())) == kind()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot read the policy ''"),
        ("UCB1(", r"cannot read the policy 'UCB1\('"),
        ("1 + 1", "write Name or Name"),
        ("Nobody", "unknown policy 'Nobody': use one of APT, AdaUCB, AugUCB"),
        ("UCB1(beta=1)", "UCB1: unknown parameter 'beta': it takes alpha"),
        ("MOSS(1)", "MOSS: too many parameters in 'MOSS\\(1\\)': it takes none"),
        ("UCB1(1, alpha=2)", "parameter 'alpha' is given twice"),
        ("UCB1(alpha=open)", "UCB1: alpha must be a plain value in"),
        ("UCB1(alpha='x')", "UCB1: alpha must be a finite number, got 'x'"),
        ("UCB1(alpha={[]: 1})", "UCB1: alpha must be a plain value"),
        ("-" * 50_000 + "1", "cannot read the policy"),
        ("UCB1(**x)", "unknown parameter"),
        ("FixedArm", r"FixedArm: give arm, as in FixedArm\(arm=...\)"),
        ("FixedArm()", "FixedArm: give arm"),
    ],
)
def test_refusing(text, message):
    with pytest.raises(InputError, match=message):
        policy(text)
