"""Tables of a simulation that was held in memory."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from lowregret.engine.cpu import Outcome
from lowregret.environments import Bandit
from lowregret.results.layout import arm_table
from lowregret.results.tables import Frames

EVENTS = {"run": pl.Int64, "t": pl.Int64, "arm": pl.Int64}


def frames(bandit: Bandit, seed: int, outcomes: Mapping[str, Outcome]) -> Frames:
    """Lay out the outcomes of several policies on one bandit; ``Result.tables`` calls this.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.simulate("RoundRobin", "bernoulli:0.25,0.75", horizon=10, runs=1).tables().pulls.rows()
    [('bernoulli:0.25,0.75', 'RoundRobin', 0, 0, 5), ('bernoulli:0.25,0.75', 'RoundRobin', 0, 1, 5)]
    """

    def gathered(parts: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        return pl.concat(
            part.select(pl.lit(bandit.name).alias("environment"), pl.lit(policy).alias("policy"), pl.all())
            for policy, part in parts.items()
        )

    return Frames(
        name=bandit.name,
        seed=seed,
        finals=gathered({name: _finals(outcome) for name, outcome in outcomes.items()}),
        curves=gathered({name: _curves(outcome) for name, outcome in outcomes.items()}),
        pulls=gathered({name: _pulls(outcome) for name, outcome in outcomes.items()}),
        events=gathered({name: _events(outcome) for name, outcome in outcomes.items()}),
        arms=arm_table(bandit, bandit.name),
    )


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
