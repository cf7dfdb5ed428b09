"""lowregret: stochastic multi-armed bandits, with EUCBV at the centre.

>>> import lowregret as lr
>>> bandit = lr.bernoulli([0.07] * 19 + [0.10])
>>> result = lr.simulate([lr.EUCBV(), lr.MOSS()], bandit, horizon=1_000, runs=10, seed=1)
>>> result.summary().get_column("policy").to_list()
['EUCBV', 'MOSS']

Names are loaded when they are first used, so that ``import lowregret`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowregret.environments import (
        Bandit,
        bernoulli,
        beta,
        empirical,
        environment,
        exponential,
        gaussian,
        paper,
        poisson,
        uniform,
    )
    from lowregret.errors import InputError
    from lowregret.policies import EUCBV, MOSS, NEVER, UCB1, FixedArm, Policy, Uniform
    from lowregret.simulation import Result, simulate, trace

__version__ = "0.1.0"

_HOMES = {
    "environments": (
        "Bandit",
        "bernoulli",
        "beta",
        "empirical",
        "environment",
        "exponential",
        "gaussian",
        "paper",
        "poisson",
        "uniform",
    ),
    "errors": ("InputError",),
    "policies": ("EUCBV", "MOSS", "NEVER", "UCB1", "FixedArm", "Policy", "Uniform"),
    "simulation": ("Result", "simulate", "trace"),
}

__all__ = [
    "EUCBV",
    "MOSS",
    "NEVER",
    "UCB1",
    "Bandit",
    "FixedArm",
    "InputError",
    "Policy",
    "Result",
    "Uniform",
    "bernoulli",
    "beta",
    "empirical",
    "environment",
    "exponential",
    "gaussian",
    "paper",
    "poisson",
    "simulate",
    "trace",
    "uniform",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"lowregret.{home}"), name)
    raise AttributeError(f"module 'lowregret' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
