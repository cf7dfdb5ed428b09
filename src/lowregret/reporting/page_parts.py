"""The parts of a page: text, tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import altair


class Text(NamedTuple):
    """A paragraph of a kind: "headline" for the result, "facts" for grey, "notice" or "code"."""

    text: str
    kind: str = ""


class Cell(NamedTuple):
    """A cell of a kind: "best" for bold, "quiet" for grey, "long" for words that go over several lines."""

    text: str
    kind: str = ""
    sign: str = ""


def cell_text(cell: str | Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


class Table(NamedTuple):
    """A table; a cell with the name of a policy in the charts shows the line of that policy."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    text_columns: Sequence[int] = (0,)
    caption: str = ""


def table_of(
    rows: Sequence[Mapping[str, str | Cell]], text_columns: Sequence[int] = (0,), caption: str = ""
) -> Table:
    return Table(list(rows[0]), [list(row.values()) for row in rows], text_columns, caption)


@dataclass(frozen=True)
class Picture:
    """A chart, or views of it by the names of their buttons; without a ``name`` no file is written."""

    views: Mapping[str, altair.LayerChart]
    label: str
    caption: str = ""
    name: str = ""

    @cached_property
    def specs(self) -> dict[str, dict[str, Any]]:
        """The views as plain data, which is slow to make."""
        return {name: chart.to_dict(validate=False) for name, chart in self.views.items()}


class Beside(NamedTuple):
    """Parts that stand side by side where there is room."""

    parts: Sequence[Part]


class Fold(NamedTuple):
    """Parts that a reader opens."""

    title: str
    parts: Sequence[Part]


Part = Text | Table | Picture | Beside | Fold


class Section(NamedTuple):
    """A part of the page under a heading, which a reader opens if it is ``folded``."""

    title: str
    parts: Sequence[Part]
    folded: bool = False
