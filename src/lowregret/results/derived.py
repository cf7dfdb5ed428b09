"""Results made of other results: with other names for policies, and of several experiments as one."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from lowregret._common.text import unknown_name_message
from lowregret._common.validation import plain_text
from lowregret.analysis.description import Description
from lowregret.errors import InputError
from lowregret.results.results import Results


def label_policies(results: Results, labels: Mapping[str, str]) -> Results:
    """Return results in which policies have labels; a policy without one keeps its name."""
    if not isinstance(labels, Mapping):
        raise InputError('labels must be a dictionary by policy, such as {"MOSS": "MOSS (ours)"}')
    names = {str(policy): plain_text("labels", "each label", label) for policy, label in labels.items()}
    for policy in names:
        if policy not in results.policies:
            available = f"these results have {', '.join(results.policies)}"
            raise InputError(unknown_name_message("policy", policy, results.policies, available))
    policies = tuple(names.get(policy, policy) for policy in results.policies)
    if len(set(policies)) < len(policies):
        raise InputError(f"labels: two policies would be called alike, got {', '.join(policies)}")
    old = results.description
    description = replace(
        old,
        policies=policies,
        notes={names.get(policy, policy): note for policy, note in old.notes.items()},
        eliminating=old.eliminating and tuple(names.get(policy, policy) for policy in old.eliminating),
        policy_parameters={names.get(name, name): values for name, values in old.policy_parameters.items()},
    )
    outcomes = {
        (place, names.get(policy, policy)): runs for (place, policy), runs in results.outcomes.items()
    }
    renamed = Results(description, partial(_renamed_table, results.load_table, names), outcomes)
    renamed.metrics = results.metrics
    renamed.original_names = {
        names.get(policy, policy): results.original_names.get(policy, policy) for policy in results.policies
    }
    return renamed


def _renamed_table(
    load_table: Callable[[str], pl.LazyFrame], names: Mapping[str, str], table: str
) -> pl.LazyFrame:
    frame = load_table(table)
    if "policy" not in frame.collect_schema().names():
        return frame
    return frame.with_columns(pl.col("policy").replace(dict(names)))


def join(name: str, parts: Sequence[Results]) -> Results:
    """Return several results as one; the pairs of an environment and a policy must differ."""
    pairs = Counter(pair for part in parts for pair in part.pairs)
    for (environment, policy), times in pairs.items():
        if times > 1:
            raise InputError(f"{policy} on {environment!r} is in two results: give one a name in its file")
    descriptions = [part.description for part in parts]
    seeds = {part.seed for part in descriptions}
    eliminating = [part.eliminating for part in descriptions if part.eliminating is not None]
    recorded = len(eliminating) == len(descriptions)
    description = Description(
        name=name,
        seed=seeds.pop() if len(seeds) == 1 else None,
        runs=max(part.runs for part in descriptions),
        horizons=_union(part.horizons for part in descriptions),
        policies=tuple(dict.fromkeys(policy for part in descriptions for policy in part.policies)),
        clip=any(part.clip for part in descriptions),
        notes=_union(part.notes for part in descriptions),
        eliminating=tuple(dict.fromkeys(sum(eliminating, ()))) if recorded else None,
        environment_parameters=_union(part.environment_parameters for part in descriptions),
        policy_parameters=_union(part.policy_parameters for part in descriptions),
        delays=_union(part.delays for part in descriptions),
        batches=_union(part.batches for part in descriptions),
        drifting=tuple(dict.fromkeys(name for part in descriptions for name in part.drifting)),
        largest_gaps=_union(part.largest_gaps for part in descriptions),
        backend=" and ".join(dict.fromkeys(part.backend for part in descriptions)),
    )
    return Results(description, partial(_joined_table, parts), _union(part.outcomes for part in parts))


def _joined_table(parts: Sequence[Results], name: str) -> pl.LazyFrame:
    table = pl.concat([part.load_table(name) for part in parts])
    return table.unique(maintain_order=True) if name == "arms" else table


def _union(parts: Any) -> dict[Any, Any]:
    return {key: value for part in parts for key, value in part.items()}
