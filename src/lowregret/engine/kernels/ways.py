"""Select the way to play a policy: the first shortcut that applies, else the scan of all arms.

Every way gives what the reference gives, bit for bit.
"""

from __future__ import annotations

from typing import Any

from lowregret.engine.kernels import scan
from lowregret.engine.kernels.lazy import (
    arm_lists,
    constant_index,
    posterior_sampling,
    round_robin,
    separable_index,
    time_varying_index,
)
from lowregret.engine.kernels.rules import admits_later
from lowregret.policies import Policy

SHORTCUTS: tuple[Any, ...] = (
    round_robin,
    arm_lists,
    posterior_sampling,
    constant_index,
    separable_index,
    time_varying_index,
)


def way_to_play(policy: Policy, arms: int, horizon: int) -> Any:
    """Return the module that plays a policy."""
    observes_more = policy.Memory is not None or policy.uses_rewards or admits_later(type(policy))
    if observes_more or policy.overrides("duel") or policy.overrides("sample") or policy.top_two:
        return scan
    return next((way for way in SHORTCUTS if way.applies(policy, arms, horizon)), scan)
