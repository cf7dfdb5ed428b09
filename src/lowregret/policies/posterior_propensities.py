"""The propensities of a policy that states the distributions of its samples."""

from __future__ import annotations

from itertools import repeat, starmap
from typing import Any

from lowregret.policies.views import Arm


def posterior_propensities(policy: Any, arms: Any) -> Any:
    """Return the probability of each arm to have the largest sample."""
    import numpy as np

    from lowregret.special.argmax_probabilities import beta_argmax, normal_argmax

    columns = [column.tolist() for column in (arms.number, arms.pulls, arms.mean, arms.variance)]
    memories = starmap(policy.Memory, zip(*arms.memory, strict=True)) if policy.Memory else repeat(None)
    normal = policy.overrides("normal_posterior")
    posterior = policy.normal_posterior if normal else policy.beta_posterior
    posteriors = np.array(list(map(posterior, map(Arm, *columns, memories))), np.float64)
    return (normal_argmax if normal else beta_argmax)(*posteriors.T)
