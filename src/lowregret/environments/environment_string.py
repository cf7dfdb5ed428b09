"""Environments as strings: a testbed of the paper, a family such as bernoulli:0.1,0.2, or a TOML file.

Behind ``|`` stands how means change, such as ``linear: means=0.5,0.2; steps=1000``; a file has a table of it.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NamedTuple

from lowregret._common.spec_errors import unknown_key
from lowregret._common.table_files import read_table
from lowregret._common.text import unknown_name_message
from lowregret._common.validation import MAX_BANDIT_ARMS, as_list, integer, short_repr
from lowregret.environments.bandit import Bandit
from lowregret.environments.calendar import rhythm
from lowregret.environments.changing_arms import replaced_arms, rising_arms, rotting_arms
from lowregret.environments.constructors import family_bandit, paper, rescaled
from lowregret.environments.drift import (
    DriftingBandit,
    linear_drift,
    piecewise_drift,
    sinusoidal_drift,
    tabulated_drift,
)
from lowregret.environments.family_registry import FAMILIES, Family
from lowregret.environments.random_bandit import random_bandit
from lowregret.errors import InputError

ENVIRONMENT_ADVICE = "use paper-1 to paper-4, a family such as bernoulli:0.1,0.2, or a TOML file"
_PAPER = {f"paper-{number}": number for number in (1, 2, 3, 4)}
_DIGITS = re.compile("[0-9]{1,100}")  # bounded: Python does not read integers of more than 4300 digits


class DriftKind(NamedTuple):
    """A kind of drift: the constructor, whose parameters are its keys, and an example of its string."""

    make: Callable[..., DriftingBandit]
    example: str
    of_random: bool = False
    """Whether the arms have priors, as `random_bandit` reads them."""

    @property
    def keys(self) -> dict[str, Parameter]:
        return dict(list(signature(self.make).parameters.items())[1:])  # without the bandit


_DRIFTS = {
    "piecewise": DriftKind(piecewise_drift, "piecewise: 5001=0.6,0.5; 8001=0.2,0.5"),
    "linear": DriftKind(linear_drift, "linear: means=0.6,0.5; steps=10000"),
    "sinusoidal": DriftKind(sinusoidal_drift, "sinusoidal: amplitudes=0.2; period=5000; phases=0,0.5"),
    "table": DriftKind(tabulated_drift, "table: file=means.csv; every=100"),
    "rhythm": DriftKind(rhythm, "rhythm: every=1000; weekend=1.3"),
    "rotting": DriftKind(rotting_arms, "rotting: means=0.2,0.1; scale=500"),
    "rising": DriftKind(rising_arms, "rising: means=0.8,0.6; scale=500"),
    "replaced": DriftKind(replaced_arms, "replaced: rate=0.001", of_random=True),
}
_RHYTHM_KEYS = ("weekend", "trend", "days", "factors", "file", "periods")
_INTEGER_KEYS = ("steps", "every", "periods")


def environment(source: "str | os.PathLike[str] | Bandit") -> Bandit:
    """Return the bandit that a string or a TOML file describes.

    Parameters
    ----------
    source : str, path or Bandit
        One of: ``paper-1`` to ``paper-4``; a family with its parameters, where ``value*count``
        repeats a value and a single value applies to all arms; the path of a ``.toml`` file; any of
        these followed by ``|`` and how its means change; or a bandit, which is returned unchanged.

    Returns
    -------
    Bandit
        The bandit, a `DriftingBandit` where its means change.

    Notes
    -----
    A file holds either one ``family`` with its parameters as arrays, named as in the constructors,
    or ``[[arms]]`` tables, each with the ``family`` and parameters of one arm and, if wished, a
    ``count``. Either way it may set ``name``, ``horizon`` and ``scale = [low, high]``, and have a table
    ``[drift]`` with a ``kind`` and the arguments of `piecewise_drift`, `linear_drift`, `sinusoidal_drift`,
    `tabulated_drift`, `rhythm`, `rotting_arms` or `rising_arms`.

    Examples
    --------
    >>> lr.environment("bernoulli:0.07*19,0.1")
    Bandit('bernoulli:0.07*19,0.1', arms=20, best mean 0.1)
    >>> lr.environment("gaussian:mean=0.1,0.2;variance=0.25").variances
    array([0.25, 0.25])
    >>> lr.environment("paper-3").horizon
    400000
    >>> lr.environment("bernoulli:0.2,0.5 | piecewise: 5001=0.6,0.5")
    DriftingBandit('bernoulli:0.2,0.5 | piecewise: 5001=0.6,0.5', arms=2)
    """
    if isinstance(source, Bandit):
        return source
    text = os.fspath(source) if isinstance(source, os.PathLike) else source
    if isinstance(text, str):
        if "|" in text and not text.endswith(".toml"):
            base, _, drift = text.partition("|")
            kind = _DRIFTS.get(drift.partition(":")[0].strip())
            bandit = random_bandit(base) if kind and kind.of_random else environment(base.strip())
            return replace(_drift_from_line(bandit, drift), name=" ".join(text.split()))
        if text.strip() in _PAPER:
            return paper(_PAPER[text.strip()])
        if text.endswith(".toml"):
            return _from_file(text)
        family, colon, parameters = text.partition(":")
        if colon and family.strip() in FAMILIES:
            return replace(_from_line(family.strip(), parameters), name=" ".join(text.split()))
        if text.strip() in FAMILIES:
            raise InputError(f"{text.strip()}: give its parameters, as in {_example(text.strip())}")
        names = [*([] if colon else _PAPER), *(f"{name}:" for name in FAMILIES)]
        meant = names if family.strip() != "normal" else ["gaussian:"]  # by another name
        otherwise = ENVIRONMENT_ADVICE if meant is names else "did you mean 'gaussian:'?"
        raise InputError(unknown_name_message("environment", f"{family.strip()}{colon}", meant, otherwise))
    raise InputError(f"unknown environment {short_repr(text)}: {_constructor(text) or ENVIRONMENT_ADVICE}")


def _constructor(values: object) -> str:
    """Return what to write for a list of means."""
    means = as_list(list(values.values()) if isinstance(values, Mapping) else values)
    if isinstance(means, list) and means and all(isinstance(as_list(row), list) for row in means):
        return "a table of rewards is for lr.trace; write lr.empirical(...) to draw from recorded rewards"
    if not (isinstance(means, list) and means and all(isinstance(mean, int | float) for mean in means)):
        return ""
    family = "bernoulli({})" if all(0 <= mean <= 1 for mean in means) else "gaussian({}, variances=1)"
    return f"write lr.{family.format(short_repr(means))}"


def _example(family: str) -> str:
    parameters = FAMILIES[family].parameters
    return f"{family}:" + (";".join(f"{name}=..." for name in parameters) if len(parameters) > 1 else "...")


def _from_line(family: str, text: str) -> Bandit:
    entry = FAMILIES[family]
    if entry.takes_data:
        raise InputError(f"{family}: data belongs in a TOML file, got {short_repr(text)}")
    if "=" not in text and len(entry.parameters) == 1:
        text = f"{next(iter(entry.parameters))}={text}"
    pairs = _assignments(family, text, _example(family).partition(":")[2])
    parameters = _parameters(family, [(key, _numbers(family, key, values)) for key, values in pairs])
    return family_bandit(family, parameters)


def _assignments(owner: str, text: str, form: str) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of ``key=value; key=value``; an error says of which form they must be."""
    for piece in text.split(";"):
        key, equals, value = (part.strip() for part in piece.partition("="))
        if not equals:
            raise InputError(f"{owner}: parameters must be written {form}, got {short_repr(piece)}")
        yield key, value


