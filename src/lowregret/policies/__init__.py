"""The policies. ``POLICIES`` maps the public name of each to its class."""

from __future__ import annotations

from lowregret.policies.base import NEVER, Arm, Arms, Clock, Policy
from lowregret.policies.baselines import FixedArm, Uniform
from lowregret.policies.eucbv import EUCBV
from lowregret.policies.moss import MOSS
from lowregret.policies.ucb import UCB1

__all__ = [
    "EUCBV",
    "MOSS",
    "NEVER",
    "POLICIES",
    "UCB1",
    "Arm",
    "Arms",
    "Clock",
    "FixedArm",
    "Policy",
    "Uniform",
]

POLICIES: dict[str, type[Policy]] = {
    name: value
    for name, value in sorted(globals().items())
    if isinstance(value, type) and issubclass(value, Policy) and value is not Policy
}
