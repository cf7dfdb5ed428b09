"""Select how the runs of a policy are played; every way gives what ``reference.play`` gives, bit for bit."""

from __future__ import annotations

from typing import Any

from lowregret.engine.compile import OPTIONS, by_policy_class
from lowregret.engine.lazy.arm_lists import play_lists
from lowregret.engine.lazy.constant_index import play_constant_index
from lowregret.engine.lazy.posterior_sampling import play_posterior_sampling
from lowregret.engine.lazy.round_robin import play_round_robin
from lowregret.engine.lazy.separable_index import play_separable_index
from lowregret.engine.lazy.time_varying_index import play_time_varying_index
from lowregret.engine.rules import admits_later
from lowregret.engine.scan import play_scanning
from lowregret.policies import Policy
from lowregret.policies.base import samples_posteriors


def _select(kind: type[Policy]) -> Any:
    """Return the function that plays one run of a class of policies."""
    if kind.Memory is not None or kind.uses_rewards or kind.overrides("duel") or admits_later(kind):
        return play_scanning
    if kind.round_robin:
        watches = kind.uses_best or any(map(kind.overrides, ("transform_reward", "lower_bound")))
        return play_scanning if watches else play_round_robin
    if kind.overrides("list_index"):
        return play_lists
    if samples_posteriors(kind):
        return play_scanning if kind.uses_arms else play_posterior_sampling
    if kind.overrides("sample") or kind.index_trend == "arbitrary":
        return play_scanning
    if kind.index_trend == "constant" and kind.uses_arms:
        return play_scanning
    if kind.index_trend == "constant" and not kind.uses_best:
        return play_constant_index
    if any(map(kind.overrides, ("first_round", "lower_bound"))):
        return play_scanning
    sees_more = kind.uses_best or kind.uses_arms or kind.overrides("transform_reward")
    separable = kind.separable_width and kind.warmup > 0 and not sees_more
    return play_separable_index if separable else play_time_varying_index


play = by_policy_class(_select, OPTIONS)
"""Play one run."""
