"""One HTML page of figures, tables and words that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

from lowregret.report.tables import shown

if TYPE_CHECKING:
    import altair
    import polars

STYLE = """
body { max-width: 60rem; margin: 2.5rem auto; padding: 0 1.2rem; color: #222; background: #fff;
       font: 17px/1.55 Arial, "Liberation Sans", Helvetica, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; }
h2 { margin-top: 3.2rem; border-top: 1px solid #ddd; padding-top: 1.4rem; }
.facts { color: #666; } figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .35rem 1.1rem .35rem 0; text-align: right; border-bottom: 1px solid #eee;
         white-space: nowrap; font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid #888; } th:first-child, td:first-child { text-align: left; }
"""


class Section(NamedTuple):
    """One experiment on the page.

    ``table`` has the columns policy, mean, se, p05, p95, optimal_arm_eliminated and published, where
    None stands for no value.
    """

    title: str
    facts: str
    chart: altair.LayerChart
    table: polars.DataFrame
    note: str


def page(title: str, introduction: Sequence[str], sections: Sequence[Section]) -> str:
    """Write the page: the figures are part of it, so it can be read offline and passed on as it is.

    Parameters
    ----------
    title : str
        What stands on top.
    introduction : sequence of str
        The paragraphs before the first section.
    sections : sequence of Section
        The experiments.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from lowregret.report.page import page
    >>> "<h1>Four &lt; five</h1>" in page("Four < five", ["Why?"], [])
    True
    """
    parts = [_paragraph(text) for text in introduction] + [_section(section) for section in sections]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{''.join(parts)}</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    figure = StringIO()
    section.chart.save(figure, format="svg")
    return (
        f"<h2>{escape(section.title)}</h2>\n{_paragraph(section.facts, 'facts')}"
        f'<figure role="img" aria-label="Cumulative regret over time">{figure.getvalue()}</figure>\n'
        f"{_table(section.table)}{_paragraph(section.note)}"
    )


def _table(table: polars.DataFrame) -> str:
    heads = ("policy", "mean regret (se)", "5% to 95%", "optimal arm eliminated (runs)", "published")
    rows = [_row(heads, "th")]
    for row in table.to_dicts():
        mean = f"{shown(row['mean'])} ({shown(row['se'])})"
        spread = f"{shown(row['p05'])} to {shown(row['p95'])}"
        published = "-" if row["published"] is None else f"{row['published']:,.2f}"
        rows.append(
            _row((row["policy"], mean, spread, shown(row["optimal_arm_eliminated"]), published), "td")
        )
    return f'<div class="wide"><table>\n{"".join(rows)}</table></div>\n'


def _row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>\n"


def _paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>\n' if kind else f"<p>{escape(text)}</p>\n"
