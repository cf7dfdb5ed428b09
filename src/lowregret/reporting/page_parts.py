"""The parts of a page: text, tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import altair


class Text(NamedTuple):
    """A paragraph.

    Attributes
    ----------
    words : str
        The text.
    kind : str
        "facts" for what is set in grey; else empty.
    """

    words: str
    kind: str = ""


class Cell(NamedTuple):
    """A highlighted cell of a table.

    Attributes
    ----------
    words : str
        The text.
    kind : str
        "best" for bold, "quiet" for grey, "long" for words that go over several lines.
    """

    words: str
    kind: str = ""


class Table(NamedTuple):
    """A table; a cell with the name of a policy in the charts shows the line of that policy.

    Attributes
    ----------
    heads : sequence of str
        The headings of the columns.
    rows : sequence of sequences of str or Cell
        The cells.
    words : sequence of int
        The columns that hold words and are set to the left; numbers are set to the right.
    caption : str
        The text below the table; may be empty.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    words: Sequence[int] = (0,)
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """A chart, or several views of the same between which a reader can switch.

    Attributes
    ----------
    views : mapping of str to altair.LayerChart
        The charts by the names of their buttons; the first is shown.
    label : str
        The text alternative of the picture.
    caption : str
        The text below the picture; may be empty.
    name : str
        The name of its files; without a name none are written.
    """

    views: Mapping[str, altair.LayerChart]
    label: str
    caption: str = ""
    name: str = ""


class Beside(NamedTuple):
    """Parts that stand side by side where there is room."""

    parts: Sequence[Part]


class Fold(NamedTuple):
    """Parts that a reader opens."""

    title: str
    parts: Sequence[Part]


Part = Text | Table | Picture | Beside | Fold


class Section(NamedTuple):
    """A part of the page under a heading.

    Attributes
    ----------
    title : str
        The heading.
    parts : sequence of parts
        The parts below it.
    folded : bool
        Whether a reader opens it first, for pages with many sections.
    """

    title: str
    parts: Sequence[Part]
    folded: bool = False
