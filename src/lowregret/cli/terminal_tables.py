"""Tables for the terminal: no wider than it is, and no name is broken."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap as wrap_words
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from lowregret._common.text import escaped
from lowregret.cli.printing import terminal_width
from lowregret.reporting.number_format import lost_runs, rank_text, shown

if TYPE_CHECKING:
    import polars

    from lowregret.results import Results

COLUMNS = {
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

REPLAY_COLUMNS = {"matched": "matched", "mean": "mean reward", "se": "se", "low": "95% from", "high": "to"}

MAX_TABLES = 6
"""The largest number of environments of which each is printed; of more, a summary."""

WHOLE: Any = {"break_long_words": False, "break_on_hyphens": False}
MIN_WIDTH = 14


def text_table(
    rows: Sequence[Mapping[str, str]],
    *,
    right: Collection[str] = (),
    drop: Iterable[str] = (),
    wrap: Collection[str] = (),
) -> str:
    """Return rows of strings as a table, with the names of their fields as headings.

    Columns ``right`` are aligned to the right. If the table is too wide, columns of ``wrap`` are wrapped at
    words, and those of ``drop`` are left out, the first first; then the first column gets lines of its own.
    """
    cells = {name: [escaped(row[name]) for row in rows] for name in rows[0]}
    longest = {name: max(map(cell_len, cells[name])) for name in cells}
    words = {name: max(map(cell_len, " ".join(cells[name]).split()), default=0) for name in wrap}
    least = longest | {name: min(longest[name], max(MIN_WIDTH, words[name])) for name in wrap}
    heads = {name: wrap_words(name, max(least[name], 11), **WHOLE) for name in cells}
    least = {name: max(map(cell_len, (*heads[name], " " * least[name]))) for name in cells}
    names, width = list(cells), terminal_width() + 2
    for name in drop:
        if name in names and sum(least[name] + 2 for name in names) > width:
            names.remove(name)
    if apart := sum(least[name] + 2 for name in names) > width:
        least[names[0]] = max(map(len, heads[names[0]]))
    for name in sorted(set(wrap) & set(names), key=lambda name: longest[name]):
        spare = width - sum(least[name] + 2 for name in names)
        least[name] += max(min(longest[name] - least[name], spare), 0)

    def lines(columns: Iterable[Sequence[str]]) -> Iterator[str]:
        for parts in zip_longest(*columns, fillvalue=""):
            cut = dict(zip(names, parts, strict=True))
            pads = {name: " " * (least[name] - cell_len(part)) for name, part in cut.items()}
            yield "  ".join(pads[n] + cut[n] if n in right else cut[n] + pads[n] for n in names).rstrip()

    tall = max(len(heads[name]) for name in names)
    printed = [*lines([""] * (tall - len(heads[name])) + heads[name] for name in names)]
    printed.append("─" * (sum(least[name] + 2 for name in names) - 2))
    for place in range(len(rows)):
        texts = {name: [cells[name][place]] for name in names}
        texts |= {name: wrap_words(texts[name][0], least[name], **WHOLE) for name in wrap if name in names}
        if apart:
            printed += texts[names[0]]
            texts[names[0]] = []
        printed += lines(texts.values())
    return "\n".join([*printed, ""])


def regret_table(summary: polars.DataFrame, largest: float | None = None) -> str:
    """Return the final regrets of several policies, with those of the columns that say something."""
    rows = [row | {"lost": lost_runs(row)} for row in summary.to_dicts()]
    silent = {"lost"} if all(row["lost"] == "-" for row in rows) else set()
    if largest is not None and all(row["worst05_high"] >= largest * (1 - 1e-9) for row in rows):
        silent.add("worst05_high")
    columns = {name: head for name, head in COLUMNS.items() if name in rows[0] and name not in silent}
    return _number_table(rows, ("policy",), columns, LESS_IMPORTANT)


def environments_table(results: Results) -> str:
    """Return one row per policy over all environments: mean rank, how often lowest, ratios to the lowest."""
    from lowregret.analysis.ranks import average_ranks

    means = results.summary().select("environment", "policy", "mean")
    lowest = dict(means.sort("mean", descending=True).select("environment", "mean").iter_rows())
    ranks = {row["policy"]: rank_text(row) for row in average_ranks(results).to_dicts()}
    rows = []
    for policy in dict.fromkeys([*ranks, *results.policies]):
        pairs = [(mean, lowest[name]) for name, _, mean in means.filter(policy=policy).iter_rows()]
        ratios = sorted(mean / best if best else 1.0 for mean, best in pairs)
        row = {"policy": policy, "mean rank": ranks.get(policy, "-")}
        row["lowest"] = f"{sum(mean == best for mean, best in pairs)} of {len(pairs)}"
        row |= {"median ratio": f"{ratios[len(ratios) // 2]:.2f}", "largest": f"{ratios[-1]:.2f}"}
        rows.append(row)
    return text_table(rows, right=list(rows[0])[1:], drop=["largest", "median ratio"])


def replay_table(summary: polars.DataFrame) -> str:
    """Return the estimates of a replay."""
    return _number_table(summary.to_dicts(), ("policy", "method"), REPLAY_COLUMNS, ("matched", "se"))


def _number_table(
    rows: Iterable[Mapping[str, Any]], names: Sequence[str], columns: Mapping[str, str], drop: Sequence[str]
) -> str:
    """Return a table of names and of numbers, the latter under their headings."""
    cells = [
        {name: row[name] for name in names}
        | {head: shown(row[key]) if key != "lost" else row[key] for key, head in columns.items()}
        for row in rows
    ]
    return text_table(cells, right=list(columns.values()), drop=drop)
