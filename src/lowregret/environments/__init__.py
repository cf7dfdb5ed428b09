"""Reward families, bandits and testbeds."""

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
    Gaussian,
    Poisson,
    Uniform,
)
from lowregret.environments.family_registry import FAMILIES, Family, FamilyEntry, entry_of
from lowregret.environments.testbeds import paper

__all__ = [
    "FAMILIES",
    "Bandit",
    "Bernoulli",
    "Beta",
    "Empirical",
    "Exponential",
    "Family",
    "FamilyEntry",
    "Gaussian",
    "Poisson",
    "Uniform",
    "bernoulli",
    "beta",
    "empirical",
    "entry_of",
    "environment",
    "exponential",
    "gaussian",
    "paper",
    "poisson",
    "uniform",
]
