"""What is known of arms before the first pull: rewards that count in their statistics, and not in the time.

A prior of mean m and weight w is w rewards with this mean. Of rewards in [0, 1] they are 0 and 1, evenly
mixed, and one between them where w m is no integer: no rewards in [0, 1] have a larger variance. Of other
rewards half are m - s and half m + s, s their standard deviation. Its sums have
them from the start, and ``pulls``, which count pulls alone, begin at 0.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret._common.validation import integer, short_repr
from lowregret._common.validation import number as finite
from lowregret.engine.kernels.rng import policy_rng
from lowregret.engine.kernels.state import ArmTable, Rows, fill_rewards
from lowregret.engine.kernels.statistics import Sums, add_reward, memory_after, read_sums, write_sums
from lowregret.engine.start import new_rewards
from lowregret.errors import InputError
from lowregret.policies import Policy
from lowregret.policies.views import arm_view, clock_at, mean_of

MAX_WEIGHT = 100_000


class ArmPrior(NamedTuple):
    """The mean of an arm, how many rewards it is worth, and their deviation if they have no range."""

    mean: float
    weight: int
    deviation: float | None = None

    def rewards(self) -> Floats:
        """Return the rewards, in an order in which those of every part have about this mean."""
        steps = np.arange(self.weight + 1)
        if self.deviation is not None:
            signs = np.where(steps[1:] % 2, -1.0, 1.0)
            signs[self.weight - self.weight % 2 :] = 0.0
            return self.mean + self.deviation * signs
        rewards = np.diff(np.floor(self.mean * steps + 1e-9))
        rest = max(self.mean * self.weight - float(rewards.sum()), 0.0)
        if rest > 1e-9:
            rewards[np.flatnonzero(rewards == 0.0)[-1]] = rest
        return rewards


def arm_prior(policy: Policy, arm: object, prior: object, bounded: bool) -> ArmPrior:
    """Validate the prior of an arm; ``bounded`` says whether rewards lie in [0, 1]."""
    form = "(0.04, 200), a mean and a weight" if bounded else "(3, 200, 1.5): mean, weight, deviation"
    parts = list(prior) if isinstance(prior, list | tuple) else []
    if len(parts) != (2 if bounded else 3):
        raise InputError(f"the prior of arm {short_repr(arm)} must be as {form}, got {short_repr(prior)}")
    mean, *rest = (finite("prior", "a mean or deviation", part) for part in (parts[0], *parts[2:]))
    if (bounded and not 0.0 <= mean <= 1.0) or (rest and rest[0] < 0.0):
        raise InputError(
            f"the prior of arm {short_repr(arm)} lies outside the range, got {short_repr(prior)}"
        )
    if not policy.takes_prior:
        raise InputError(f"{policy} cannot use a prior: it weighs each reward by the probability of its pull")
    weight = parts[1] if not isinstance(parts[1], float) or parts[1] % 1 else int(parts[1])
    return ArmPrior(mean, integer("prior", "a weight", weight, MAX_WEIGHT), *rest)


def numbered_priors(
    policy: Policy, prior: Mapping[int, Any] | None, arms: int, bounded: bool
) -> dict[int, ArmPrior]:
    """Validate the priors of arms that are named by their numbers."""
    if prior is None:
        return {}
    if not isinstance(prior, Mapping):
        raise InputError(f"prior must map arms to (mean, weight), got {short_repr(prior)}")
    for arm in prior:
        if isinstance(arm, bool) or not isinstance(arm, int) or not 0 <= arm < arms:
            raise InputError(f"prior: the arms are 0 to {arms - 1}, got {short_repr(arm)}")
    return {arm: arm_prior(policy, arm, entry, bounded) for arm, entry in prior.items()}


def describe(priors: Mapping[Any, ArmPrior]) -> str:
    """Return a sentence about priors, "" where there is none."""
    parts = [f"{prior.weight:,} of mean {prior.mean:.4g} for {arm}" for arm, prior in [*priors.items()][:3]]
    others = f" and {len(priors) - 3:,} other arms" if len(priors) > 3 else ""
    words = "statistics begin with a prior: rewards that no pull earned"
    return f"{words}, {', '.join(parts)}{others}" if priors else ""


def apply_prior(policy: Policy, rows: Rows, priors: Mapping[int, ArmPrior], horizon: int) -> None:
    """Add the priors of arms, by their numbers, to a table of arms that were not pulled."""
    clock, table, rng = clock_at(0, horizon, len(rows), 0.0), ArmTable(rows), policy_rng(0, -1)
    for place in range(len(rows)):
        row = rows[place]
        if int(row["number"]) not in priors:
            continue
        values = priors[int(row["number"])].rewards()
        for value in map(float, values if policy.Memory else ()):
            memory = memory_after(policy, arm_view(policy, table, place), value, clock, rng)
            sums = add_reward(read_sums(row), value)
            write_sums(row, sums, mean_of(sums.n, sums.origin, sums.total))
            policy.write_memory(row, memory)
        origin, count = float(values[0]), len(values)
        row["origin"], row["total"] = origin, (values - origin).sum()
        row["squares"], row["mean"] = ((values - origin) ** 2).sum(), mean_of(count, origin, row["total"])
        row["pulls"], row["prior"] = 0, count


def allocate_rewards(policy: Policy, arms: int, pulls: int, priors: Mapping[int, ArmPrior]) -> Floats | None:
    """Return an array for the rewards of each arm, if a policy uses them; those of a prior have step 0."""
    rewards = new_rewards(policy, arms, pulls + max((prior.weight for prior in priors.values()), default=0))
    for number, prior in priors.items():
        if rewards is not None:
            fill_rewards(policy, rewards, number, prior.rewards(), 0.0)
    return rewards


def sums_of_pulls(row: np.void, prior: ArmPrior | None) -> Sums:
    """Return the sums of the pulls of an arm alone; of a policy that has reset them, those since then."""
    if prior is None or row["forgotten"] > 0:
        return read_sums(row)
    distances = prior.rewards() - row["origin"]
    total, squares = row["total"] - distances.sum(), row["squares"] - (distances**2).sum()
    return Sums(0, int(row["pulls"]), float(row["origin"]), float(total), max(float(squares), 0.0))
