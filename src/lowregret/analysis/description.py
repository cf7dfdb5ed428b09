"""What results describe: the name, size and seed of the runs, and the parameters of a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import polars as pl

from lowregret.analysis.columns import RESERVED
from lowregret.engine.backends import DEFAULT
from lowregret.policies import Policy
from lowregret.policies.base import fields_of

Parameters = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Description:
    """What results hold.

    ``seed`` is None where parts of the results have different seeds. With ``clip``, policies that need
    rewards in [0, 1] may have seen clipped ones; ``notes`` are on the rewards of a policy. ``eliminating``
    are the policies that can eliminate arms, None where that was not recorded. The parameters are those that
    vary, by environment and by policy. ``delays`` and ``batches`` are those of environments whose rewards
    are delayed or whose decisions are made in batches. ``drifting`` are the environments whose means change;
    earlier versions did not record them. ``largest_gaps`` are those of environments whose arms are drawn
    anew in each run. ``planned_runs`` is the number of runs of all policies in all environments, where some
    of them are missing; None otherwise. ``backend`` is the name of the engine that played the runs.
    """

    name: str
    seed: int | None
    runs: int
    horizons: dict[str, int]
    policies: tuple[str, ...]
    clip: bool = False
    notes: dict[str, str] = field(default_factory=dict)
    eliminating: tuple[str, ...] | None = None
    environment_parameters: Parameters = field(default_factory=dict)
    policy_parameters: Parameters = field(default_factory=dict)
    planned_runs: int | None = None
    delays: dict[str, str] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)
    drifting: tuple[str, ...] = ()
    largest_gaps: dict[str, float] = field(default_factory=dict)
    backend: str = DEFAULT

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read a description from plain data; keys that earlier versions did not write may be missing."""
        values = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        for name in ("policies", "eliminating", "drifting"):
            if values.get(name) is not None:
                values[name] = tuple(values[name])
        return cls(**values)

    @property
    def other_engine(self) -> str:
        """The name of the engine, empty if it is the one that plays unless another is asked for."""
        return "" if self.backend == DEFAULT else self.backend

    @property
    def delay_notes(self) -> dict[str, str]:
        """The delay and the batches in words, by environment, where rewards are delayed."""
        words: dict[str, list[str]] = {name: [f"delay {delay}"] for name, delay in self.delays.items()}
        for name, batch in self.batches.items():
            words.setdefault(name, []).append(f"batches of {batch:,}")
        return {name: ", ".join(parts) for name, parts in words.items()}

    @cached_property
    def parameter_tables(self) -> dict[str, pl.DataFrame]:
        """The parameters of a sweep, one column each, by environment and by policy."""
        parameters = {"environment": self.environment_parameters, "policy": self.policy_parameters}
        names = {
            kind: list(dict.fromkeys(name for values in members.values() for name in values))
            for kind, members in parameters.items()
        }
        both = set(names["environment"]) & set(names["policy"])
        tables = {}
        for kind, members in parameters.items():
            columns = {}
            for name in names[kind]:
                column = f"{kind}.{name}" if name in RESERVED | both else name
                columns[column] = _parameter_column([values.get(name) for values in members.values()])
            if columns:
                tables[kind] = pl.DataFrame({kind: list(members), **columns})
        return tables


def varying_parameters(policies: Mapping[str, Policy]) -> Parameters:
    """Return the parameters in which policies of the same class differ, by the name of the policy."""
    classes: dict[type[Policy], dict[str, Policy]] = {}
    for name, policy in policies.items():
        classes.setdefault(type(policy), {})[name] = policy
    parameters: Parameters = {}
    for kind, members in classes.items():
        names = [field.name for field in fields_of(kind)]
        values = {name: {repr(getattr(policy, name)) for policy in members.values()} for name in names}
        differing = [name for name in names if len(values[name]) > 1]
        if differing:
            parameters |= {
                label: {name: _plain_value(getattr(policy, name)) for name in differing}
                for label, policy in members.items()
            }
    return parameters


def merged_note(notes: Mapping[str, str]) -> str:
    """Return one note for the notes of a policy by environment."""
    different = set(notes.values())
    if len(different) == 1:
        return different.pop()
    where = {text: ", ".join(repr(name) for name in notes if notes[name] == text) for text in notes.values()}
    return "; ".join(f"in {names}: {text}" for text, names in where.items() if text)


def _plain_value(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _parameter_column(values: list[Any]) -> pl.Series:
    """Return a column of numbers, of strings or of booleans; mixed values become strings."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pl.Series(values, dtype=pl.Float64, strict=False)
    if len(kinds) > 1:
        return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)
    return pl.Series(values)
