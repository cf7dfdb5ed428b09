"""The verdicts of a comparison on the terminal."""

from __future__ import annotations

from typing import Any

import polars as pl

from lowregret._common.text import escaped
from lowregret.analysis.comparison import HIGHER, INCONCLUSIVE, LOWER
from lowregret.cli.printing import NBSP, print_text
from lowregret.cli.terminal_tables import MAX_TABLES, text_table
from lowregret.reporting.number_format import p_value, percent, shown, span

EXPLANATION = (
    "Paired differences of the final regret. p is adjusted for all comparisons (Holm); a difference is "
    "significant if p is at most 0.05. Reversed by: the share of runs at the largest possible regret that "
    "would reverse the verdict; fragile: this many runs cannot exclude such a share (about 3 / runs). Runs "
    "needed: to detect this difference with probability 0.8, at the strictest of Holm's levels, if the "
    "difference and the standard deviation in these runs are the true ones."
)
SHORT = "Paired differences of the final regret, p adjusted by Holm; --explain says more."
"""The text below the verdicts, and the line in its place."""


def print_verdicts(comparison: pl.DataFrame, explain: bool = False, verbose: bool = False) -> None:
    """Print a comparison: a sentence for each verdict, or counts where there are many environments."""
    names, environment = {*comparison["policy"], *comparison["baseline"]}, None
    many = not verbose and comparison["environment"].n_unique() > MAX_TABLES
    if many:
        print(_counts(comparison))
    for row in [] if many else comparison.to_dicts():
        if row["environment"] != environment:
            environment = row["environment"]
            print(escaped(environment))
        print_text(f"  {_line(row)}", names, "    ")
    print_text(EXPLANATION if explain else SHORT + " --verbose prints every verdict." * many)


def _counts(comparison: pl.DataFrame) -> str:
    """Return a table of how many environments have which verdict, for each pair of policies."""
    rows = []
    for (policy, baseline), part in comparison.group_by("policy", "baseline", maintain_order=True):
        counts = {verdict: part.filter(verdict=verdict).height for verdict in (LOWER, HIGHER, INCONCLUSIVE)}
        counts["fragile"] = int(part["fragile"].sum())
        texts = {name: str(number) for name, number in counts.items()}
        rows.append({"policy": str(policy), "against": str(baseline), **texts})
    return text_table(rows, right=list(rows[0])[2:], drop=["fragile"])


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
    p = f"p {p_value(row['p_holm'])}".replace(" ", NBSP)
    return f"{words}, 95% interval {span(low, high)}, {p} ({runs:,} runs{more})"
