"""Final regrets as text: what `print` shows of results, and the command line too."""

from __future__ import annotations

import polars as pl

from lowregret._common.terminal_text import notes_lines, wrapped
from lowregret._common.text import count
from lowregret.analysis.metrics import METRIC_PREFIX
from lowregret.analysis.summary import summarise
from lowregret.analysis.tables import Tables, largest_regrets
from lowregret.reporting.number_format import lost_runs, rank_text
from lowregret.reporting.text_tables import number_table, text_table

PRINTED_COLUMNS = {
    "mean": "mean",
    "se": "se",
    "median": "median",
    "p95": "95%",
    "worst05": "worst 5%",
    "worst05_high": "at most",
    "realised_regret": "realised",
    "lost": "optimal arm eliminated",
    "ns_per_step": "ns/step",
}
"""The columns of a summary that are printed, and their headings."""

LESS_IMPORTANT = ("ns/step", "at most", "median", "95%", "realised", "optimal arm eliminated", "se")
"""Which of them are left out of a narrow terminal, the first first."""

MAX_TABLES = 6
"""The largest number of environments of which each is printed; of more, a summary."""


def results_text(tables: Tables, *, times: bool = False, every_environment: bool = False) -> str:
    """Return a table of the final regrets, what was run, and the notes on policies.

    Of several environments each has its table, and of many there is one table over all, unless
    ``every_environment`` is wanted. With ``times`` the table has the time of a step.
    """
    names = tables.environments
    if len(names) > MAX_TABLES and not every_environment:
        size = f"{len(names)} environments, {count(tables.runs, 'run')}"
        lines = [environments_table(tables), wrapped(f"{size}; ratio: mean regret / the lowest there.")]
        return "\n".join([*lines, *notes_lines(tables.notes)])
    summary, largest = summarise(tables), largest_regrets(tables)
    if times:
        summary = summary.with_columns(ns_per_step=_step_times(tables, summary))
    lines = []
    for name in names:
        part = summary.filter(environment=name)
        if part.is_empty():  # of an unfinished experiment
            continue
        parts = [name, f"horizon {tables.horizons[name]:,}", count(tables.runs, "run")]
        parts += [] if tables.seed is None else [f"seed {tables.seed}"]
        parts += [words for words in (tables.delay_notes.get(name), _unfinished(tables)) if words]
        line, table = wrapped(", ".join(parts), [name]), regret_table(part, largest[name])
        lines += [table, line] if len(names) == 1 else [line, table]
    return "\n".join([*lines, *notes_lines(tables.notes)]).rstrip("\n")


def regret_table(summary: pl.DataFrame, largest: float | None = None) -> str:
    """Return the final regrets of several policies, with those of the columns that say something."""
    rows = [row | {"lost": lost_runs(row)} for row in summary.to_dicts()]
    silent = {"lost"} if all(row["lost"] == "-" for row in rows) else set()
    if largest is not None and all(row["worst05_high"] >= largest * (1 - 1e-9) for row in rows):
        silent.add("worst05_high")
    columns = {name: head for name, head in PRINTED_COLUMNS.items() if name in rows[0] and name not in silent}
    columns |= {name: name.removeprefix(METRIC_PREFIX) for name in rows[0] if name.startswith(METRIC_PREFIX)}
    return number_table(rows, ("policy",), columns, LESS_IMPORTANT)


def environments_table(tables: Tables) -> str:
    """Return one row per policy over all environments: mean rank, how often lowest, ratios to the lowest."""
    from lowregret.analysis.ranks import average_ranks

    means = summarise(tables).select("environment", "policy", "mean")
    lowest = dict(means.sort("mean", descending=True).select("environment", "mean").iter_rows())
    ranks = {row["policy"]: rank_text(row) for row in average_ranks(tables).to_dicts()}
    rows = []
    for policy in dict.fromkeys([*ranks, *tables.policies]):
        pairs = [(mean, lowest[name]) for name, _, mean in means.filter(policy=policy).iter_rows()]
        ratios = sorted(mean / best if best else 1.0 for mean, best in pairs)
        row = {"policy": policy, "mean rank": ranks.get(policy, "-")}
        row["lowest"] = f"{sum(mean == best for mean, best in pairs)} of {len(pairs)}"
        row |= {"median ratio": f"{ratios[len(ratios) // 2]:.2f}", "largest": f"{ratios[-1]:.2f}"}
        rows.append(row)
    return text_table(rows, right=list(rows[0])[1:], drop=["largest", "median ratio"])


def _step_times(tables: Tables, summary: pl.DataFrame) -> pl.Series:
    """Return the nanoseconds of a step, by the rows of a summary; null where runs were not timed."""
    times = []
    for name, policy, runs in summary.select("environment", "policy", "runs").iter_rows():
        seconds = tables.outcome(policy, name).seconds
        times.append(None if seconds is None else 1e9 * seconds / (runs * tables.horizons[name]))
    return pl.Series(times, dtype=pl.Float64)


def _unfinished(tables: Tables) -> str:
    if tables.planned_runs is None:
        return ""
    return f"unfinished: {len(tables.finals):,} of {tables.planned_runs:,} runs of all pairs"
