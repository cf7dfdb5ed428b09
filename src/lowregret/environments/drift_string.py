"""Drift as a string, such as ``linear: means=0.5,0.2; steps=1000``, or as a table of a TOML file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lowregret._common.text import unknown
from lowregret._common.validation import short_repr
from lowregret.environments.bandit import Bandit
from lowregret.environments.drift import (
    DriftingBandit,
    linear_drift,
    piecewise_drift,
    sinusoidal_drift,
    tabulated_drift,
)
from lowregret.environments.number_list import number_list
from lowregret.errors import InputError

_EXAMPLES = {
    "piecewise": "piecewise: 5001=0.6,0.5; 8001=0.2,0.5",
    "linear": "linear: means=0.6,0.5; steps=10000",
    "sinusoidal": "sinusoidal: amplitudes=0.2; period=5000; phases=0,0.5",
    "table": "table: file=means.csv; every=100",
}
_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "linear": (("means", "steps"), ()),
    "sinusoidal": (("amplitudes", "period"), ("phases",)),
    "table": (("means",), ("every",)),
}
"""The keys that each kind needs, and those that it may have."""
_MAKE: dict[str, Callable[..., DriftingBandit]] = {
    "linear": linear_drift,
    "sinusoidal": sinusoidal_drift,
    "table": tabulated_drift,
}
_INTEGERS = ("steps", "every")


def drift_from_line(bandit: Bandit, text: str) -> DriftingBandit:
    """Return a bandit whose means change as a string says."""
    kind, colon, rest = (part.strip() for part in text.partition(":"))
    _check_kind(kind)
    if not colon or not rest:
        raise InputError(f"{kind}: give its parameters, as in {_EXAMPLES[kind]!r}")
    pairs: dict[str, str] = {}
    for piece in rest.split(";"):
        key, equals, value = (part.strip() for part in piece.partition("="))
        if not equals:
            raise InputError(
                f"{kind}: parameters must be written as in {_EXAMPLES[kind]!r}, got {short_repr(piece)}"
            )
        if key in pairs:
            raise InputError(f"{kind}: {key} must be given once, got it twice")
        pairs[key] = value
    if kind == "piecewise":
        changes = {_step(key): number_list(kind, "means", value) for key, value in pairs.items()}
        return piecewise_drift(bandit, changes)
    table = {
        key: value if key == "file" else _whole(number_list(kind, key, value), key in _INTEGERS)
        for key, value in pairs.items()
    }
    return drift_from_table(bandit, {"kind": kind, **table}, Path())


def drift_from_table(bandit: Bandit, table: object, folder: Path) -> DriftingBandit:
    """Return a bandit whose means change as a table of a TOML file in a folder says."""
    if not isinstance(table, dict):
        raise InputError(f"drift must be a table with kind, got {short_repr(table)}")
    given = dict(table)
    kind = given.pop("kind", None)
    _check_kind(kind)
    if kind == "piecewise":
        changes, means = given.pop("changes", None), given.pop("means", None)
        _reject("piecewise", given, ("changes", "means"))
        if not isinstance(changes, list) or not isinstance(means, list) or len(changes) != len(means):
            raise InputError("piecewise: changes must be steps, and means a list of means for each of them")
        return piecewise_drift(bandit, dict(zip(changes, means, strict=True)))
    if kind == "table" and "file" in given:
        given["means"] = _read_means(folder / str(given.pop("file")))
    needed, optional = _KEYS[kind]
    _reject(kind, given, (*needed, *optional))
    for key in needed:
        if key not in given:
            raise InputError(f"{kind}: {key} is missing, as in {_EXAMPLES[kind]!r}")
    return _MAKE[kind](bandit, **given)


def _check_kind(kind: object) -> None:
    if not isinstance(kind, str) or kind not in _EXAMPLES:
        raise InputError(unknown("drift", str(kind or ""), list(_EXAMPLES)))


def _reject(kind: str, given: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for key in given:
        if key not in allowed:
            raise InputError(f"{kind}: unknown key {short_repr(key)}, use {' and '.join(allowed)}")


def _step(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 16:
        raise InputError(f"piecewise: the step of a change must be an integer, got {short_repr(text)}")
    return int(text)


def _whole(value: Any, wanted: bool) -> Any:
    """Return a number that must be an integer as one, if it is."""
    return int(value) if wanted and isinstance(value, float) and value.is_integer() else value


def _read_means(path: Path) -> list[list[float]]:
    """Read a CSV file of means: a header, a column for each arm and a row for each step."""
    import polars as pl

    try:
        table = pl.read_csv(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"table: cannot read {str(path)!r}: {reason}") from None
    for column in table.iter_columns():
        if not column.dtype.is_numeric() or column.null_count():
            raise InputError(f"table: column {column.name!r} of {path.name!r} must hold only numbers")
    return [list(row) for row in table.cast(pl.Float64).iter_rows()]
