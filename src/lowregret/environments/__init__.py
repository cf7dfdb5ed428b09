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
from lowregret.environments.paper import paper
from lowregret.environments.text import environment

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