def _numbers(owner: str, key: str, text: str) -> float | list[float]:
    """Parse ``0.1,0.2*3``; a single value is returned as a number, so that it applies to all arms."""
    values: list[float] = []
    for piece in text.split(","):
        written, star, times = (part.strip() for part in piece.partition("*"))
        try:
            value = float(written)
        except ValueError:
            raise InputError(f"{owner}: {key} must be numbers, got {short_repr(written)}") from None
        count = _arm_count(owner, int(times) if _DIGITS.fullmatch(times) else times) if star else 1
        values.extend([value] * count)
        if len(values) > MAX_BANDIT_ARMS:
            raise InputError(f"{owner}: at most {MAX_BANDIT_ARMS} arms are allowed, got more")
    return values if len(values) > 1 else values[0]


def _arm_count(owner: str, value: object) -> int:
    return integer(owner, "count", value, most=MAX_BANDIT_ARMS)


def _by_name(owner: str, pairs: Iterable[tuple[str, Any]], names: Mapping[str, str] | None) -> dict[str, Any]:
    """Return values by the names of their keys, which may be any if None; refuse other and repeated ones."""
    values: dict[str, Any] = {}
    for key, value in pairs:
        if names is not None and key not in names:
            allowed = " and ".join(dict.fromkeys(names.values()))
            raise InputError(f"{owner}: unknown key {short_repr(key)}, use {allowed}")
        name = key if names is None else names[key]
        if name in values:
            raise InputError(f"{owner}: {name} must be given once, got it twice")
        values[name] = value
    return values


