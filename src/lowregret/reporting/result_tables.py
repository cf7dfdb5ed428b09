"""Tables of the page: final regrets, comparisons, and all environments side by side."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from lowregret.analysis.comparison import HIGHER, INCONCLUSIVE, LOWER
from lowregret.reporting.number_format import lost_runs, p_value, percent, rank_text, shown, span
from lowregret.reporting.page_parts import Cell, Table

SIGNS = {LOWER: "▼", HIGHER: "▲", INCONCLUSIVE: "≈"}
"""The symbols of the verdicts."""
QUIET = {INCONCLUSIVE: "quiet"}


def numbers(summary: pl.DataFrame, ranks: Mapping[str, str]) -> Table:
    """Return the final regrets in one environment as a table, the lowest first."""
    different = summary["runs"].n_unique() > 1
    heads = ["policy", *["runs"] * different, "mean ± 95%", "median", "5% to 95%", "worst 5%", "rank"]
    heads += ["best arm pulled", "best arm found", "optimal arm eliminated"]
    extra = [name for name in summary.columns if name == "realised_regret" or f"{name} se" in summary.columns]
    heads += [name.removeprefix("metric.").replace("realised_regret", "realised") for name in extra]
    rows = [
        [
            row["policy"],
            *([f"{row['runs']:,}"] if different else []),
            shown(row["mean"]) + ("" if row["high"] is None else f" ± {shown(row['high'] - row['mean'])}"),
            shown(row["median"]),
            span(row["p05"], row["p95"]),
            f"{shown(row['worst05'])} ({span(row['worst05_low'], row['worst05_high'])})",
            ranks.get(row["policy"], "-"),
            f"{row['best_arm_pulls']:.1%}",
            f"{row['best_arm_found']:.1%}",
            lost_runs(row),
            *(shown(row[name]) for name in extra),
        ]
        for row in summary.sort("mean").to_dicts()
    ]
    caption = (
        "Final regret, with the half-width of its 95% interval (Student). Rank: its mean over the runs, with "
        "the standard error. Worst 5%: the mean of the worst 5% of the runs, with its 95% interval. Best arm "
        "pulled: the share of pulls of an optimal arm; found: the share of runs in which one was pulled "
        "most. Eliminated: the number of runs in which no optimal arm was left, with the upper 95% limit "
        "of their share."
    )
    return Table(heads, rows, caption=caption)


def verdicts(comparison: pl.DataFrame) -> Table:
    """Return the comparisons with one baseline as a table."""
    heads = ["policy", "difference", "95% interval", "bootstrap", "bounded", "wins", "p", "p (Holm)"]
    heads += ["verdict", "reversed by", "runs needed"]
    rows = [
        [
            row["policy"],
            shown(row["difference"]),
            span(row["low"], row["high"]),
            span(row["bootstrap_low"], row["bootstrap_high"]),
            span(row["bounded_low"], row["bounded_high"]),
            f"{row['wins']:.0%}",
            p_value(row["p_value"]),
            p_value(row["p_holm"]),
            Cell(row["verdict"] + ", fragile" * bool(row["fragile"]), QUIET.get(row["verdict"], "")),
            "-" if row["fragility"] is None else percent(row["fragility"]),
            shown(row["runs_needed"]),
        ]
        for row in comparison.sort("difference").to_dicts()
    ]
    caption = (
        f"Against {comparison['baseline'][0]}, on the same rewards. Wins: the share of runs with the lower "
        "regret. Bounded: the 95% interval that allows for unseen runs at the largest possible regret. "
        "Reversed by: the share of runs at that regret that would reverse the verdict; it is fragile where "
        "this many runs cannot exclude that share (about 3 / runs). Runs needed: the number of runs with "
        "which a paired t test, at the strictest of Holm's levels, detects a difference of this size with "
        "probability 0.8, if the difference and the standard deviation in these runs are the true ones."
    )
    return Table(heads, rows, (0, 8), caption)


def overview(
    summary: pl.DataFrame, average_ranks: pl.DataFrame, comparison: pl.DataFrame | None = None
) -> Table:
    """Return a table of all environments: the mean regrets, each with the symbol of its verdict."""
    environments = summary["environment"].unique(maintain_order=True).to_list()
    ranks = {row["policy"]: row for row in average_ranks.to_dicts()}
    means = {(row["environment"], row["policy"]): row["mean"] for row in summary.to_dicts()}
    rows_of = [] if comparison is None else comparison.to_dicts()
    signs = {
        (row["environment"], row["policy"]): SIGNS[row["verdict"]] + "?" * bool(row["fragile"])
        for row in rows_of
    }
    lowest = dict(summary.group_by("environment").agg(pl.col("mean").min()).iter_rows())
    policies = summary["policy"].unique(maintain_order=True).to_list()
    rows = []
    for policy in [*ranks, *(policy for policy in policies if policy not in ranks)]:
        cells: list[str | Cell] = [policy, rank_text(ranks[policy]) if policy in ranks else "-"]
        for environment in environments:
            mean, sign = means.get((environment, policy)), signs.get((environment, policy), "")
            best = mean is not None and mean == lowest[environment]
            cells.append(Cell(shown(mean), "best" if best else "", sign or " " * bool(rows_of)))
        rows.append(cells)
    caption = (
        "Mean final regret; bold is the lowest. Ranks are averaged over runs and environments; in "
        "brackets the standard error over runs."
    )
    if rows_of:
        baseline = rows_of[0]["baseline"]
        caption += f" ▼ lower, ▲ higher regret than {baseline}, ≈ inconclusive, ? fragile (5%, Holm's)."
    return Table(["policy", "mean rank", *environments], rows, caption=caption)
