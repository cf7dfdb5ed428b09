"""Logs of pulls: reading a file or a table, and naming the first row that is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lowregret._common.arrays import Floats
from lowregret._common.validation import MAX_MAGNITUDE, short_repr
from lowregret.errors import InputError

if TYPE_CHECKING:
    import polars

LogSource: TypeAlias = "str | Path | polars.DataFrame | Mapping[str, Sequence[Any]]"

LOG_COLUMNS = ("arm", "reward", "propensity", "request")
"""The columns that are read; the first two are required."""
MIN_LOGGED_PROPENSITY = 1e-100
"""The smallest propensity that is read; its inverse and the square of that are finite."""


def read_table(source: LogSource) -> tuple[str, polars.DataFrame]:
    """Return the name of a log from a CSV or Parquet file, a polars table or a mapping, and its columns."""
    name, table = _read_source(source)
    for column in LOG_COLUMNS[:2]:
        if column not in table.columns:
            columns = ", ".join(table.columns) or "none"
            raise InputError(f"{name} has no column {column!r}: it has {columns:.200}")
    if table.height == 0:
        raise InputError(f"{name} is empty: give at least one row")
    return name, table


def arms_of(name: str, table: polars.DataFrame) -> polars.Series:
    """Return the arm of each row as a string."""
    import polars as pl

    column = table["arm"]
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise InputError(f"the arms of {name} must be strings or numbers, got {column.dtype}")
    text = column.cast(pl.String)
    if text.null_count():
        row = int(text.is_null().arg_max() or 0)
        raise InputError(f"row {row + 1} of {name} has no arm: give every row one")
    return text


def rewards_of(name: str, table: polars.DataFrame) -> Floats:
    allowed = f"a finite number up to {MAX_MAGNITUDE:g}"
    reward = _float_column(name, table["reward"], allowed)
    _require_rows(name, "reward", table["reward"], np.abs(reward) <= MAX_MAGNITUDE, allowed)
    return reward


def propensities_of(name: str, table: polars.DataFrame) -> Floats | None:
    """Return the propensity of each row, None if the log has no such column."""
    if "propensity" not in table.columns:
        return None
    allowed = f"a number from {MIN_LOGGED_PROPENSITY:g} to 1"
    propensity = _float_column(name, table["propensity"], allowed)
    valid = (propensity >= MIN_LOGGED_PROPENSITY) & (propensity <= 1)
    _require_rows(name, "propensity", table["propensity"], valid, allowed)
    return propensity


def _read_source(source: LogSource) -> tuple[str, polars.DataFrame]:
    """Return the name of a log and its columns: those that are used, or all where one of these is missing."""
    import polars as pl

    if isinstance(source, pl.DataFrame):
        return "the log", source
    if isinstance(source, Mapping):
        try:
            return "the log", pl.DataFrame(dict(source), strict=False)
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            raise InputError(
                f"the log is no table of columns of equal length: {_first_line(error)}"
            ) from None
    if not isinstance(source, str | Path):
        raise InputError(
            f"a log must be a file, a polars table or a mapping of columns, got {short_repr(source)}"
        )
    file = Path(source)
    suffix = file.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise InputError(f"a log must be a .csv or .parquet file, got {str(file)!r}")
    if not file.is_file():
        raise InputError(f"there is no file {str(file)!r}")
    try:
        # As text, so that an arm keeps its name and a bad reward is named as it is written.
        csv = suffix == ".csv"
        lazy = pl.scan_csv(file, infer_schema=False, glob=False) if csv else pl.scan_parquet(file, glob=False)
        columns = lazy.collect_schema().names()
        wanted = [name for name in LOG_COLUMNS if name in columns]
        return file.name, lazy.select(wanted if set(LOG_COLUMNS[:2]) <= set(columns) else columns).collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        if isinstance(error, pl.exceptions.NoDataError):
            raise InputError(f"{file.name} is empty: give columns arm and reward") from None
        raise InputError(f"cannot read {str(file)!r}: {_first_line(error)}") from None


def _float_column(name: str, column: polars.Series, allowed: str) -> Floats:
    import polars as pl

    if column.dtype == pl.Boolean:
        column = column.cast(pl.Int8)
    good = column.dtype.is_numeric() or column.dtype in (pl.String, pl.Null)
    values = (
        column.cast(pl.Float64, strict=False) if good else pl.Series([None] * len(column), dtype=pl.Float64)
    )
    _require_rows(name, column.name, column, values.is_not_null().to_numpy(), allowed)
    return np.array(values.to_numpy(), np.float64)


def _require_rows(name: str, kind: str, column: polars.Series, holds: Any, allowed: str) -> None:
    """Raise where a value of a column is not allowed, naming the first such row."""
    if not holds.all():
        row = int(np.argmin(holds))
        raise InputError(
            f"the {kind} in row {row + 1} of {name} must be {allowed}, got {short_repr(column[row])}"
        )


def _first_line(error: Exception) -> str:
    """Return the first line of an error message, shortened, or the type of the error."""
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
