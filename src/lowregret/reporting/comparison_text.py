"""A comparison as text: a sentence for each verdict. `print` shows it, and the command line too."""

from typing import Any

import polars as pl

from lowregret._common.terminal_text import NBSP, wrapped
from lowregret._common.text import escaped
from lowregret.analysis.comparison import (
    BETTER_HERE,
    HIGHER,
    HIGHER_HERE,
    INCONCLUSIVE,
    LOWER,
    LOWER_HERE,
    WORSE_HERE,
)
from lowregret.analysis.power import ALPHA, LEVEL
from lowregret.reporting.number_format import format_interval, format_number, p_value
from lowregret.reporting.regret_text import MAX_TABLES
from lowregret.reporting.text_tables import text_table

EXPLANATION = (
    "Paired differences of the final regret. Interval and p allow for unseen runs at the largest possible "
    f"regret; p is adjusted for all comparisons (Holm), the interval is not. Significant is at most {ALPHA}. "
    "In these runs: a paired t test, adjusted alike, is significant, but it sees no failure that did not "
    "occur. Runs needed: about so many for a verdict with probability 0.8, at the strictest Holm level, "
    "if the difference and the standard deviation in these runs are the true ones."
)
FAMILY = f"Paired differences of the final regret ({LEVEL}, Holm)"
METRIC = f"Paired differences of the metric, 95% intervals by Student ({LEVEL}, Holm)"
VERDICT_ORDER = (LOWER, HIGHER, LOWER_HERE, HIGHER_HERE, BETTER_HERE, WORSE_HERE, INCONCLUSIVE)


def comparison_text(comparison: pl.DataFrame, *, every_environment: bool = False) -> str:
    """Return a sentence for each verdict, or counts of verdicts where there are many environments."""
    return "\n".join([*_verdict_lines(comparison, every_environment), f"{_family(comparison)}."])


def command_text(comparison: pl.DataFrame, explain: bool, verbose: bool) -> str:
    """Return the same for the command line, with the options that say more."""
    lines = _verdict_lines(comparison, verbose)
    more = " --verbose prints every verdict." if not verbose and _many(comparison) else ""
    short = f"{_family(comparison)}; --explain says more.{more}"
    return "\n".join([*lines, wrapped(EXPLANATION if explain else short)])


def _family(comparison: pl.DataFrame) -> str:
    return METRIC if comparison.get_column("low").null_count() == comparison.height > 0 else FAMILY


def _many(comparison: pl.DataFrame) -> bool:
    return comparison["environment"].n_unique() > MAX_TABLES


def _verdict_lines(comparison: pl.DataFrame, every_environment: bool) -> list[str]:
    if _many(comparison) and not every_environment:
        return [_verdict_counts(comparison)]
    names, environment, lines = {*comparison["policy"], *comparison["baseline"]}, None, []
    for row in comparison.to_dicts():
        if row["environment"] != environment:
            environment = row["environment"]
            lines.append(escaped(environment))
        lines.append(wrapped(f"  {_verdict_sentence(row)}", names, "    "))
    return lines


def _verdict_counts(comparison: pl.DataFrame) -> str:
    """Return a table of how many environments have which verdict, for each pair of policies."""
    rows = []
    of_metrics = {BETTER_HERE, WORSE_HERE} - set(comparison["verdict"])
    verdicts = [verdict for verdict in VERDICT_ORDER if verdict not in of_metrics]
    for (policy, baseline), part in comparison.group_by("policy", "baseline", maintain_order=True):
        counts = {verdict: str(part.filter(verdict=verdict).height) for verdict in verdicts}
        rows.append({"policy": str(policy), "against": str(baseline), **counts})
    return text_table(rows, right=list(rows[0])[2:], drop=[INCONCLUSIVE])


def _verdict_sentence(row: dict[str, Any]) -> str:
    """Return the sentence of a comparison, which begins with its verdict."""
    difference, verdict, runs, needed = (row[key] for key in ("difference", "verdict", "runs", "runs_needed"))
    policy, other, by = row["policy"], row["baseline"], format_number(abs(difference))
    ends = ("low", "high") if row["low"] is not None else ("student_low", "student_high")
    low, high = (row[end] for end in ends)
    if verdict != INCONCLUSIVE and difference < 0.0 and low is not None:
        low, high = -high, -low
    if verdict == INCONCLUSIVE:
        words = f"{policy} against {other} is inconclusive: difference {format_number(difference)}"
    elif verdict in (LOWER, HIGHER):
        words = f"{policy} has {verdict} than {other}: by {by}"
    elif verdict in (BETTER_HERE, WORSE_HERE):
        words = f"{policy} is {verdict.partition(' ')[0]} than {other} in these runs: by {by}"
    else:
        sign = "lower" if verdict == LOWER_HERE else "higher"
        words = (
            f"{policy} has {sign} regret than {other} in these runs; rare failures are not excluded: by {by}"
        )
    if row["se"] is None:
        return f"{words} (1 run)"
    more = f"; {needed:,} needed" if needed and needed > runs and verdict not in (LOWER, HIGHER) else ""
    if verdict in (LOWER, HIGHER):
        p = f"p {p_value(row['p_bounded'])}".replace(" ", NBSP)
        words += f", {p}"
    return f"{words}, 95% interval {format_interval(low, high)} ({runs:,} runs{more})"
