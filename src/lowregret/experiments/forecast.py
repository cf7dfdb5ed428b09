"""Estimate of the work and time of a run."""

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lowregret.engine.backends import run
from lowregret.engine.problem import Control, Problem
from lowregret.experiments.cases import ResolvedEnvironment, ResolvedPolicy
from lowregret.experiments.sharding import make_shard_plan
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import ResultStore

TRIAL = 20_000
"""Steps that are simulated to measure the time of a step."""


class Forecast(NamedTuple):
    """Number of shards, of those to compute and of damaged ones; their steps, and seconds on one core."""

    shards: int
    missing: int
    damaged: int
    steps: int
    seconds: float


def forecast(experiment: Experiment, out: str | Path) -> Forecast:
    """Estimate the work of a run; nothing is written.

    The time of a step is read from the manifest of the folder, or else measured.
    """
    plan, store = make_shard_plan(experiment), ResultStore(Path(out))
    missing = {shard.name: shard for shard in store.missing(plan)}
    costs = store.step_seconds()
    cases = {case.name: case for case in experiment.cases}
    players = {player.name: player for player in experiment.players}
    seconds, counted = 0.0, set[str]()
    for pair in plan.pairs:
        todo = [shard for shard in pair.shards if shard.name in missing and shard.name not in counted]
        if todo:
            case = cases[pair.environment]
            key = pair.policy, len(case.bandit)
            if key not in costs:
                costs[key] = _measured(players[pair.policy], case, todo[0].clip)
            seconds += costs[key] * sum(shard.steps for shard in todo)
            counted.update(shard.name for shard in todo)
    steps = sum(shard.steps for shard in missing.values())
    return Forecast(len(plan.shards), len(missing), len(store.damaged), steps, seconds)


def _measured(player: ResolvedPolicy, case: ResolvedEnvironment, clip: bool) -> float:
    """Measure the seconds of a step; the horizon may be shorter than the true one, so this is rough."""
    horizon = min(case.horizon, TRIAL)
    runs = max(TRIAL // max(horizon, len(case.bandit)), 1)  # a run also lays out its arms
    grid = np.array([horizon], np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = Problem(
            player.policy,
            case.bandit,
            horizon,
            runs=runs,
            grid=grid,
            clip=clip,
            delay=case.delay,
            batch=case.batch,
        )
        outcome = run(problem, control=Control(threads=1))
    return outcome.seconds / (runs * horizon)
