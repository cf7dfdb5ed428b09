"""Reward families, bandits and testbeds."""

from lowregret.environments.bandit import Bandit
from lowregret.environments.constructors import (
    bernoulli,
    beta,
    empirical,
    exponential,
    gaussian,
    lognormal,
    pareto,
    poisson,
    truncnormal,
    uniform,
)
from lowregret.environments.delays import Delay
from lowregret.environments.drift import (
    DriftingBandit,
    linear_drift,
    piecewise_drift,
    sinusoidal_drift,
    tabulated_drift,
)
from lowregret.environments.environment_string import environment
from lowregret.environments.families import (
    Bernoulli,
    Beta,
    Empirical,
    Exponential,
    Gaussian,
    LogNormal,
    Pareto,
    Poisson,
    TruncNormal,
    Uniform,
)
from lowregret.environments.family_registry import FAMILIES, Family, FamilyEntry, entry_of
from lowregret.environments.gymnasium_env import to_gymnasium
from lowregret.environments.sampled import Sampled
from lowregret.environments.testbeds import paper

__all__ = [
    "FAMILIES",
    "Bandit",
    "Bernoulli",
    "Beta",
    "Delay",
    "DriftingBandit",
    "Empirical",
    "Exponential",
    "Family",
    "FamilyEntry",
    "Gaussian",
    "LogNormal",
    "Pareto",
    "Poisson",
    "Sampled",
    "TruncNormal",
    "Uniform",
    "bernoulli",
    "beta",
    "empirical",
    "entry_of",
    "environment",
    "exponential",
    "gaussian",
    "linear_drift",
    "lognormal",
    "paper",
    "pareto",
    "piecewise_drift",
    "poisson",
    "sinusoidal_drift",
    "tabulated_drift",
    "to_gymnasium",
    "truncnormal",
    "uniform",
]
