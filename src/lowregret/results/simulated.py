"""Results of a simulation in memory; a table is made of the arrays when it is first asked for."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret.analysis.description import Description, varied
from lowregret.engine.problem import RECORDS, Outcome
from lowregret.environments import Bandit, DriftingBandit, RandomBandit
from lowregret.results.results import Results

EVENTS = {"run": pl.Int64, "t": pl.Int64, "arm": pl.Int64}


def simulated_results(
    bandit: Bandit,
    horizon: int,
    seed: int,
    clip: bool,
    outcomes: Mapping[str, Outcome],
    notes: Mapping[str, str],
    delay: str = "0",
    batch: int = 1,
    engine: str = "compiled",
) -> Results:
    """Return the outcomes of several policies on one bandit as results."""
    description = Description(
        name=bandit.name,
        seed=seed,
        runs=max(len(outcome.regret) for outcome in outcomes.values()),
        horizons={bandit.name: horizon},
        policies=tuple(outcomes),
        clip=clip,
        notes={policy: text for policy, text in notes.items() if text},
        eliminating=tuple(policy for policy, outcome in outcomes.items() if outcome.eliminated is not None),
        policy_parameters=varied({name: outcome.policy for name, outcome in outcomes.items()}),
        delays={bandit.name: delay} if delay != "0" else {},
        batches={bandit.name: batch} if batch != 1 else {},
        drifting=(bandit.name,) if isinstance(bandit, DriftingBandit) else (),
        largest_gaps={bandit.name: bandit.largest_gap} if isinstance(bandit, RandomBandit) else {},
        backend=engine,
    )
    pairs = {(bandit.name, policy): outcome for policy, outcome in outcomes.items()}
    return Results(description, partial(_table, bandit, horizon, outcomes), pairs)


def _table(bandit: Bandit, horizon: int, outcomes: Mapping[str, Outcome], name: str) -> pl.LazyFrame:
    if name == "arms":
        return arm_table(bandit, bandit.name, horizon).lazy()
    part = {"finals": _finals, "curves": _curves, "pulls": _pulls, "events": _events}[name]
    environment = pl.lit(bandit.name).alias("environment")
    return pl.concat(
        part(outcome).lazy().select(environment, pl.lit(policy).alias("policy"), pl.all())
        for policy, outcome in outcomes.items()
    )


def _finals(outcome: Outcome) -> pl.DataFrame:
    table = pl.DataFrame({"run": np.arange(len(outcome.regret)), "regret": outcome.regret[:, -1]})
    recorded = [*_recorded(outcome, "arm"), *_recorded(outcome, "run")]
    return table.with_columns(**{name: pl.Series(values.sum(axis=1)) for name, values in recorded})


def _curves(outcome: Outcome) -> pl.DataFrame:
    table = _long("t", outcome.grid, "regret", outcome.regret)
    recorded = _recorded(outcome, "time")
    return table.with_columns(**{name: pl.Series(values.ravel()) for name, values in recorded})


def _pulls(outcome: Outcome) -> pl.DataFrame:
    table = _long("arm", np.arange(outcome.pulls.shape[1]), "pulls", outcome.pulls)
    recorded = _recorded(outcome, "arm")
    return table.with_columns(**{name: pl.Series(values.ravel()) for name, values in recorded})


def _recorded(outcome: Outcome, axis: str) -> list[tuple[str, Any]]:
    """Return the columns of what was recorded for each arm, time or run, and its arrays."""
    records = [(RECORDS[name], outcome.records[name]) for name in RECORDS if name in outcome.records]
    return [(record.column, values) for record, values in records if record.column and record.axis == axis]


def _long(key: str, labels: Integers, name: str, values: Floats | Integers) -> pl.DataFrame:
    """Return an array of one row per run as a long table; the labels are those of its columns."""
    runs, width = values.shape
    run = np.repeat(np.arange(runs), width)
    return pl.DataFrame({"run": run, key: np.tile(labels, runs), name: values.ravel()})


def _events(outcome: Outcome) -> pl.DataFrame:
    times = np.zeros((0, 0), np.int64) if outcome.eliminated is None else outcome.eliminated
    run, arm = times.nonzero()
    table = pl.DataFrame({"run": run, "t": times[run, arm], "arm": arm}, schema=EVENTS)
    return table.with_columns(event=pl.lit("eliminated"))


def arm_table(bandit: Bandit, name: str, horizon: int) -> pl.DataFrame:
    """Return the arms of a bandit as a table; where means change, with averages up to the horizon."""
    means, gaps, optimal = bandit.means, bandit.gaps, bandit.optimal
    if isinstance(bandit, DriftingBandit):
        means, best = bandit.averages(horizon)
        gaps, optimal = best - means, means == means.max()
    columns = {
        "arm": np.arange(len(bandit)),
        "mean": means,
        "variance": bandit.variances,
        "gap": gaps,
        "optimal": optimal,
    }
    return pl.DataFrame(columns).select(pl.lit(name).alias("environment"), pl.all())
