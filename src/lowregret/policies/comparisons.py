"""The number by which arms are compared, for each way in which a policy compares them."""

from __future__ import annotations

from typing import Any

from lowregret.policies.views import Arm, Clock, Random


def _by_round_robin(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> float:
    return -float(arm.pulls)


def _by_own_choice(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> float:
    return 0.0  # arms are compared in ``engine.kernels.step``, or by the policy itself


def _by_list_index(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    return self.list_index(arm, clock)


def _by_normal_posterior(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    mean, deviation = self.normal_posterior(arm)
    return mean + deviation * rng.normal()


def _by_beta_posterior(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    a, b = self.beta_posterior(arm)
    return rng.beta(a, b)


def _by_sample(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    return self.sample(arm, clock, rng)


def _by_score(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    return self.score(arm, clock)


def _by_score_in_round(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    return self.score(arm, clock, round)


INDEX_METHODS = {
    "round_robin": _by_round_robin,
    "list_index": _by_list_index,
    "duel": _by_own_choice,
    "choose": _by_own_choice,
    "normal_posterior": _by_normal_posterior,
    "beta_posterior": _by_beta_posterior,
    "sample": _by_sample,
}


def index_method(cls: Any) -> Any:
    """Select the function that returns the number by which a class of policies compares arms."""
    for name, method in INDEX_METHODS.items():
        if getattr(cls, name, False):
            return method
    return _by_score_in_round if cls.overrides("first_round") else _by_score
