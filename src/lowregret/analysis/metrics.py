"""User-defined metrics: a number for each run, from its pulls and its rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret._common.validation import plain_text
from lowregret.analysis.columns import KEYS
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.analysis.tables import Tables

METRIC_PREFIX = "metric."


@dataclass(frozen=True)
class Metric:
    """A user-defined metric.

    Parameters
    ----------
    name : str
        Name in tables.
    function : callable
        ``function(pulls, rewards)`` returns a number for each run. ``pulls`` has a row per run and a column
        per arm; ``rewards`` are the sums of the rewards in the same shape, or None where they were not
        recorded.
    lower_is_better : bool, default True
        The direction.

    Examples
    --------
    >>> share = lr.Metric("share of arm 1", lambda pulls, rewards: pulls[:, 1] / pulls.sum(axis=1), False)
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=100, runs=10)
    >>> table = result.with_metrics(share).summary()
    >>> table["metric.share of arm 1"].round(2).to_list()
    [0.95, 0.5]
    >>> result.compare("RoundRobin", metric=share)["verdict"].item()
    'better in these runs'
    """

    name: str
    function: Callable[[Integers, Floats | None], Any]
    lower_is_better: bool = True

    def __post_init__(self) -> None:
        if not plain_text("metric", "name", self.name):
            raise InputError("metric: name must not be empty")
        if not callable(self.function):
            raise InputError(f"metric: function must be callable, got {self.function!r}")


def metric_values(tables: Tables, metric: Metric) -> pl.DataFrame:
    """Return the value of a metric in every run: environment, policy, run, value."""
    parts = []
    for environment, policy in tables.pairs:
        runs = tables.outcome(policy, environment)
        values = _checked_values(metric, runs.pulls, runs.rewards)
        numbers = tables.slice("finals", environment, policy)["run"]
        parts.append(
            pl.DataFrame({"environment": environment, "policy": policy, "run": numbers, "value": values})
        )
    return pl.concat(parts)


def add_metrics(summary: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    """Add the means of recorded rewards to a summary, and the mean and standard error of every metric."""
    if "reward" in tables.finals.columns:
        means = tables.finals.group_by(KEYS).agg(pl.col("reward", "realised_regret").mean())
        summary = summary.join(means, on=KEYS, how="left", maintain_order="left")
    for metric in tables.metrics:
        name, value = METRIC_PREFIX + metric.name, pl.col("value")
        values = (
            metric_values(tables, metric)
            .group_by(KEYS)
            .agg(value.mean().alias(name), (value.std() / pl.len().sqrt()).alias(f"{name} se"))
        )
        summary = summary.join(values, on=KEYS, how="left", maintain_order="left")
    return summary


def _checked_values(metric: Metric, pulls: Integers, rewards: Floats | None) -> Floats:
    try:
        values = np.asarray(metric.function(pulls, rewards), np.float64)
    except Exception as error:  # whatever the user's function raises
        advice = "" if rewards is not None else ": rewards are None unless recorded with record_rewards"
        raise InputError(f"metric {metric.name!r}: {type(error).__name__}: {error}{advice}") from error
    if values.shape != (len(pulls),) or not np.isfinite(values).all():
        raise InputError(
            f"metric {metric.name!r}: function must return {len(pulls)} finite numbers, one per run, "
            f"got an array of shape {values.shape}"
        )
    return values


def add_realised_regret(
    finals: pl.LazyFrame, arms: pl.DataFrame, horizons: Mapping[str, int]
) -> pl.LazyFrame:
    """Add the horizon times the best mean, less the sum of the rewards."""
    best_mean = (pl.col("mean") + pl.col("gap")).sort_by("gap").first()
    best = dict(arms.group_by("environment").agg(best_mean).iter_rows())
    largest = pl.col("environment").replace_strict(
        {name: horizon * best[name] for name, horizon in horizons.items()}, return_dtype=pl.Float64
    )
    return finals.with_columns(realised_regret=largest - pl.col("reward"))
