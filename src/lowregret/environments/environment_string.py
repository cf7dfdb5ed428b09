"""Environments as strings: a testbed of the paper, a family such as bernoulli:0.1,0.2, or a TOML file."""

import os
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lowregret._common.text import unknown
from lowregret._common.validation import MAX_ARMS, short_repr
from lowregret.environments.bandit import Bandit
from lowregret.environments.constructors import family_bandit, rescaled
from lowregret.environments.drift_string import drift_from_line, drift_from_table
from lowregret.environments.family_registry import FAMILIES, Family
from lowregret.environments.number_list import arm_count, number_list
from lowregret.environments.testbeds import paper
from lowregret.errors import InputError

ADVICE = "use paper-1 to paper-4, a family such as bernoulli:0.1,0.2, or a TOML file"
_PAPER = {f"paper-{number}": number for number in (1, 2, 3, 4)}


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
    ``[drift]`` with a ``kind`` and the arguments of `piecewise_drift`, `linear_drift`, `sinusoidal_drift` or
    `tabulated_drift`.

    Examples
    --------
    >>> from lowregret.environments import environment
    >>> environment("bernoulli:0.07*19,0.1")
    Bandit('bernoulli:0.07*19,0.1', arms=20, best mean 0.1)
    >>> environment("gaussian:mean=0.1,0.2;variance=0.25").variances
    array([0.25, 0.25])
    >>> environment("paper-3").horizon
    400000
    >>> environment("bernoulli:0.2,0.5 | piecewise: 5001=0.6,0.5")
    DriftingBandit('bernoulli:0.2,0.5 | piecewise: 5001=0.6,0.5', arms=2)
    """
    if isinstance(source, Bandit):
        return source
    text = os.fspath(source) if isinstance(source, os.PathLike) else source
    if isinstance(text, str):
        if "|" in text and not text.endswith(".toml"):
            base, _, drift = text.partition("|")
            return replace(drift_from_line(environment(base.strip()), drift), name=" ".join(text.split()))
        if text.strip() in _PAPER:
            return paper(_PAPER[text.strip()])
        if text.endswith(".toml"):
            return _from_file(text)
        family, colon, parameters = text.partition(":")
        if colon and family.strip() in FAMILIES:
            return replace(_from_line(family.strip(), parameters), name=" ".join(text.split()))
        if text.strip() in FAMILIES:
            raise InputError(f"{text.strip()}: give its parameters, as in {_example(text.strip())}")
        known = [*([] if colon else _PAPER), *(f"{name}:" for name in FAMILIES)]
        meant = known if family.strip() != "normal" else ["gaussian:"]  # by another name
        otherwise = ADVICE if meant is known else "did you mean 'gaussian:'?"
        raise InputError(unknown("environment", f"{family.strip()}{colon}", meant, otherwise))
    raise InputError(f"unknown environment {short_repr(text)}: {ADVICE}")


def _example(family: str) -> str:
    """Return how a family is written."""
    parameters = FAMILIES[family].parameters
    return f"{family}:" + (";".join(f"{name}=..." for name in parameters) if len(parameters) > 1 else "...")


def _from_line(family: str, text: str) -> Bandit:
    entry = FAMILIES[family]
    if entry.takes_data:
        raise InputError(f"{family}: data belongs in a TOML file, got {short_repr(text)}")
    if "=" not in text and len(entry.parameters) == 1:
        text = f"{next(iter(entry.parameters))}={text}"
    pairs = []
    for piece in text.split(";"):
        key, equals, values = (part.strip() for part in piece.partition("="))
        if not equals:
            wanted = _example(family).partition(":")[2]
            raise InputError(f"{family}: parameters must be written {wanted}, got {short_repr(piece)}")
        pairs.append((key, number_list(family, key, values)))
    return family_bandit(family, _parameters(family, pairs))


def _parameters(family: str, pairs: Iterable[tuple[str, Any]]) -> list[Any]:
    """Return the parameters in order; reject unknown, repeated and missing ones."""
    parameters, found = FAMILIES[family].parameters, dict[str, Any]()
    singular = {many: one for one, many in parameters.items()}
    for key, value in pairs:
        name = singular.get(key, key)
        if name not in parameters:
            raise InputError(f"{family}: unknown key {short_repr(key)}, use {' and '.join(parameters)}")
        if name in found:
            raise InputError(f"{family}: {name} must be given once, got it twice")
        found[name] = value
    for name in parameters:
        if name not in found:
            raise InputError(f"{family}: {name} is missing, give {' and '.join(parameters)}")
    return [found[name] for name in parameters]


def _from_file(path: str) -> Bandit:
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
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
        bandit = drift_from_table(bandit, drift, folder)
    bandit = rescaled(bandit, scale)
    return replace(bandit, name=stem if name is None else name, horizon=horizon)


def _arms(tables: object) -> tuple[Family, ...]:
    """Return the arms of all ``[[arms]]`` tables."""
    arms: list[Family] = []
    for position, table in enumerate(tables if isinstance(tables, list) else [tables]):
        if not isinstance(table, dict):
            raise InputError(f"arms must be [[arms]] tables, got {short_repr(table)}")
        try:
            count = arm_count("arms", table.pop("count", 1))
            family = _family(table)
            arm = FAMILIES[family].family(*_parameters(family, table.items()))
        except InputError as error:
            raise InputError(f"{error} in [[arms]] table {position}") from None
        if len(arms) + count > MAX_ARMS:
            raise InputError(f"at most {MAX_ARMS} arms are allowed, got more")
        arms.extend([arm] * count)
    return tuple(arms)


def _family(table: dict[str, Any]) -> str:
    """Remove and return the family of a table."""
    family = table.pop("family", None)
    if isinstance(family, str) and family in FAMILIES:
        return family
    known = ", ".join(FAMILIES)
    if family is None:
        raise InputError(f"family is missing, use one of {known}")
    if isinstance(family, str):
        raise InputError(unknown("family", family, FAMILIES))
    raise InputError(f"family must be one of {known}, got {short_repr(family)}")
