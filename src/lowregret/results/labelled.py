"""Results whose policies have other names, as a paper or a page calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from lowregret._common.text import unknown_name_message
from lowregret._common.validation import plain_text
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.results.results import Results


def labelled(results: Results, labels: Mapping[str, str]) -> Results:
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
    known = results.description
    description = replace(
        known,
        policies=policies,
        notes={names.get(policy, policy): note for policy, note in known.notes.items()},
        eliminating=known.eliminating and tuple(names.get(policy, policy) for policy in known.eliminating),
        policy_parameters={names.get(name, name): values for name, values in known.policy_parameters.items()},
    )
    outcomes = {
        (place, names.get(policy, policy)): runs for (place, policy), runs in results.outcomes.items()
    }
    renamed = type(results)(description, partial(_renamed, results.load_table, names), outcomes)
    renamed.metrics = results.metrics
    renamed.original_names = {
        names.get(policy, policy): results.original_names.get(policy, policy) for policy in results.policies
    }
    return renamed


def _renamed(load_table: Callable[[str], pl.LazyFrame], names: Mapping[str, str], table: str) -> pl.LazyFrame:
    frame = load_table(table)
    if "policy" not in frame.collect_schema().names():
        return frame
    return frame.with_columns(pl.col("policy").replace(dict(names)))
