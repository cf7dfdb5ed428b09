"""Bandits and what makes them; ``dir(lr.environments)`` lists all.

`bernoulli`, `gaussian` and the other functions in lower case make a `Bandit`; classes such as `Bernoulli` are
families of rewards, one object for each arm, and may be mixed.

Examples
--------
>>> lr.environments.bernoulli([0.1, 0.2])
Bandit('bernoulli', arms=2, best mean 0.2)
"""

from types import ModuleType as _Module

from lowregret.environments.bandit import Bandit as Bandit
from lowregret.environments.calendar import rhythm as rhythm
from lowregret.environments.changing_arms import replaced_arms as replaced_arms
from lowregret.environments.changing_arms import rising_arms as rising_arms
from lowregret.environments.changing_arms import rotting_arms as rotting_arms
from lowregret.environments.constructors import bernoulli as bernoulli
from lowregret.environments.constructors import beta as beta
from lowregret.environments.constructors import empirical as empirical
from lowregret.environments.constructors import exponential as exponential
from lowregret.environments.constructors import gaussian as gaussian
from lowregret.environments.constructors import lognormal as lognormal
from lowregret.environments.constructors import paper as paper
from lowregret.environments.constructors import pareto as pareto
from lowregret.environments.constructors import poisson as poisson
from lowregret.environments.constructors import revenue as revenue
from lowregret.environments.constructors import truncnormal as truncnormal
from lowregret.environments.constructors import uniform as uniform
from lowregret.environments.delays import Delay as Delay
from lowregret.environments.drift import DriftingBandit as DriftingBandit
from lowregret.environments.drift import linear_drift as linear_drift
from lowregret.environments.drift import piecewise_drift as piecewise_drift
from lowregret.environments.drift import sinusoidal_drift as sinusoidal_drift
from lowregret.environments.drift import tabulated_drift as tabulated_drift
from lowregret.environments.environment_string import environment as environment
from lowregret.environments.families import Bernoulli as Bernoulli
from lowregret.environments.families import Beta as Beta
from lowregret.environments.families import Empirical as Empirical
from lowregret.environments.families import Exponential as Exponential
from lowregret.environments.families import Gaussian as Gaussian
from lowregret.environments.families import LogNormal as LogNormal
from lowregret.environments.families import Pareto as Pareto
from lowregret.environments.families import Poisson as Poisson
from lowregret.environments.families import Revenue as Revenue
from lowregret.environments.families import TruncNormal as TruncNormal
from lowregret.environments.families import Uniform as Uniform
from lowregret.environments.family_registry import FAMILIES as FAMILIES
from lowregret.environments.family_registry import Family as Family
from lowregret.environments.family_registry import FamilyEntry as FamilyEntry
from lowregret.environments.family_registry import entry_of as entry_of
from lowregret.environments.gymnasium_env import to_gymnasium as to_gymnasium
from lowregret.environments.random_bandit import RandomBandit as RandomBandit
from lowregret.environments.random_bandit import random_bandit as random_bandit
from lowregret.environments.sampled import Sampled as Sampled


def __dir__() -> list[str]:
    hidden = {name for name, value in globals().items() if name.startswith("_") or isinstance(value, _Module)}
    return sorted(globals().keys() - hidden)