def _parameters(family: str, pairs: Iterable[tuple[str, Any]]) -> list[Any]:
    """Return the parameters in order; reject unknown, repeated and missing ones."""
    parameters = FAMILIES[family].parameters
    names = {name: name for name in parameters} | {plural: name for name, plural in parameters.items()}
    values = _by_name(family, pairs, names)
    for name in parameters:
        if name not in values:
            raise InputError(f"{family}: {name} is missing, give {' and '.join(parameters)}")
    return [values[name] for name in parameters]


def _drift_from_line(bandit: Bandit, text: str) -> DriftingBandit:
    kind, _, parameters = (part.strip() for part in text.partition(":"))
    form = f"as in {_DRIFTS[_drift_kind(kind)].example!r}"
    if not parameters:
        raise InputError(f"{kind}: give its parameters, {form}")
    table: dict[str, Any] = _by_name(kind, _assignments(kind, parameters, form), None)
    if kind == "piecewise":
        changes = {_step(kind, key): _numbers(kind, "means", value) for key, value in table.items()}
        return piecewise_drift(bandit, changes)
    table = rhythm_from(table.items()) if kind == "rhythm" else _read_values(kind, table)
    return with_drift(bandit, {"kind": kind, **table}, Path())


def _read_values(kind: str, table: Mapping[str, str]) -> dict[str, Any]:
    """Return the numbers of a line by their keys; a file stays a name."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        number = value if key == "file" else _numbers(kind, key, value)
        whole = key in _INTEGER_KEYS and isinstance(number, float) and number.is_integer()
        values[key] = int(number) if whole else number  # type: ignore[arg-type]  # it is a float
    return values


def rhythm_from(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the arguments of `rhythm` from strings; the key of a single day is its number."""
    table = _by_name("rhythm", pairs, None)
    single = {key: table.pop(key) for key in list(table) if key.isdigit()}
    values = _read_values("rhythm", table)
    if single:
        values["days"] = {
            _step("rhythm", key): _numbers("rhythm", key, value) for key, value in single.items()
        }
    return values


def rhythm_arguments(text: str) -> dict[str, Any]:
    """Return the arguments of `rhythm` of a line such as ``weekend=1.3; 5=3``; a file of factors is read."""
    values = rhythm_from(_assignments("rhythm", text, "as in 'weekend=1.3'"))
    return _read_factors(_by_name("rhythm", values.items(), {key: key for key in _RHYTHM_KEYS}), Path())


