"""The regret over time in axes of matplotlib, of which nothing is imported: the axes draw."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from lowregret.errors import InputError
from lowregret.reporting.bands import band_ends
from lowregret.reporting.policy_styles import Style


def draw_regret(
    axes: Any, curve: pl.DataFrame, title: str, *, band: str, palette: Mapping[str, Style]
) -> Any:
    """Draw the mean regret of every policy over time with its band; return the axes."""
    if not (hasattr(axes, "fill_between") and hasattr(axes, "set_xlabel")):
        raise InputError(f"plot: ax must be axes of matplotlib, such as plt.gca(), got {type(axes).__name__}")
    columns = curve.select("policy", "t", "mean", **band_ends(band))
    origin = pl.DataFrame({"t": [0], "mean": [0.0], "low": [0.0], "high": [0.0]})
    for (policy,), part in columns.group_by("policy", maintain_order=True):
        lines = pl.concat([origin, part.drop("policy")], how="diagonal_relaxed")
        t, mean, low, high = (lines[name].to_numpy() for name in ("t", "mean", "low", "high"))
        style = palette[str(policy)]
        dash: Any = "-" if style.dash == (1, 0) else (0, style.dash)
        axes.plot(t, mean, color=style.colour, linestyle=dash, label=str(policy))
        if band != "none":
            axes.fill_between(t, low, high, color=style.colour, alpha=0.2, linewidth=0)
    axes.set_xlabel("time step t")
    axes.set_ylabel("cumulative regret")
    axes.margins(x=0)
    axes.set_ylim(bottom=0, auto=None)  # what is drawn later may still raise the upper end
    if title:
        axes.set_title(title)
    axes.legend(frameon=False)
    return axes
