"""Results of a simulation in memory; a table is made of the arrays when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from lowregret.analysis.tables import COLUMNS
from lowregret.results.description import Description, varied
from lowregret.results.results import Results
from lowregret.results.table_runs import arm_table

if TYPE_CHECKING:
    from lowregret.engine.outcome import Outcome
    from lowregret.environments import Bandit

EVENTS = {"run": pl.Int64, "t": pl.Int64, "arm": pl.Int64}


def simulated_results(
    bandit: Bandit,
    horizon: int,
    seed: int,
    clip: bool,
    outcomes: Mapping[str, Outcome],
    notes: Mapping[str, str],
) -> Results:
    """Return the outcomes of several policies on one bandit as results.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.simulate("RoundRobin", "bernoulli:0.25,0.75", horizon=10, runs=1).pulls.rows()
    [('bernoulli:0.25,0.75', 'RoundRobin', 0, 0, 5), ('bernoulli:0.25,0.75', 'RoundRobin', 0, 1, 5)]
    """
    description = Description(
        name=bandit.name,
        seed=seed,
        runs=max(len(outcome.regret) for outcome in outcomes.values()),
        horizons={bandit.name: horizon},
        policies=tuple(outcomes),
        clip=clip,
        notes={policy: text for policy, text in notes.items() if text},
        eliminating=tuple(policy for policy, found in outcomes.items() if found.eliminated is not None),
        policy_parameters=varied(outcome.policy for outcome in outcomes.values()),
    )
    pairs = {(bandit.name, policy): outcome for policy, outcome in outcomes.items()}
    return Results(description, SimulatedTables(bandit, outcomes), pairs)


class SimulatedTables(Mapping[str, pl.LazyFrame]):
    """The tables of several policies on one bandit."""

    def __init__(self, bandit: Bandit, outcomes: Mapping[str, Outcome]) -> None:
        self._bandit = bandit
        self._outcomes = outcomes

    def __getitem__(self, name: str) -> pl.LazyFrame:
        if name == "arms":
            return arm_table(self._bandit, self._bandit.name).lazy()
        part = {"finals": _finals, "curves": _curves, "pulls": _pulls, "events": _events}[name]
        keys = pl.lit(self._bandit.name).alias("environment")
        return pl.concat(
            part(outcome).lazy().select(keys, pl.lit(policy).alias("policy"), pl.all())
            for policy, outcome in self._outcomes.items()
        )

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)


def _finals(outcome: Outcome) -> pl.DataFrame:
    return pl.DataFrame({"run": np.arange(len(outcome.regret)), "regret": outcome.regret[:, -1]})


def _curves(outcome: Outcome) -> pl.DataFrame:
    runs, times = outcome.regret.shape
    columns = {
        "run": np.repeat(np.arange(runs), times),
        "t": np.tile(outcome.grid, runs),
        "regret": outcome.regret.ravel(),
    }
    return pl.DataFrame(columns)


def _pulls(outcome: Outcome) -> pl.DataFrame:
    runs, arms = outcome.pulls.shape
    columns = {
        "run": np.repeat(np.arange(runs), arms),
        "arm": np.tile(np.arange(arms), runs),
        "pulls": outcome.pulls.ravel(),
    }
    return pl.DataFrame(columns)


def _events(outcome: Outcome) -> pl.DataFrame:
    times = np.zeros((0, 0), np.int64) if outcome.eliminated is None else outcome.eliminated
    run, arm = times.nonzero()
    table = pl.DataFrame({"run": run, "t": times[run, arm], "arm": arm}, schema=EVENTS)
    return table.with_columns(event=pl.lit("eliminated"))
