"""Figures of regret over time, of pulls per arm, and of the arms that are left."""

from collections.abc import Mapping, Sequence
from json import dumps

import polars as pl

from lowregret.reporting.bands import band_ends
from lowregret.reporting.chart_style import Figure, Size
from lowregret.reporting.line_chart import DEEPEST, Axis, line_chart
from lowregret.reporting.policy_styles import Style

MAX_TIMES = 160
"""More points than this on a line of 640 pixels only make the file larger."""
MAX_GROUPS = 8
"""Arms with more means than this are put together."""


def regret_chart(
    curve: pl.DataFrame,
    title: str,
    *,
    band: str = "interval",
    log_time: bool = False,
    log_regret: bool = False,
    palette: Mapping[str, Style] | None = None,
    points: pl.DataFrame | None = None,
    bounds: pl.DataFrame | None = None,
    focus: Sequence[str] = (),
    plot: Size | None = None,
) -> Figure:
    """Draw the mean regret of every policy over time, with one of `BANDS`.

    ``curve`` is the part of one environment of `Results.curves`, ``plot`` the size without axes and labels.
    Other arguments are those of `line_chart`; several figures may share a ``palette``.
    """
    columns = curve.select("policy", pl.col("t").alias("x"), "mean", **band_ends(band))
    table = _from_zero(_thin(columns.sort("x", maintain_order=True)))
    parts = [table] if points is None else [table, points.select("policy", "mean")]
    highest = pl.concat(parts, how="diagonal").select(pl.max_horizontal("mean", "high").max())
    top = float(highest.item()) or 1.0
    times = table.filter(pl.col("x") > 0)["x"]
    end = max(float(times.max() or 1), 2.0 if log_time else 1.0)  # type: ignore[arg-type]
    start = min(float(times.min() or 1), end / 2)  # type: ignore[arg-type]
    return line_chart(
        table,
        title,
        Axis("time step t", start if log_time else 0, end, log_time),
        Axis("cumulative regret", _floor(table, top) if log_regret else 0, top * 1.02, log_regret),
        palette=palette,
        points=None if points is None else points.rename({"t": "x"}),
        bounds=None if bounds is None else bounds.rename({"t": "x"}).filter(pl.col("x") <= end),
        focus=focus,
        plot=plot,
    )


def error_chart(curve: pl.DataFrame, title: str, *, palette: Mapping[str, Style] | None = None) -> Figure:
    """Draw how often each policy recommends a wrong arm over time, on a logarithmic axis.

    ``curve`` is the part of one environment of `Results.identification` by time.
    """
    columns = curve.select("policy", pl.col("t").alias("x"), mean="error", low="error_low", high="error_high")
    table = _thin(columns.sort("x", maintain_order=True))
    seen = curve.filter(pl.col("error") > 0.0)["error"]
    floor = 0.5 * float(seen.min() or 0.1)  # type: ignore[arg-type]
    end = float(table["x"].max() or 1)  # type: ignore[arg-type]
    return line_chart(
        table,
        title,
        Axis("time step t", 0, end),
        Axis("share of runs with a wrong answer", floor, 1.0, log=True),
        palette=palette,
    )


def pulls_chart(
    pulls: pl.DataFrame,
    arms: pl.DataFrame,
    title: str,
    *,
    palette: Mapping[str, Style] | None = None,
    focus: Sequence[str] = (),
) -> Figure:
    """Draw how often each policy pulled each arm, from the best arm to the worst, on a logarithmic axis."""
    groups = _arm_groups(arms)
    count = pl.col("pulls")
    table = (
        pulls.join(groups.select("arm", "x"), on="arm")
        .group_by("policy", "x", "run", maintain_order=True)
        .agg(count.mean())
        .group_by("policy", "x", maintain_order=True)
        .agg(mean=count.mean(), low=count.quantile(0.05, "linear"), high=count.quantile(0.95, "linear"))
        .sort("x", maintain_order=True)
    )
    top = float(table["mean"].max() or 1)  # type: ignore[arg-type]
    names = groups.group_by("x", maintain_order=True).agg("name", pl.len()).sort("x")
    labels = tuple((row["name"][0], f"{row['len']} arm{'s' * (row['len'] > 1)}") for row in names.to_dicts())
    return line_chart(
        table,
        title,
        Axis("mean reward of the arms, from the best", 0.6, len(labels) + 0.4, names=labels),
        Axis("pulls of an arm", min(_floor(table, top) * 0.8, top / 2), top * 1.2, log=True),
        palette=palette,
        focus=focus,
        bands=False,
        dots=True,
        heading=f"{dumps([', '.join(label) for label in labels])}[datum.x - 1]",
        unit="mean reward",
    )


