"""The verdicts of a comparison on the terminal."""

from typing import Any

import polars as pl

from lowregret._common.text import escaped
from lowregret.analysis.comparison import HIGHER, HIGHER_HERE, INCONCLUSIVE, LOWER, LOWER_HERE
from lowregret.cli.printing import NBSP, print_text
from lowregret.cli.terminal_tables import MAX_TABLES, text_table
from lowregret.reporting.number_format import p_value, shown, span

EXPLANATION = (
    "Paired differences of the final regret. Interval and p allow for unseen runs at the largest possible "
    "regret; p is adjusted for all comparisons (Holm), the interval is not. Significant is at most 0.05. "
    "In these runs: a paired t test, adjusted alike, is significant, but it sees no failure that did not "
    "occur. Runs needed: about so many for a verdict with probability 0.8, at the strictest Holm level, "
    "if the difference and the standard deviation in these runs are the true ones."
)
SHORT = "Paired differences of the final regret (5%, Holm); --explain says more."
"""The text below the verdicts, and the line in its place."""
VERDICTS = (LOWER, HIGHER, LOWER_HERE, HIGHER_HERE, INCONCLUSIVE)


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
        counts = {verdict: str(part.filter(verdict=verdict).height) for verdict in VERDICTS}
        rows.append({"policy": str(policy), "against": str(baseline), **counts})
    return text_table(rows, right=list(rows[0])[2:], drop=[INCONCLUSIVE])


def _line(row: dict[str, Any]) -> str:
    """Return the sentence of a comparison, which begins with its verdict."""
    difference, verdict, runs, needed = (row[key] for key in ("difference", "verdict", "runs", "runs_needed"))
    low, high = row["low"], row["high"]
    if verdict in (LOWER, LOWER_HERE):
        low, high = -high, -low
    policy, other = row["policy"], row["baseline"]
    if verdict == INCONCLUSIVE:
        words = f"{policy} against {other} is inconclusive: difference {shown(difference)}"
    elif verdict in (LOWER, HIGHER):
        words = f"{policy} has {verdict} than {other}: by {shown(abs(difference))}"
    else:
        sign = "lower" if verdict == LOWER_HERE else "higher"
        words = f"{policy} has {sign} regret than {other} in these runs; rare failures are not excluded: "
        words += f"by {shown(abs(difference))}"
    if row["se"] is None:
        return f"{words} (1 run)"
    more = f"; {needed:,} needed" if needed and needed > runs and verdict not in (LOWER, HIGHER) else ""
    if verdict in (LOWER, HIGHER):
        p = f"p {p_value(row['p_bounded'])}".replace(" ", NBSP)
        words += f", {p}"
    return f"{words}, 95% interval {span(low, high)} ({runs:,} runs{more})"
