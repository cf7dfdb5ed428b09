"""Figures of the final regret against a parameter of a sweep, one line per policy."""

from collections.abc import Mapping, Sequence
from json import dumps
from typing import Any

import polars as pl

from lowregret.errors import InputError
from lowregret.reporting.bands import band_ends
from lowregret.reporting.chart_style import Figure, Size
from lowregret.reporting.line_chart import DECADE, Axis, line_chart
from lowregret.reporting.policy_styles import Style, styles

MAX_TICKS = 10
MIN_VALUES = {"environment": 2, "policy": 3}
"""The number of values from which on a parameter of environments or policies gets a chart."""


def swept_parameters(parameters: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return the parameters of environments with at least two values, and those of policies with three."""
    return [
        column
        for kind, table in parameters.items()
        for column in table.columns
        if column != kind and table[column].drop_nulls().n_unique() >= MIN_VALUES[kind]
    ]


def sweep_tables(
    summary: pl.DataFrame, parameters: Mapping[str, pl.DataFrame], parameter: str, band: str = "interval"
) -> dict[str, pl.DataFrame]:
    """Return the regret against a parameter (policy, value, mean, low, high), one table by what else differs.

    That is each combination of the other parameters of the environments, or, where the parameter is that of a
    policy, each environment; policies without it then have the same regret at every value.
    """
    means = summary.select("environment", "policy", "mean", **band_ends(band))
    for kind, table in parameters.items():
        if parameter in table.columns and kind == "environment":
            return _by_environment(means, table, parameter)
        if parameter in table.columns:
            return _by_policy(means, table, parameter)
    names = [column for kind, table in parameters.items() for column in table.columns if column != kind]
    available = f"they have {', '.join(names)}" if names else "they have none"
    raise InputError(f"no parameter {parameter!r} of a sweep in these results: {available}")


def sweep_chart(
    table: pl.DataFrame,
    parameter: str,
    title: str,
    *,
    palette: Mapping[str, Style] | None = None,
    focus: Sequence[str] = (),
    plot: Size | None = None,
) -> Figure:
    """Draw the mean final regret against a parameter, with bands."""
    values = table["value"].unique().sort()
    across, heading = _axis(parameter, values)
    place = pl.col("value").rank("dense").cast(pl.Float64) if across.names else pl.col("value")
    lines = table.with_columns(x=place.cast(pl.Float64)).sort("x", maintain_order=True)
    low, high = (float(lines[name].min() or 0) for name in ("low", "mean"))  # type: ignore[arg-type]
    top = float(lines["high"].max() or 1)  # type: ignore[arg-type]
    log = low > 0 and top / high > DECADE**1.5
    names = lines["policy"].unique(maintain_order=True).to_list()
    line_styles = styles(names) if palette is None else styles_of(names, palette)
    chart = line_chart(
        lines,
        title,
        across,
        Axis("final regret", low / 1.1 if log else 0, top * 1.02, log),
        palette=line_styles,
        focus=focus,
        dots=True,
        heading=heading,
        unit=parameter,
        plot=plot,
    )
    if palette is not None:  # a line of several policies is none of the page's
        looks = chart.usermeta["policies"]
        chart.usermeta |= {"policies": {name: looks[name] for name in names if name in palette}}
    return chart


def plot_against(
    tables: Mapping[str, pl.DataFrame], parameter: str, environment: str, title: str, plot: Size
) -> Figure:
    """Draw the final regret against a parameter in one chart; see `lowregret.results.Results.plot`."""
    if not tables:
        raise InputError(f"plot: no two environments differ in {parameter!r} alone")
    if environment in tables:
        return sweep_chart(tables[environment], parameter, title, plot=plot)
    lines = [
        table.with_columns(policy=pl.concat_str("policy", pl.lit(f", {which}" * bool(which))))
        for which, table in tables.items()
    ]
    return sweep_chart(pl.concat(lines), parameter, title, plot=plot)


def styles_of(names: Sequence[str], palette: Mapping[str, Style]) -> dict[str, Style]:
    """Return the style of each line; one that stands for several policies has that of the first."""
    first = {policy.partition("(")[0]: style for policy, style in reversed(list(palette.items()))}
    return {name: palette.get(name) or first[name.partition("(")[0]] for name in names}


def _axis(parameter: str, values: pl.Series) -> tuple[Axis, str]:
    """Return the axis of a parameter, and the expression of its value in a tooltip."""
    if not values.dtype.is_numeric():
        names = tuple((str(value),) for value in values)
        return Axis(parameter, 0.6, len(names) + 0.4, names=names), f"{dumps(names)}[datum.x - 1][0]"
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    step = -(-len(values) // MAX_TICKS)
    ticks = tuple(float(value) for value in values.gather_every(step))
    log = low > 0 and high / low >= DECADE
    return Axis(parameter, low, high, log, ticks=ticks), "format(datum.x, '.6~g')"


def _by_environment(means: pl.DataFrame, table: pl.DataFrame, parameter: str) -> dict[str, pl.DataFrame]:
    others = [name for name in table.columns if name not in ("environment", parameter)]
    joined = means.join(table, on="environment", maintain_order="left").drop_nulls(parameter)
    joined = joined.rename({parameter: "value"})
    groups = joined.group_by(others, maintain_order=True) if others else [((), joined)]
    tables = {}
    for values, part in groups:
        # Two environments with the same values, such as those of two families, are not on one line.
        if part["value"].n_unique() > 1 and not part.select("policy", "value").is_duplicated().any():
            tables[_assignment(others, values)] = part.select("policy", "value", "mean", "low", "high")
    return tables


def _by_policy(means: pl.DataFrame, table: pl.DataFrame, parameter: str) -> dict[str, pl.DataFrame]:
    others = [name for name in table.columns if name not in ("policy", parameter)]
    swept = table.drop_nulls(parameter)
    labels = []
    for row in swept.to_dicts():
        named = [name for name in others if row[name] is not None]
        words = _assignment(named, [row[name] for name in named])
        labels.append(row["policy"].partition("(")[0] + (f"({words})" if words else ""))
    lines = swept.select("policy", value=parameter).with_columns(line=pl.Series(labels, dtype=pl.String))
    ends = lines["value"].unique().sort()
    tables = {}
    for (environment,), part in means.group_by("environment", maintain_order=True):
        moving = part.join(lines, on="policy", maintain_order="left").with_columns(policy=pl.col("line"))
        still = part.join(lines, on="policy", how="anti", maintain_order="left")
        still = still.join(pl.DataFrame({"value": ends}), how="cross")
        columns = ("policy", "value", "mean", "low", "high")
        tables[str(environment)] = pl.concat([moving.select(columns), still.select(columns)])
    return tables


def _assignment(names: Sequence[str], values: Sequence[Any]) -> str:
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in zip(names, values, strict=True)
        if value is not None
    )
