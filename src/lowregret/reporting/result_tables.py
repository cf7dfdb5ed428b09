"""Tables of the page: final regrets, comparisons, and all environments side by side."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from lowregret.analysis.comparison import HIGHER, INCONCLUSIVE, LOWER
from lowregret.reporting.number_format import lost_runs, p_value, shown, span
from lowregret.reporting.page_parts import Cell, Table

SIGNS = {LOWER: "▼", HIGHER: "▲", INCONCLUSIVE: "≈"}
"""The symbols of the verdicts."""


def numbers(summary: pl.DataFrame, ranks: Mapping[str, float | None]) -> Table:
    """Return the final regrets in one environment as a table, the lowest first."""
    heads = ["policy", "mean ± 95%", "median", "5% to 95%", "worst 5%", "rank"]
    heads += ["best arm pulled", "best arm found", "optimal arm eliminated"]
    rows = [
        [
            row["policy"],
            shown(row["mean"]) + ("" if row["high"] is None else f" ± {shown(row['high'] - row['mean'])}"),
            shown(row["median"]),
            span(row["p05"], row["p95"]),
            f"{shown(row['worst05'])} ({span(row['worst05_low'], row['worst05_high'])})",
            _rank(ranks.get(row["policy"])),
            f"{row['best_arm_pulls']:.1%}",
            f"{row['best_arm_found']:.1%}",
            lost_runs(row),
        ]
        for row in summary.sort("mean").to_dicts()
    ]
    caption = (
        "Final regret, with the half-width of its 95% interval (Student). Worst 5%: the mean of the worst 5% "
        "of the runs, with its 95% interval. Best arm pulled: the share of pulls of an optimal arm; found: "
        "the share of runs in which one was pulled most. Eliminated: the number of runs in which no optimal "
        "arm was left, with the upper 95% limit of their share."
    )
    return Table(heads, rows, caption=caption)


def verdicts(comparison: pl.DataFrame) -> Table:
    """Return the comparisons with one baseline as a table."""
    heads = ["policy", "difference", "95% interval", "bootstrap", "wins", "p", "p (Holm)", "verdict"]
    rows = [
        [
            row["policy"],
            shown(row["difference"]),
            span(row["low"], row["high"]),
            span(row["bootstrap_low"], row["bootstrap_high"]),
            f"{row['wins']:.0%}",
            p_value(row["p_value"]),
            p_value(row["p_holm"]),
            Cell(row["verdict"], "quiet" if row["verdict"] == INCONCLUSIVE else ""),
            shown(row["runs_needed"]),
        ]
        for row in comparison.sort("difference").to_dicts()
    ]
    caption = (
        f"Against {comparison['baseline'][0]}, on the same rewards. Wins: the share of runs with the lower "
        "regret. Runs needed: the number of runs with which a paired t test, at the strictest of Holm's "
        "levels, detects a difference of this size with probability 0.8."
    )
    return Table([*heads, "runs needed"], rows, (0, 7), caption)


def overview(
    summary: pl.DataFrame, average_ranks: pl.DataFrame, comparison: pl.DataFrame | None = None
) -> Table:
    """Return a table of all environments: the mean regrets, each with the symbol of its verdict."""
    environments = summary["environment"].unique(maintain_order=True).to_list()
    ranks = dict(average_ranks.select("policy", "rank").iter_rows())
    means = {(row["environment"], row["policy"]): row["mean"] for row in summary.to_dicts()}
    rows_of = [] if comparison is None else comparison.to_dicts()
    signs = {(row["environment"], row["policy"]): SIGNS[row["verdict"]] for row in rows_of}
    lowest = dict(summary.group_by("environment").agg(pl.col("mean").min()).iter_rows())
    policies = summary["policy"].unique(maintain_order=True).to_list()
    rows = []
    for policy in sorted(policies, key=lambda policy: ranks.get(policy, float("inf"))):
        cells: list[str | Cell] = [policy, _rank(ranks.get(policy))]
        for environment in environments:
            mean, sign = means.get((environment, policy)), signs.get((environment, policy), "")
            best = mean is not None and mean == lowest[environment]
            cells.append(Cell(f"{shown(mean)} {sign}".strip(), "best" if best else ""))
        rows.append(cells)
    caption = "Mean final regret; bold is the lowest. Ranks are averaged over runs and environments."
    if rows_of:
        baseline = rows_of[0]["baseline"]
        caption += f" ▼ lower, ▲ higher regret than {baseline}, ≈ inconclusive (5%, Holm's correction)."
    return Table(["policy", "mean rank", *environments], rows, caption=caption)


def _rank(rank: float | None) -> str:
    return "-" if rank is None else f"{rank:.2f}"
