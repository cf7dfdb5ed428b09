"""The public names of lowregret, each with the module that defines it."""

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
from lowregret.environments import rhythm as rhythm
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
from lowregret.online.decisions import Request as Request
from lowregret.online.open_agent import open_agent as open_agent
from lowregret.planning.plan import Plan as Plan
from lowregret.planning.plan import plan as plan
from lowregret.policies import *
from lowregret.results import Metric as Metric
from lowregret.results import Results as Results
from lowregret.service.client import connect as connect
from lowregret.simulation import simulate as simulate
from lowregret.simulation import trace as trace
from lowregret.suite.league import League as League
from lowregret.suite.league import league as league
from lowregret.suite.worst_case import WorstCase as WorstCase
from lowregret.suite.worst_case import worst_case as worst_case
from lowregret.theory.regret_bounds import bounds as bounds

__version__: str
