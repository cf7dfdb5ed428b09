"""How each kind of policy computes the number by which its arms are compared."""

from __future__ import annotations

from typing import Any

from lowregret.policies.views import Arm, Clock, Random


def _by_round_robin(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> float:
    return -float(arm.pulls)


def _by_list_index(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    return self.list_index(arm, clock)


def _by_normal_posterior(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    mean, deviation = self.normal_posterior(arm)
    return mean + deviation * rng.normal()


def _by_sample(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    return self.sample(arm, clock, rng)


def _by_score(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    return self.score(arm, clock)


def _by_score_in_round(self: Any, arm: Arm, clock: Clock, round: Any, rng: Random) -> Any:
    return self.score(arm, clock, round)


_INDEX_METHODS = {
    "round_robin": _by_round_robin,
    "list_index": _by_list_index,
    "normal_posterior": _by_normal_posterior,
    "sample": _by_sample,
}


def index_method(cls: Any) -> Any:
    """Select the function that compares the arms of a class."""
    for name, method in _INDEX_METHODS.items():
        if getattr(cls, name, False):
            return method
    return _by_score_in_round if cls.overrides("first_round") else _by_score
