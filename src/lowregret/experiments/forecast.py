"""How much work a run is, and how long it takes: what ``lowregret run --dry-run`` prints."""

import warnings
from dataclasses import replace
from math import log
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from lowregret.engine.backends import run
from lowregret.engine.problem import Control, Problem
from lowregret.experiments.sharding import make_shard_plan
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import ResultStore

TRIAL_STEPS = (1_500, 5_000, 15_000, 50_000)
"""About how many steps are simulated to measure the time of a step."""
LONG_TRIAL_SECONDS = 0.1
"""A measurement that takes longer than this is the last."""


class StepTime(NamedTuple):
    """The seconds of a step in runs of so many steps, and the exponent with which they grow."""

    seconds: float
    steps: int
    growth: float

    def seconds_at(self, horizon: int) -> float:
        return float(self.seconds * max(horizon / self.steps, 1.0) ** self.growth)


class Forecast(NamedTuple):
    """Number of shards, of those to compute and of damaged ones; their steps, and seconds on one core."""

    shards: int
    missing: int
    damaged: int
    steps: int
    seconds: float


def forecast(experiment: Experiment, out: str | Path) -> Forecast:
    """Estimate the work of a run; nothing is written."""
    plan, store = make_shard_plan(experiment), ResultStore(Path(out))
    missing = {shard.name: shard for shard in store.missing(plan)}
    costs = store.step_seconds()
    cases = {case.name: case for case in experiment.resolved_environments}
    players = {player.name: player for player in experiment.resolved_policies}
    seconds, counted = 0.0, set[str]()
    for pair in plan.pairs:
        todo = [shard for shard in pair.shards if shard.name in missing and shard.name not in counted]
        if todo:
            case = cases[pair.environment]
            key = pair.policy, len(case.bandit)
            if key not in costs:
                problem = Problem(players[pair.policy].policy, case.bandit, **todo[0].settings)
                costs[key] = measure_step(problem).seconds_at(case.horizon)
            seconds += costs[key] * sum(shard.steps for shard in todo)
            counted.update(shard.name for shard in todo)
    steps = sum(shard.steps for shard in missing.values())
    return Forecast(len(plan.shards), len(missing), len(store.damaged), steps, seconds)


def measure_step(problem: Problem) -> StepTime:
    """Measure the time of a step in longer and longer runs: the smaller of the clock's and the CPU's."""
    horizon, arms, control = problem.horizon, len(problem.bandit), Control(threads=1)
    shortest = min(horizon, 2 * arms, TRIAL_STEPS[-1])
    lengths = sorted({min(horizon, max(trial, shortest)) for trial in (shortest, *TRIAL_STEPS)})
    trials: list[tuple[float, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for steps in lengths:
            runs = 1 if steps < horizon else max(TRIAL_STEPS[-1] // max(steps, arms), 1)  # lays out its arms
            start = process_time()
            outcome = run(replace(problem, horizon=steps, runs=runs, grid=np.array([steps])), control=control)
            seconds = min(process_time() - start, outcome.seconds)
            trials.append((seconds / (steps * runs), steps))
            if seconds > LONG_TRIAL_SECONDS:
                break
    growth = 0.0
    if len(trials) > 2:  # the first is too short to show how the time grows
        (before, short), (after, long) = trials[-2:]
        growth = min(max(log(max(after, 1e-12) / max(before, 1e-12)) / log(long / short), 0.0), 1.0)
    return StepTime(*trials[-1], growth)
