"""The verdicts of a comparison in plain lines, for the terminal."""

from __future__ import annotations

from typing import Any

import polars as pl

from lowregret.analysis.comparison import LOWER, UNKNOWN
from lowregret.report.result_tables import p_value, span
from lowregret.report.terminal_tables import shown

NOTE = (
    "Paired differences of the final regret. p is adjusted for all comparisons (Holm); up to 0.05 a "
    "difference counts as found."
)
"""What stands below the verdicts."""

NEEDED = "Runs needed: to find one like this with probability 0.8, at the strictest of Holm's levels."
"""What stands there too where more runs are needed."""


def verdict_lines(comparison: pl.DataFrame) -> list[str]:
    """Write a comparison one line per verdict, under the names of the environments.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.analysis.comparison import compare
    >>> from lowregret.report.terminal_verdicts import verdict_lines
    >>> tables = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0,1", horizon=20, runs=7, seed=1).tables()
    >>> for line in verdict_lines(compare(tables, "MOSS"))[:2]:
    ...     print(line)
    bernoulli:0,1
      RoundRobin has higher regret than MOSS: by 8, 95% interval 8 to 8, p 0.016 (7 runs)
    """
    lines = []
    for (environment,), part in comparison.group_by("environment", maintain_order=True):
        lines.append(str(environment))
        lines += [f"  {_line(row)}" for row in part.to_dicts()]
    needed = any(_more_needed(row) for row in comparison.to_dicts())
    return [*lines, "", f"{NOTE} {NEEDED}" if needed else NOTE]


def _more_needed(row: dict[str, Any]) -> int | None:
    """Give the number of runs that would tell, where these are too few and it is known."""
    needed: int | None = row["runs_needed"]
    few = row["verdict"] == UNKNOWN and row["low"] is not None and needed and needed > row["runs"]
    return needed if few else None


def _line(row: dict[str, Any]) -> str:
    difference, low, high = row["difference"], row["low"], row["high"]
    runs, needed = row["runs"], _more_needed(row)
    if row["verdict"] == UNKNOWN:
        words = f"{row['policy']} and {row['baseline']} cannot be told apart: difference {shown(difference)}"
    else:
        words = f"{row['policy']} has {row['verdict']} than {row['baseline']}: by {shown(abs(difference))}"
    if low is None or high is None:
        return f"{words} (1 run)"
    if row["verdict"] == LOWER:
        low, high = -high, -low
    more = f"; {needed:,} needed" if needed else ""
    return f"{words}, 95% interval {span(low, high)}, p {p_value(row['p_holm'])} ({runs:,} runs{more})"
