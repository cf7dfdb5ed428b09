"""How often the recommendation of a policy is wrong, by how much, and after how many pulls it stops."""

from __future__ import annotations

import polars as pl

from lowregret.analysis.columns import KEYS
from lowregret.analysis.intervals import share_intervals
from lowregret.analysis.tables import Tables
from lowregret.errors import InputError


def identification(tables: Tables, by_time: bool = False) -> pl.DataFrame:
    """Summarise what policies recommended; see `Results.identification`."""
    paths, finals = tables.scan("paths"), tables.scan("finals")
    if "loss" not in paths.collect_schema().names():
        raise InputError("recommendations were not recorded: simulate with record_recommendations=True")
    loss = pl.col("loss").fill_nan(None)
    answers = paths.filter(loss.is_not_null())
    if not by_time:
        answers = answers.filter(pl.col("t") == pl.col("t").max().over(*KEYS))
    keys = (*KEYS, "t") if by_time else KEYS
    table = (
        answers.group_by(keys, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("runs"),
            wrong=(loss > 0.0).sum().cast(pl.Int64),
            loss=loss.mean(),
            loss_se=loss.std() / pl.len().sqrt(),
        )
        .collect()
    )
    low, high = share_intervals(table["wrong"].to_numpy(), table["runs"].to_numpy())
    error = pl.col("wrong") / pl.col("runs")
    table = table.with_columns(error=error, error_low=pl.Series(low), error_high=pl.Series(high))
    stopped = pl.col("stopped").cast(pl.Int64)
    done, time = stopped > 0, stopped.filter(stopped > 0)
    times = {
        "stopping_time": time.mean(),
        "stopping_time_se": time.std() / time.len().sqrt(),
        "stopping_time_p95": time.quantile(0.95, "linear"),
    }
    if by_time:
        done, times = done & (stopped <= pl.col("t")), {}
    ends = finals.select(*KEYS, "stopped").collect()
    runs = table.select(keys).join(ends, on=KEYS, how="left", maintain_order="left")
    shares = runs.group_by(keys, maintain_order=True).agg(stopped=done.mean(), **times)
    table = table.join(shares, on=keys, how="left", maintain_order="left")
    columns = ("runs", "error", "error_low", "error_high", "loss", "loss_se", "stopped")
    return table.select(*keys, *columns, *times)
