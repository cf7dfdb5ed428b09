"""The recorded comparisons as tables, for the terminal and for ``docs/evidence/peers.md``."""

from __future__ import annotations

from typing import Any

BEGIN, END = "<!-- {name}: written by tools/verify_peers.py --write -->", "<!-- end of {name} -->"
FOLLOWS = {
    "both": " (both follow it)",
    "lowregret": "",
    "peer": " (the other follows it)",
    "not checked": " (not checked)",
}
REASON = ("why", "source")
STEPS = ("policy", "compared with", "steps that differ", "first", *REASON)
SHARES = ("policy", "compared with", "largest difference", "p-value", *REASON)


def steps_row(record: dict[str, Any]) -> list[str]:
    """Return what differs of a policy without randomness."""
    return [f"{record['differing_steps']:,}", f"{record['first_difference']:,}"]


def shares_row(record: dict[str, Any]) -> list[str]:
    """Return what differs of a randomised policy."""
    draws = sum(record["chosen"])
    gap = max(abs(a - b) for a, b in zip(record["chosen"], record["chosen_by_peer"], strict=True)) / draws
    p = record["p"]
    return [f"{100 * gap:.1f}%", f"{p:.2f}" if p >= 0.01 else "below 0.0001" if p < 1e-4 else f"{p:.4f}"]


def table(records: dict[str, Any], name: str) -> str:
    """Return those that agree as a sentence, and a table of the others; ``name`` is "steps" or "shares"."""
    heads, differences = (STEPS, steps_row) if name == "steps" else (SHARES, shares_row)
    agree: dict[str, list[str]] = {}
    rows = [list(heads), ["---"] * len(heads)]
    for record in records[name]:
        policy = f"`{record['policy']}`"
        if record["why"] or record.get("differing_steps"):
            reason = [record["why"], record["source"] + FOLLOWS[record["follows"]]]
            rows.append([policy, record["peer"], *differences(record), *reason])
        elif record["peer"] not in agree.setdefault(policy, []):
            agree[policy].append(record["peer"])
    same = "; ".join(f"{policy} with {', '.join(peers)}" for policy, peers in agree.items())
    return f"These agree: {same}.\n\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def with_tables(page: str, records: dict[str, Any]) -> str:
    """Return a page with its tables written anew."""
    for name in ("steps", "shares"):
        begin, end = BEGIN.format(name=name), END.format(name=name)
        block = f"{begin}\n\n{table(records, name)}\n{end}"
        before, _, rest = page.partition(begin)
        page = before + block + rest.partition(end)[2]
    return page


def unproven(records: dict[str, Any], level: float) -> list[str]:
    """Return the comparisons whose difference is not proved, or whose explanation explains none."""
    found = []
    for record in records["steps"]:
        differs = record["differing_steps"] > 0
        proved = record["differing_steps_changed"] == 0
        if differs != bool(record["why"]) or (differs and not proved):
            found.append(f"{record['policy']} and {record['peer']}")
    for record in records["shares"]:
        differs = record["p"] < level
        proved = record["p_changed"] is not None and record["p_changed"] >= level
        if differs != bool(record["why"]) or (differs and not proved):
            found.append(f"{record['policy']} and {record['peer']}")
    return found
