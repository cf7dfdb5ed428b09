"""Runs of the engines, with the arguments that tests give."""

from functools import cached_property

import numpy as np

from lowregret.engine.backends import reference, run
from lowregret.engine.problem import Control, Problem
from lowregret.engine.trace import trace


def simulate(policy, bandit, horizon, runs, seed, grid, threads=None, **settings):
    """Simulate runs with the compiled engine."""
    problem = Problem(policy, bandit, horizon, seed, runs=runs, grid=grid, **settings)
    return run(problem, control=Control(threads))


def compiled_trace(policy, bandit, horizon, seed, number=0, **settings):
    """Play one run with the compiled engine, step by step."""
    return trace(Problem(policy, bandit, horizon, seed, first_run=number, **settings))


class PlainRun:
    """One run of the reference."""

    def __init__(self, policy, bandit, horizon, seed, number, grid=(), **settings):
        times = np.array(grid, np.int64)
        self.problem = Problem(policy, bandit, horizon, seed, first_run=number, grid=times, **settings)
        self.path, self.regret, self.pulls, self.eliminated, *_ = reference.play(self.problem, number)
        self.arm, self.round, self.active = self.path.T

    @cached_property
    def _trace(self):
        return trace(self.problem, "reference")

    @property
    def reward(self):
        return self._trace.reward

    @property
    def delay(self):
        return self._trace.delay
