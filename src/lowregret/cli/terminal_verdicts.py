"""The verdicts of a comparison as lines for the terminal."""

from __future__ import annotations

from typing import Any

import polars as pl

from lowregret._common.text import escaped
from lowregret.analysis.comparison import INCONCLUSIVE, LOWER
from lowregret.reporting.number_format import p_value, percent, shown, span

NOTE = (
    "Paired differences of the final regret. p is adjusted for all comparisons (Holm); a difference is "
    "significant if p is at most 0.05."
)
"""The text below the verdicts."""

NEEDED = (
    "Runs needed: to detect this difference with probability 0.8, at the strictest of Holm's levels, if the "
    "difference and the standard deviation in these runs are the true ones."
)
"""The text after it, where more runs are needed."""

REVERSED = (
    "Reversed by: the share of runs at the largest possible regret that would reverse the verdict; fragile: "
    "this many runs cannot exclude such a share (about 3 / runs)."
)
"""The text after it, where there is a verdict."""


def verdict_lines(comparison: pl.DataFrame) -> list[str]:
    """Return a comparison as lines, one per verdict, under the names of the environments."""
    lines = []
    for (environment,), part in comparison.group_by("environment", maintain_order=True):
        lines.append(escaped(str(environment)))
        lines += [escaped(f"  {_line(row)}") for row in part.to_dicts()]
    rows = comparison.to_dicts()
    texts = [NOTE, REVERSED if any(row["fragile"] is not None for row in rows) else ""]
    texts.append(NEEDED if any(_more_needed(row) for row in rows) else "")
    return [*lines, "", " ".join(filter(None, texts))]


def _more_needed(row: dict[str, Any]) -> int | None:
    """Return the number of runs needed, where the verdict is inconclusive and it is larger than runs."""
    needed: int | None = row["runs_needed"]
    few = row["verdict"] == INCONCLUSIVE and row["low"] is not None and needed and needed > row["runs"]
    return needed if few else None


def _line(row: dict[str, Any]) -> str:
    difference, low, high = row["difference"], row["low"], row["high"]
    runs, needed = row["runs"], _more_needed(row)
    if row["verdict"] == INCONCLUSIVE:
        words = f"{row['policy']} against {row['baseline']} is inconclusive: difference {shown(difference)}"
    else:
        words = f"{row['policy']} has {row['verdict']} than {row['baseline']}: by {shown(abs(difference))}"
    if low is None or high is None:
        return f"{words} (1 run)"
    if row["verdict"] == LOWER:
        low, high = -high, -low
    more = f"; {needed:,} needed" if needed else ""
    if row["fragile"] is not None:
        more += f"; {'fragile, ' * row['fragile']}reversed by {percent(row['fragility'])}"
    return f"{words}, 95% interval {span(low, high)}, p {p_value(row['p_holm'])} ({runs:,} runs{more})"
