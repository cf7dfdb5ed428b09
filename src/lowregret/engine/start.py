"""Start a policy on a table of arms: check its methods, activate arms, set its memory."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from inspect import signature
from typing import Any, cast

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.identity import unseeded
from lowregret.engine.kernels import state
from lowregret.engine.kernels.state import Rows
from lowregret.errors import InputError
from lowregret.policies import Arm, Policy, clock_at
from lowregret.policies.base import takes_rng
from lowregret.policies.class_validation import COMPARISONS

METHODS = {
    "score": "arm, clock",
    "sample": "arm, clock, rng",
    "normal_posterior": "arm",
    "beta_posterior": "arm",
    "list_index": "arm, clock",
    "duel": "one, other, clock, rng",
    "choose": "arms, clock, rng",
    "list_index_slope": "arm, clock",
    "lower_bound": "arm, clock, round",
    "next_round": "arms, clock, round",
    "transform_reward": "reward, rng",
    "update_memory": "arm, reward, clock",
    "propensities": "arms, clock",
    "recommend": "arms, clock",
    "stop": "arms, clock",
    "accepts": "arm",
}
"""The parameters of each method after ``self``.

In a policy with rounds, ``score`` and ``choose`` have ``round`` as well; ``next_round`` and ``update_memory``
may end with ``rng``. A policy has one of the first seven, by which it compares arms, unless it sets
``round_robin``.
"""


NUMBERS = ("t", "T", "n", "i", "k", "time", "step", "round_number", "horizon", "pulls")
"""Names that a clock does not have."""
_READ = (*METHODS, "first_round", "round_robin")
"""The attributes of a class on which it depends whether the engine can call its methods."""


def start(policy: Policy, rows: Rows, horizon: int) -> Any:
    first = first_round(policy, len(rows), horizon)
    activate(policy, rows)
    state.initialise_memory(policy, rows)
    return first


def first_round(policy: Policy, arms: int, horizon: int) -> Any:
    """Return the first round of a policy, once it is known to suit the problem."""
    _validate_methods(policy)
    policy.validate_problem(clock_at(0, horizon, arms, 0.0))
    first = state.first_round(policy, arms, horizon)
    fields = getattr(first, "_fields", ())
    if not {"number", "until"} <= set(fields):
        raise InputError(
            f"{policy}: first_round must return a NamedTuple with number and until, got {first!r}"
        )
    for name, value in zip(fields, first, strict=True):
        if not isinstance(value, int | float):  # an array would be shared by all runs
            raise InputError(f"{policy}: {name} of a round must be a number, got {value!r}")
    return first


def activate(policy: Policy, rows: Rows) -> None:
    """Activate the arms with which the policy starts, of which there must be one."""
    state.activate(policy, rows)
    if not rows["active"].any():
        raise InputError(f"{policy}: initially_active must return True for at least one arm")


def new_rewards(policy: Policy, arms: int, pulls: int) -> Floats | None:
    gigabytes = arms * pulls * (16 if policy.uses_times or policy.uses_totals else 8) / 1e9
    with within_memory(
        f"{policy}: the rewards of {arms} arms over {pulls} steps need {gigabytes:.3g} GB of memory: "
        "use a shorter horizon"
    ):
        return state.new_rewards(policy, arms, pulls)


@contextmanager
def within_memory(sentence: str) -> Iterator[None]:
    """Raise ``InputError`` with a sentence where arrays that are made inside do not fit into memory."""
    try:
        yield
    except (MemoryError, ValueError):
        raise InputError(sentence) from None


def _validate_methods(policy: Policy) -> None:
    """Raise ``InputError`` if the engine could not call the methods of a policy."""
    kind = type(policy)
    if mistake := _mistake_in_methods(kind, tuple(getattr(kind, name, None) for name in _READ)):
        raise InputError(f"{policy}: {mistake}")
    if kind.__module__.startswith("lowregret."):
        return
    if draw := unseeded(kind):
        remedy = "draw from the rng of sample(self, arm, clock, rng)"
        raise InputError(f"{policy}: {draw}, which the seed does not determine: {remedy}")
    posterior, deviation = getattr(policy, "normal_posterior", cast(Any, None)), 0.0
    for mean in (0.0, 0.5, 1.0):
        with suppress(Exception):  # of a policy without it, or that needs more than this arm
            _, deviation = posterior(Arm(0, max(policy.warmup, 1), mean, 0.25, policy.initial_memory()))
        if deviation < 0:
            raise InputError(f"{policy}: normal_posterior must return a deviation >= 0, got {deviation:g}")


@lru_cache(maxsize=256)
def _mistake_in_methods(kind: type[Policy], attributes: tuple[Any, ...]) -> str:
    """Return what is wrong with the methods of a class, "" if nothing is; ``attributes`` are of ``_READ``.

    A number for the clock, which arguments by position would let pass, is one of the mistakes.
    """
    comparisons = [f"{name}(self, {METHODS[name]})" for name in METHODS if name in COMPARISONS]
    if not any(getattr(kind, name, False) for name in COMPARISONS):
        return f"define {', '.join(comparisons[:-1])} or {comparisons[-1]}, or set round_robin"
    policy = object.__new__(kind)
    for method, parameters in METHODS.items():
        if hasattr(kind, method):
            if method in ("score", "choose") and kind.overrides("first_round"):
                parameters += ", round"
            if takes_rng(kind, method):
                parameters += ", rng"
            names, roles = list(signature(getattr(policy, method)).parameters), parameters.split(", ")
            if len(names) != len(roles):
                return f"write {method}(self, {parameters})"
            for name, role in zip(names, roles, strict=True):
                if role == "clock" and name in NUMBERS:
                    return (
                        f"{method}(self, {', '.join(names)}): {name} would be the clock, not a number: "
                        f"write {method}(self, {parameters}) and use clock.t or clock.horizon"
                    )
    return ""
