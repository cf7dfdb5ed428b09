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

if TYPE_CHECKING:  # for type checkers; at run time __getattr__ finds the same names
    from lowregret import testing as testing
    from lowregret.environments import Bandit as Bandit
    from lowregret.environments import Delay as Delay
    from lowregret.environments import DriftingBandit as DriftingBandit
    from lowregret.environments import Sampled as Sampled
    from lowregret.environments import bernoulli as bernoulli
    from lowregret.environments import beta as beta
    from lowregret.environments import empirical as empirical
    from lowregret.environments import environment as environment
    from lowregret.environments import exponential as exponential
    from lowregret.environments import gaussian as gaussian
    from lowregret.environments import linear_drift as linear_drift
    from lowregret.environments import lognormal as lognormal
    from lowregret.environments import paper as paper
    from lowregret.environments import pareto as pareto
    from lowregret.environments import piecewise_drift as piecewise_drift
    from lowregret.environments import poisson as poisson
    from lowregret.environments import sinusoidal_drift as sinusoidal_drift
    from lowregret.environments import tabulated_drift as tabulated_drift
    from lowregret.environments import to_gymnasium as to_gymnasium
    from lowregret.environments import truncnormal as truncnormal
    from lowregret.environments import uniform as uniform
    from lowregret.errors import ConflictError as ConflictError
    from lowregret.errors import InputError as InputError
    from lowregret.errors import LowRegretError as LowRegretError
    from lowregret.errors import StoreError as StoreError
    from lowregret.errors import UnknownDecisionError as UnknownDecisionError
    from lowregret.experiments.spec import Experiment as Experiment
    from lowregret.experiments.stored_results import open_results as open_results
    from lowregret.offline.replay import Replay as Replay
    from lowregret.offline.replay import replay as replay
    from lowregret.online.agent import Agent as Agent
    from lowregret.online.async_agent import AsyncAgent as AsyncAgent
    from lowregret.online.decisions import Decision as Decision
    from lowregret.online.open_agent import open_agent as open_agent
    from lowregret.planning.plan import Plan as Plan
    from lowregret.planning.plan import plan as plan
    from lowregret.policies import *
    from lowregret.results import Metric as Metric
    from lowregret.results import Results as Results
    from lowregret.results import compare as compare
    from lowregret.results import report as report
    from lowregret.service.client import connect as connect
    from lowregret.simulation import simulate as simulate
    from lowregret.simulation import trace as trace
    from lowregret.suite.league import League as League
    from lowregret.suite.league import league as league
    from lowregret.suite.worst_case import WorstCase as WorstCase
    from lowregret.suite.worst_case import worst_case as worst_case
    from lowregret.theory.regret_bounds import bounds as bounds

__version__ = "0.1.0"

_HOMES = {
    "errors": ("ConflictError", "InputError", "LowRegretError", "StoreError", "UnknownDecisionError"),
    "environments": (
        "Bandit",
        "DriftingBandit",
        "Delay",
        "Sampled",
        "bernoulli",
        "beta",
        "empirical",
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
    ),
    "results": ("Metric", "Results", "compare", "report"),
    "experiments.stored_results": ("open_results",),
    "experiments.spec": ("Experiment",),
    "theory.regret_bounds": ("bounds",),
    "offline.replay": ("Replay", "replay"),
    "online.agent": ("Agent",),
    "online.async_agent": ("AsyncAgent",),
    "online.decisions": ("Decision",),
    "online.open_agent": ("open_agent",),
    "planning.plan": ("Plan", "plan"),
    "service.client": ("connect",),
    "simulation": ("simulate", "trace"),
    "suite.league": ("League", "league"),
    "suite.worst_case": ("WorstCase", "worst_case"),
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"lowregret.{home}"), name)
    if name == "testing":
        return import_module("lowregret.testing")
    policies = import_module("lowregret.policies")
    if name in policies.__all__:
        return getattr(policies, name)
    raise AttributeError(f"module 'lowregret' has no attribute {name!r}")


def __dir__() -> list[str]:
    policies = import_module("lowregret.policies")
    public = {"testing", "NEVER", "Arm", "Arms", "Clock", "Policy", "Random", *policies.POLICIES}
    return sorted(public.union(*_HOMES.values()))
