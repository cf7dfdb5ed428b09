"""Numbers, intervals and p-values as short strings."""

from collections.abc import Mapping
from typing import Any


def format_number(value: float | None) -> str:
    """Format a number as briefly as its size allows, and a missing one as a dash."""
    if value is None:
        return "-"
    if abs(value) < 1e-9:  # the standard error of equal numbers is rarely 0 to the last bit
        return "0"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3g}"


def percent(share: float) -> str:
    return f"{100 * share:.2g}%"


def rank_text(row: Mapping[str, Any]) -> str:
    """Format a rank, and its standard error in brackets where there is one."""
    if row["rank"] is None:
        return "-"
    return f"{row['rank']:.2f}" + ("" if row["se"] is None else f" ({row['se']:.2f})")


def lost_runs(row: Mapping[str, Any]) -> str:
    """Format how many runs lost the optimal arm, with the upper limit of their share."""
    count = row["optimal_arm_eliminated"]
    return "-" if count is None else f"{count:,} (≤ {percent(row['failures_high'])})"


def format_interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{format_number(low)} to {format_number(high)}"


def p_value(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"
