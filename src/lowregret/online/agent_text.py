"""An agent and its verdict as text: what `print` shows, and the command line too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lowregret._common.terminal_text import wrapped

if TYPE_CHECKING:
    from lowregret.online.agent import Agent
    from lowregret.online.verdict import Verdict

OVERVIEW = ("agent", "policy", "arms", "decisions", "pending", "conflicts")
VERDICT_COLUMNS = ("arm", "mean", "to leader", "lift", "lift from, to", "best")


def overview(name: str | None, agent: Agent) -> dict[str, str | int | None]:
    """Return what the agent is, and how much it has decided."""
    values = (name, str(agent.policy), len(agent.arms), agent.time, len(agent.pending), agent.conflicts)
    return dict(zip(OVERVIEW, values, strict=True))


def agent_text(agent: Agent) -> str:
    """Return an overview of the agent, the table of its arms, and its notes."""
    from lowregret.reporting.text_tables import text_table

    fields, rows = overview(agent.name, agent), agent.summary().to_dicts()
    words = ", ".join(f"{key} {cell(value)}" for key, value in fields.items() if value is not None)
    cells = [{key: cell(value) for key, value in row.items() if not key.startswith("to_")} for row in rows]
    for row, texts in zip(rows, cells, strict=True):
        texts["high"] = "?" if row["low"] is not None and row["high"] is None else texts["high"]
    right = [key for key in cells[0] if key not in ("arm", "state")]
    lines = [wrapped(words, [str(fields["policy"])]), text_table(cells, right=right, wrap=["arm"])]
    if early := sum(row["pending"] for row in rows) - int(fields["pending"] or 0):
        lines.append(wrapped(f"pending in the table: also {early:,} reported, which count when windows end"))
    if any(texts["high"] == "?" for texts in cells):
        why = "?: could be higher; the rewards so far are too few or too uneven for an upper end"
        lines.append(wrapped(why))
    return "\n".join([*lines, *map(wrapped, agent.notes)]).rstrip("\n")


def verdict_text(verdict: Verdict, summary: list[dict[str, Any]] | None = None) -> str:
    """Return the sentence of a verdict and what is known of each arm; with a summary also the means."""
    from lowregret.reporting.text_tables import text_table

    summary_rows = {row["arm"]: row for row in summary or ()}
    rows = []
    for arm in verdict.arms:
        texts = {"arm": arm.arm}
        if row := summary_rows.get(arm.arm):
            texts["mean"] = cell(row["mean"])
            texts["to leader"] = _span(row["to_leader_low"], row["to_leader_high"])
        if arm.lift is not None:
            texts["lift"] = f"{arm.lift:+.1%}"
            texts["lift from, to"] = _span(arm.lift_low, arm.lift_high, "+.0%")
        texts["best"] = "-" if arm.probability_best is None else f"{arm.probability_best:.3f}"
        rows.append(texts)
    columns = sorted({key for texts in rows for key in texts}, key=VERDICT_COLUMNS.index)
    rows = [{key: texts.get(key, "-") for key in columns} for texts in rows]
    table = text_table(rows, right=[key for key in columns if key != "arm"], wrap=["arm"])
    lines = [wrapped(verdict.sentence), table]
    if verdict.recommended is not None:
        end = "and has stopped" if verdict.stopped else "so far"
        lines.insert(
            1, wrapped(f"The policy recommends {verdict.recommended}, {end}.", [verdict.recommended])
        )
    intervals = [key for key in ("to leader", "lift") if key in columns]
    if intervals:
        promise = f"{'About' if verdict.asymptotic else 'At least'} {1 - verdict.error:.4g} of all such"
        words = f"{', '.join(intervals)}: intervals for all arms and all times. {promise} tables are right."
        lines.append(wrapped(words))
    loss = (
        ""
        if verdict.expected_loss is None
        else f" Stopping now loses {verdict.expected_loss:.2g} a decision."
    )
    lines.append(wrapped(f"best: posterior probability to be the best; prior: {verdict.prior}.{loss}"))
    return "\n".join(lines)


def cell(value: object) -> str:
    """Format a number, a name or a missing value."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _span(low: float | None, high: float | None, form: str = ".3g") -> str:
    """Return an interval, "-" for none."""
    ends = ["?" if end is None else format(end, form) for end in (low, high)]
    return "-" if ends == ["?", "?"] else " to ".join(ends)
