"""The tables of a simulation, from the arrays of its runs: each is made when it is first asked for."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.problem import RECORDS, Outcome
from lowregret.environments import Bandit, DriftingBandit

EVENT_TYPES = {"run": pl.Int64, "t": pl.Int64, "arm": pl.Int64}


def outcome_table(bandit: Bandit, horizon: int, outcomes: Mapping[str, Outcome], name: str) -> pl.LazyFrame:
    """Return one of the tables finals, curves, pulls, events and arms."""
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
    table = pl.DataFrame({"run": run, "t": times[run, arm], "arm": arm}, schema=EVENT_TYPES)
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
