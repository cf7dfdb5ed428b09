"""The results of several experiments as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from lowregret.analysis.tables import COLUMNS
from lowregret.results.description import Description
from lowregret.results.results import Results


def join(name: str, parts: Sequence[Results]) -> Results:
    """Join the results of several experiments, which have different environments.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.results import join
    >>> parts = [lr.simulate("RoundRobin", each, horizon=20, runs=2) for each in ("bernoulli:0,1", "paper-1")]
    >>> join("two", parts)
    Results('two': 1 policy, 2 environments, horizon 20, 2 runs, seed 0)
    """
    known = [part.description for part in parts]
    seeds = {each.seed for each in known}
    listed = [each.eliminating for each in known if each.eliminating is not None]
    description = Description(
        name=name,
        seed=seeds.pop() if len(seeds) == 1 else None,
        runs=max(each.runs for each in known),
        horizons=_union(each.horizons for each in known),
        policies=tuple(dict.fromkeys(policy for each in known for policy in each.policies)),
        clip=any(each.clip for each in known),
        notes=_union(each.notes for each in known),
        eliminating=None if len(listed) < len(known) else tuple(dict.fromkeys(sum(listed, ()))),
        environment_parameters=_union(each.environment_parameters for each in known),
        policy_parameters=_union(each.policy_parameters for each in known),
    )
    return Results(description, _JoinedTables(parts), _union(part.outcomes for part in parts))


class _JoinedTables(Mapping[str, pl.LazyFrame]):
    """The tables of several results, one below the other."""

    def __init__(self, parts: Sequence[Results]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> pl.LazyFrame:
        return pl.concat([part.tables[name] for part in self._parts])

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)


def _union(parts: Any) -> dict[Any, Any]:
    return {key: value for part in parts for key, value in part.items()}