def _read_factors(keys: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Read the file of factors, if there is one: a column with a row for each period."""
    if "file" in keys:
        keys["factors"] = [row[0] for row in _read_means(folder / str(keys.pop("file")))]
    return keys


def with_drift(bandit: Bandit, table: object, folder: Path) -> DriftingBandit:
    """Return a bandit with the drift of a table of a TOML file in a folder."""
    if not isinstance(table, dict):
        raise InputError(f"drift must be a table with kind, got {short_repr(table)}")
    keys = dict(table)
    _check_spelling(keys, "kind")
    kind = _drift_kind(keys.pop("kind", None))
    if kind == "piecewise":
        keys = _by_name(kind, keys.items(), {"changes": "changes", "means": "means"})
        changes, means = keys.get("changes"), keys.get("means")
        if not isinstance(changes, list) or not isinstance(means, list) or len(changes) != len(means):
            raise InputError("piecewise: changes must be steps, and means a list of means for each of them")
        return piecewise_drift(bandit, dict(zip(changes, means, strict=True)))
    if kind == "rhythm":
        keys = _read_factors(keys, folder)
        if isinstance(keys.get("days"), Mapping):  # whose keys a TOML file has as strings
            keys["days"] = {_step(kind, str(day)): factor for day, factor in keys["days"].items()}
    entry = _DRIFTS[kind]
    if "file" in keys and {"means", "every"} <= entry.keys.keys():
        keys["means"] = _read_means(folder / str(keys.pop("file")))
    keys = _by_name(kind, keys.items(), {key: key for key in entry.keys})
    for key, parameter in entry.keys.items():
        if parameter.default is Parameter.empty and key not in keys:
            raise InputError(f"{kind}: {key} is missing, as in {entry.example!r}")
    return entry.make(bandit, **keys)


def _drift_kind(kind: object) -> str:
    if not isinstance(kind, str) or kind not in _DRIFTS:
        raise InputError(unknown_name_message("drift", str(kind or ""), list(_DRIFTS)))
    return kind


def _step(kind: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 16:
        what = "the step of a change" if kind == "piecewise" else "the number of a period"
        raise InputError(f"{kind}: {what} must be an integer, got {short_repr(text)}")
    return int(text)


def _read_means(path: Path) -> list[list[float]]:
    """Read a table of means: a column for each arm and a row for each step."""
    table = read_table(path, "means", "table: ")
    for column in table.iter_columns():
        if column.null_count():
            raise InputError(f"table: column {column.name!r} of {path.name!r} must hold only numbers")
    return [list(map(float, row)) for row in table.iter_rows()]


def _from_file(path: str) -> Bandit:
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot read environment file {path!r}: {reason}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"environment file {path!r} is not valid TOML: {error}") from None
    try:
        return from_table(table, Path(path).stem, Path(path).parent)
    except InputError as error:
        raise InputError(f"{Path(path).name}: {error}") from None


def from_table(table: dict[str, Any], stem: str, folder: Path = Path()) -> Bandit:  # immutable
    """Return the bandit of a table of a TOML file in a folder; the table is emptied."""
    _check_spelling(table, "family", "arms", "name", "horizon", "scale", "drift")
    name, horizon, scale, drift = (table.pop(key, None) for key in ("name", "horizon", "scale", "drift"))
    if ("family" in table) == ("arms" in table):
        raise InputError("a file must hold either family or [[arms]], and not both")
    if "family" in table:
        family = _family(table)
        bandit = family_bandit(family, _parameters(family, table.items()))
    else:
        bandit = Bandit(_arms(table.pop("arms")), stem)
        if table:
            key = next(iter(table))
            raise InputError(f"unknown key {short_repr(key)}, use arms, name, horizon, scale and drift")
    if drift is not None:
        bandit = with_drift(bandit, drift, folder)
    bandit = rescaled(bandit, scale)
    return replace(bandit, name=stem if name is None else name, horizon=horizon)


def _check_spelling(table: Iterable[str], *names: str) -> None:
    for key in table:
        if key not in names and get_close_matches(key, names, cutoff=0.75):
            raise InputError(unknown_key(key, names))


def _arms(tables: object) -> tuple[Family, ...]:
    arms: list[Family] = []
    for position, table in enumerate(tables if isinstance(tables, list) else [tables]):
        if not isinstance(table, dict):
            raise InputError(f"arms must be [[arms]] tables, got {short_repr(table)}")
        try:
            _check_spelling(table, "family", "count")
            count = _arm_count("arms", table.pop("count", 1))
            family = _family(table)
            arm = FAMILIES[family].family(*_parameters(family, table.items()))
        except InputError as error:
            raise InputError(f"{error} in [[arms]] table {position}") from None
        if len(arms) + count > MAX_BANDIT_ARMS:
            raise InputError(f"at most {MAX_BANDIT_ARMS} arms are allowed, got more")
        arms.extend([arm] * count)
    return tuple(arms)


def _family(table: dict[str, Any]) -> str:
    family = table.pop("family", None)
    if isinstance(family, str) and family in FAMILIES:
        return family
    families = ", ".join(FAMILIES)
    if family is None:
        raise InputError(f"family is missing, use one of {families}")
    if isinstance(family, str):
        raise InputError(unknown_name_message("family", family, FAMILIES))
    raise InputError(f"family must be one of {families}, got {short_repr(family)}")
