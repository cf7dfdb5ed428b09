"""Metrics of one's own: a number for each run, from its pulls and its rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from lowregret._common.validation import plain_text
from lowregret.analysis.comparison import compare_metric, compare_same_policies
from lowregret.analysis.tables import Floats, Integers
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.results.results import Results

PREFIX = "metric."
"""How the columns of metrics begin."""


@dataclass(frozen=True)
class Metric:
    """A metric of one's own.

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
    >>> import lowregret as lr
    >>> share = lr.Metric("share of arm 1", lambda pulls, rewards: pulls[:, 1] / pulls.sum(axis=1), False)
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=100, runs=10)
    >>> table = result.with_metrics(share).summary()
    >>> table["metric.share of arm 1"].round(2).to_list()
    [0.95, 0.5]
    >>> result.compare("RoundRobin", metric=share)["verdict"].item()
    'better'
    """

    name: str
    function: Callable[[Integers, Floats | None], Any]
    lower_is_better: bool = True

    def __post_init__(self) -> None:
        if not plain_text("metric", "name", self.name):
            raise InputError("metric: name must not be empty")
        if not callable(self.function):
            raise InputError(f"metric: function must be callable, got {self.function!r}")


def metric_values(results: Results, metric: Metric) -> pl.DataFrame:
    """Return the value of a metric in every run: environment, policy, run, value."""
    parts = []
    for environment, policy in results.pairs:
        runs = results.outcome(policy, environment)
        values = _values(metric, runs.pulls, runs.rewards)
        numbers = results.slice("finals", environment, policy)["run"]
        parts.append(
            pl.DataFrame({"environment": environment, "policy": policy, "run": numbers, "value": values})
        )
    return pl.concat(parts)


def add_metrics(summary: pl.DataFrame, results: Results, metrics: Sequence[Metric]) -> pl.DataFrame:
    """Add the means of recorded rewards to a summary, and the mean and standard error of every metric."""
    keys = ["environment", "policy"]
    if "reward" in results.finals.columns:
        means = results.finals.group_by(keys).agg(pl.col("reward", "realised_regret").mean())
        summary = summary.join(means, on=keys, how="left", maintain_order="left")
    for metric in metrics:
        name, value = PREFIX + metric.name, pl.col("value")
        found = (
            metric_values(results, metric)
            .group_by("environment", "policy")
            .agg(value.mean().alias(name), (value.std() / pl.len().sqrt()).alias(f"{name} se"))
        )
        summary = summary.join(found, on=keys, how="left", maintain_order="left")
    return summary


def _values(metric: Metric, pulls: Integers, rewards: Floats | None) -> Floats:
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
    """Add the horizon times the best mean, less the sum of the rewards.

    The best mean is the mean plus the gap of any arm; only for the arm of the least gap is it not rounded.
    """
    best_mean = (pl.col("mean") + pl.col("gap")).sort_by("gap").first()
    best = dict(arms.group_by("environment").agg(best_mean).iter_rows())
    most = pl.col("environment").replace_strict(
        {name: horizon * best[name] for name, horizon in horizons.items()}, return_dtype=pl.Float64
    )
    return finals.with_columns(realised_regret=most - pl.col("reward"))


def compare_metrics(results: Results, baseline: str | None, seed: int, metric: Metric) -> pl.DataFrame:
    """Compare the values of a metric in pairs; see `lowregret.compare`."""
    values = metric_values(results, metric).rename({"value": "regret"})
    return compare_metric(values, baseline, seed, metric.lower_is_better)


def compare_with(results: Results, others: Results, seed: int, metric: Metric | None) -> pl.DataFrame:
    """Compare every policy with itself in other results; see `lowregret.compare`."""
    if metric is not None:
        raise InputError("compare: give either other results or a metric")
    if results.seed is None or results.seed != others.seed:
        raise InputError(
            f"compare: the seeds differ ({results.seed} and {others.seed}), so that run r has other rewards: "
            "run both with one seed"
        )
    changed = [
        name for name, horizon in results.horizons.items() if others.horizons.get(name, horizon) != horizon
    ]
    if changed:
        raise InputError(f"compare: {changed[0]!r} has other horizons in the two results: use the same")
    label = others.name if others.name != results.name else "other"
    return compare_same_policies(results, others, label, seed)
