"""Tables as text: no wider than the terminal, and no name is broken."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap as wrap_words
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from lowregret._common.terminal_text import table_width
from lowregret._common.text import escaped
from lowregret.reporting.number_format import format_number

if TYPE_CHECKING:
    import polars


REPLAY_COLUMNS = {"matched": "matched", "mean": "mean reward", "se": "se", "low": "95% from", "high": "to"}

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
    names, width = list(cells), table_width() + 2
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


def replay_table(summary: polars.DataFrame) -> str:
    """Return the estimates of a replay."""
    return number_table(summary.to_dicts(), ("policy", "method"), REPLAY_COLUMNS, ("matched", "se"))


def number_table(
    rows: Iterable[Mapping[str, Any]], names: Sequence[str], columns: Mapping[str, str], drop: Sequence[str]
) -> str:
    """Return a table of names and of numbers, the latter under their headings."""
    cells = [
        {name: row[name] for name in names}
        | {head: format_number(row[key]) if key != "lost" else row[key] for key, head in columns.items()}
        for row in rows
    ]
    return text_table(cells, right=list(columns.values()), drop=drop)
