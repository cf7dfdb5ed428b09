"""The columns of results, summaries and comparisons: makers and readers of tables share their names."""

import polars as pl

KEYS = ("environment", "policy")
"""The columns that name a pair of an environment and a policy."""

TABLE_COLUMNS = {
    "finals": (*KEYS, "run", "regret"),
    "curves": (*KEYS, "run", "t", "regret"),
    "pulls": (*KEYS, "run", "arm", "pulls"),
    "events": (*KEYS, "run", "t", "arm", "event"),
    "arms": ("environment", "arm", "mean", "variance", "gap", "optimal"),
}
"""The tables and their columns. In one environment, run r of every policy sees the same rewards."""

INTERVALS = ("low", "high", "student_low", "student_high")
"""The ends of the bounded interval, which allows for failures that no run shows, and of Student's."""
TAIL_COLUMNS = ("worst05", "worst05_low", "worst05_high", "worst")
REGRET = ("mean", "se", *INTERVALS, "p05", "p25", "median", "p75", "p95", *TAIL_COLUMNS)
SUMMARY = {
    **dict.fromkeys(KEYS, pl.String),
    "runs": pl.Int64,
    **dict.fromkeys((*REGRET, "best_arm_pulls", "best_arm_found"), pl.Float64),
    "optimal_arm_eliminated": pl.Int64,
    **dict.fromkeys(("failures", "failures_high"), pl.Float64),
}

READ_FIRST = (*KEYS, "runs", "mean", "se", "median", "worst05")
"""The columns of a summary that people read; `summary(all=True)` returns the others, too."""

COMPARISON = {
    **dict.fromkeys((*KEYS, "baseline"), pl.String),
    "runs": pl.Int64,
    **dict.fromkeys(("difference", "se", *INTERVALS), pl.Float64),
    **dict.fromkeys(("wins", "p_value", "p_holm", "p_bounded"), pl.Float64),
    "verdict": pl.String,
    "runs_needed": pl.Int64,
}

READ_FIRST_OF_COMPARISONS = (*KEYS, "baseline", "difference", "low", "high", "verdict")
"""The same of a comparison, and of `compare(all=True)`."""

RECORDED = ("reward", "recommended", "loss", "stopped")
"""The columns of what is recorded on request."""
RESERVED = {*SUMMARY, *COMPARISON, *RECORDED}.union(
    *(columns for name, columns in TABLE_COLUMNS.items() if name != "arms")
)
"""The names of columns that a parameter of a sweep may not have."""
