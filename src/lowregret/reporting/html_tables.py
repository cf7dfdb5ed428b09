"""Tables for notebooks, with rounded numbers; apart from ``text_tables``, since these need no rich."""

from html import escape
from typing import Any

import polars as pl

from lowregret.reporting.number_format import format_number


def html_table(table: pl.DataFrame) -> str:
    """Return a table as HTML: numbers rounded and aligned to the right."""
    numeric = [dtype.is_numeric() for dtype in table.dtypes]
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = (
        "".join(_number_cell(value, right) for value, right in zip(row, numeric, strict=True))
        for row in table.iter_rows()
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _number_cell(value: Any, right: bool) -> str:
    text = format_number(value) if right else "-" if value is None else str(value)
    return f'<td style="text-align: {"right" if right else "left"}">{escape(text)}</td>'
