"""What a run would do, and about how long that takes."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lowregret.engine.cpu import simulate
from lowregret.experiments.cases import Case, Player
from lowregret.experiments.plan import make_plan
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import ResultStore

TRIAL = 20_000
"""How many steps are played to learn what a step costs."""


class Forecast(NamedTuple):
    """How many shards there are, how many would be computed, and the seconds that takes on one core."""

    shards: int
    missing: int
    damaged: int
    steps: int
    seconds: float


def forecast(experiment: Experiment, out: str | Path) -> Forecast:
    """Say what a run would do; nothing is written.

    What a step costs is taken from the manifest of the folder where it is known, and measured where not.

    Parameters
    ----------
    experiment : Experiment
        What would be run.
    out : str or path
        The folder of the results, which need not exist.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.experiments.forecast import forecast
    >>> experiment = lr.Experiment(environments="bernoulli:0.1,0.9", policies="MOSS", horizon=50, runs=4)
    >>> forecast(experiment, "nowhere").missing
    1
    """
    plan, store = make_plan(experiment), ResultStore(Path(out))
    missing = {shard.name: shard for shard in store.missing(plan)}
    costs = _recorded(store)
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


def _recorded(store: ResultStore) -> dict[tuple[str, int], float]:
    """Give the seconds a step took, by policy and number of arms."""
    sums: dict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for entry in store.entries.values():
        total = sums[entry.policy, entry.arms]
        total[0] += entry.seconds
        total[1] += entry.steps
    return {key: seconds / steps for key, (seconds, steps) in sums.items()}


def _measured(player: Player, case: Case, clip: bool) -> float:
    """Play some steps; the horizon may be shorter than the true one, so this is rough."""
    horizon = min(case.horizon, TRIAL)
    runs = max(TRIAL // horizon, 1)
    grid = np.array([horizon], np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = simulate(player.policy, case.bandit, horizon, runs, 0, grid, threads=1, clip=clip)
    return outcome.seconds / (runs * horizon)