def arms_left_chart(
    events: pl.DataFrame,
    runs: Mapping[str, int],
    arms: int,
    horizon: int,
    title: str,
    *,
    palette: Mapping[str, Style] | None = None,
    focus: Sequence[str] = (),
) -> Figure:
    """Draw the number of active arms over time; ``runs`` are the numbers of runs of the policies drawn."""
    times = sorted({horizon * step // MAX_TIMES for step in range(MAX_TIMES + 1)})
    parts = []
    for policy, count in runs.items():
        gone = events.filter(policy=policy)["t"].sort()
        active = [arms - float(gone.search_sorted(time, "right")) / count for time in times]
        columns = {"policy": policy, "x": times, "mean": active}
        parts.append(pl.DataFrame(columns, schema_overrides={"mean": pl.Float64}))
    table = pl.concat(parts).with_columns(low=pl.col("mean"), high=pl.col("mean"))
    return line_chart(
        table,
        title,
        Axis("time step t", 0, horizon),
        Axis("arms left (mean)", 0, arms * 1.02),
        palette=palette,
        focus=focus,
    )


def _arm_groups(arms: pl.DataFrame) -> pl.DataFrame:
    """Group arms of equal mean, the best first; where there are many means, those close in rank."""
    ranked = arms.sort("gap", maintain_order=True).with_columns(
        x=pl.col("gap").rle_id().cast(pl.Int64) + 1, name=pl.col("mean").round_sig_figs(4).cast(pl.String)
    )
    if ranked["x"].n_unique() <= MAX_GROUPS:
        return ranked
    others = len(ranked) - 1
    place = (pl.int_range(pl.len()) - 1) * (MAX_GROUPS - 1) // others + 2
    binned = ranked.with_columns(x=pl.when(pl.int_range(pl.len()) == 0).then(1).otherwise(place))
    ends = [
        pl.col("mean").round_sig_figs(2).cast(pl.String).sort_by("mean").get(end).over("x") for end in (0, -1)
    ]
    span = pl.when(ends[0] == ends[1]).then(ends[0]).otherwise(pl.concat_str(*ends, separator="-"))
    return binned.with_columns(name=span)


def _thin(table: pl.DataFrame) -> pl.DataFrame:
    """Leave out times where there are more than a figure can show; the last one stays."""
    times = table["x"].unique().sort()
    if len(times) <= MAX_TIMES:
        return table
    kept = {times[(len(times) - 1) * step // (MAX_TIMES - 1)] for step in range(MAX_TIMES)}
    return table.filter(pl.col("x").is_in(list(kept)))


def _from_zero(table: pl.DataFrame) -> pl.DataFrame:
    """Start every line at time 0 with regret 0."""
    zero = table.select("policy").unique(maintain_order=True)
    zero = zero.with_columns(pl.lit(0).cast(table.schema[name]).alias(name) for name in table.columns[1:])
    return pl.concat([zero, table.filter(pl.col("x") > 0)])


def _floor(table: pl.DataFrame, top: float) -> float:
    """Find where a logarithmic axis begins: at the least positive mean, unless that is very small."""
    least = table.filter(pl.col("mean") > 0)["mean"].min()
    return max(float(least or top / 10), top * DEEPEST) if least != top else top / 10  # type: ignore[arg-type]
