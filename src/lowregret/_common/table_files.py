"""Read tables of numbers from CSV and Parquet files: rewards, delays, drift and the factors of days."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lowregret._common.validation import short_repr
from lowregret.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = "write decimals with a point, as in 0.5, and separate columns by commas"


def read_table(file: Path, content: str, owner: str = "") -> pl.DataFrame:
    """Read a CSV or Parquet file of numbers; errors begin with the owner and name the content."""
    import polars as pl

    suffix = file.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise InputError(f"{owner}a file of {content} must be .csv or .parquet, got {file.name!r}")
    try:
        table = pl.read_csv(file) if suffix == ".csv" else pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition("\n")[0]
        if "more fields" in reason:
            reason = f"a row has more fields than the header: {SEPARATORS}"
        raise InputError(f"{owner}cannot read {str(file)!r}: {reason}") from None
    if table.width and not table.height:
        raise InputError(f"{owner}{file.name!r} has a header and no rows: give at least one")
    for column in table.iter_columns():
        if not column.dtype.is_numeric():
            value = next(iter(column.drop_nulls()), None)
            advice = f": {SEPARATORS}" if re.search("[,;\t]", f"{column.name}{value}") else ""
            if {"arm", "action", "item", "option"} & {name.lower() for name in table.columns}:
                advice = (
                    ": one column per arm is wanted, and this looks like a log with a row per choice: pivot "
                    "it, or use `lowregret replay`"
                )
            raise InputError(
                f"{owner}column {column.name!r} of {file.name!r} must hold only numbers, "
                f"got {short_repr(value)}{advice}"
            )
    return table
