"""The results of several experiments as one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from lowregret.results.description import Description
from lowregret.results.results import Results


def join(name: str, parts: Sequence[Results]) -> Results:
    """Join the results of several experiments, which have no environment and policy in common."""
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
        delays=_union(each.delays for each in known),
        batches=_union(each.batches for each in known),
        drifting=tuple(dict.fromkeys(name for each in known for name in each.drifting)),
    )
    return Results(description, partial(_table, parts), _union(part.outcomes for part in parts))


def _table(parts: Sequence[Results], name: str) -> pl.LazyFrame:
    table = pl.concat([part.load_table(name) for part in parts])
    return table.unique(maintain_order=True) if name == "arms" else table


def _union(parts: Any) -> dict[Any, Any]:
    return {key: value for part in parts for key, value in part.items()}
