"""Tables of the page: final regrets, comparisons, and all environments side by side."""

from collections.abc import Mapping

import polars as pl

from lowregret.analysis.comparison import HIGHER, HIGHER_HERE, INCONCLUSIVE, LOWER, LOWER_HERE
from lowregret.reporting.number_format import lost_runs, p_value, rank_text, shown, span
from lowregret.reporting.page_parts import Cell, Table, table_of

SIGNS = {LOWER: "▼", HIGHER: "▲", LOWER_HERE: "▽", HIGHER_HERE: "△", INCONCLUSIVE: "≈"}


def numbers(summary: pl.DataFrame, ranks: Mapping[str, str]) -> Table:
    """Return the final regrets in one environment as a table, the lowest first."""
    different = summary["runs"].n_unique() > 1
    extra = [name for name in summary.columns if name == "realised_regret" or f"{name} se" in summary.columns]
    heads = {name: name.removeprefix("metric.").replace("realised_regret", "realised") for name in extra}
    rows = [
        {
            "policy": row["policy"],
            **({"runs": f"{row['runs']:,}"} if different else {}),
            "mean": shown(row["mean"]),
            "95% interval": span(row["low"], row["high"]),
            "median": shown(row["median"]),
            "5% to 95%": span(row["p05"], row["p95"]),
            "worst 5%": f"{shown(row['worst05'])} ({span(row['worst05_low'], row['worst05_high'])})",
            "rank": ranks.get(row["policy"], "-"),
            "best arm pulled": f"{row['best_arm_pulls']:.1%}",
            "best arm found": f"{row['best_arm_found']:.1%}",
            "optimal arm eliminated": lost_runs(row),
            **{head: shown(row[name]) for name, head in heads.items()},
        }
        for row in summary.sort("mean").to_dicts()
    ]
    caption = (
        "Final regret, with the 95% interval of its mean; the intervals allow for unseen runs at the largest "
        "possible regret. Rank: its mean over the runs, with the standard error. Worst 5%: the mean of the "
        "worst 5% of the runs, with its 95% interval. Best arm "
        "pulled: the share of pulls of an optimal arm; found: the share of runs in which one was pulled "
        "most. Eliminated: the number of runs in which no optimal arm was left, with the upper 95% limit "
        "of their share."
    )
    return table_of(rows, caption=caption)


def verdicts(comparison: pl.DataFrame) -> Table:
    """Return the comparisons with one baseline as a table."""
    rows = [
        {
            "policy": row["policy"],
            "verdict": Cell(row["verdict"], "quiet" if row["verdict"] == INCONCLUSIVE else ""),
            "difference": shown(row["difference"]),
            "95% interval": span(row["low"], row["high"]),
            "p": p_value(row["p_bounded"]),
            "runs needed": shown(row["runs_needed"]),
            "wins": f"{row['wins']:.0%}",
            "Student": span(row["student_low"], row["student_high"]),
            "bootstrap": span(row["bootstrap_low"], row["bootstrap_high"]),
            "p (t test)": p_value(row["p_holm"]),
        }
        for row in comparison.sort("difference").to_dicts()
    ]
    caption = (
        f"Against {comparison['baseline'][0]}, on the same rewards. The 95% interval and p allow for unseen "
        "runs at the largest possible regret, and give the verdict. Lower or higher in these runs: by "
        "Student's interval and the t test, which see no failure that did not occur; rare failures are not "
        "excluded. Both p are adjusted (Holm). Runs needed: about the number of runs for a verdict with "
        "probability 0.8, if the difference and the standard deviation in these runs are the true ones. "
        "Wins: the share of runs with the lower regret."
    )
    return table_of(rows, (0, 1), caption)


def overview(
    summary: pl.DataFrame, average_ranks: pl.DataFrame, comparison: pl.DataFrame | None = None
) -> Table:
    """Return a table of all environments: the mean regrets, each with the symbol of its verdict."""
    environments = summary["environment"].unique(maintain_order=True).to_list()
    ranks = {row["policy"]: row for row in average_ranks.to_dicts()}
    means = {(row["environment"], row["policy"]): row["mean"] for row in summary.to_dicts()}
    rows_of = [] if comparison is None else comparison.to_dicts()
    signs = {(row["environment"], row["policy"]): SIGNS[row["verdict"]] for row in rows_of}
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
        caption += (
            f" ▼ lower, ▲ higher regret than {baseline} (5%, Holm's); ▽ lower, △ higher in these runs: "
        )
        caption += "rare failures are not excluded; ≈ inconclusive."
    return Table(["policy", "mean rank", *environments], rows, caption=caption)
