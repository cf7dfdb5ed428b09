"""Arms, bandits and testbeds: what a policy plays against."""

from lowregret.environments.bandit import (
    Bandit,
    bernoulli,
    beta,
    empirical,
    exponential,
    gaussian,
    poisson,
    uniform,
)
from lowregret.environments.environment_string import environment
from lowregret.environments.families import (
    Bernoulli,
    Beta,
    Empirical,
    Exponential,
    Family,
    Gaussian,
    Poisson,
    Uniform,
)
from lowregret.environments.testbeds import paper

__all__ = [
    "Bandit",
    "Bernoulli",
    "Beta",
    "Empirical",
    "Exponential",
    "Family",
    "Gaussian",
    "Poisson",
    "Uniform",
    "bernoulli",
    "beta",
    "empirical",
    "environment",
    "exponential",
    "gaussian",
    "paper",
    "poisson",
    "uniform",
]
