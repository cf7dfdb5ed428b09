"""What a kernel is made of for one problem: which functions, how many arms to a group, and where arms lie."""

from __future__ import annotations

from math import ceil, log2, sqrt
from typing import Any

import numpy as np
from numba import int16, int32, uint8, uint16

from lowregret.engine.backends.cuda import choosers, table
from lowregret.engine.backends.cuda.constants import MIXED, Plan, selections
from lowregret.engine.backends.cuda.device import SIMULATED
from lowregret.engine.bridge.compile import selected_bodies
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels.modes import select_mode
from lowregret.engine.kernels.posteriors import draw, posterior
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.statistics import observes_plainly
from lowregret.engine.problem import PATH, Problem
from lowregret.environments.families import BERNOULLI, GAUSSIAN

SHARED_BYTES = 43 * 1024
"""How much shared memory the arms of a block may take: 48 KB less the ziggurat."""
WARP = 32
"""How many threads a GPU runs in step."""
FEW_ARMS, FEW_GROUP = 32, 5
"""Up to how many arms all values are compared at every step, and how many of them one after the other."""
EXACT_PULLS = 2**26
"""Up to how many pulls the products of counts are exact."""


def constants_of(problem: Problem, encoding: Encoding) -> dict[Any, Any]:
    """Return the numbers by the names that ``constants`` has for them, and bodies by their functions."""
    policy, arms, rules = problem.policy, len(problem.bandit), rules_of(problem.policy)
    chooser = choosers.CHOOSERS[select_mode(problem, on_gpu=True)]
    counts, drifts = counts_rewards(problem, encoding), encoding.means is not None
    changes_arms = policy.overrides("first_round") and policy.rounds_eliminate
    gone = changes_arms or rules.eliminates_dominated or policy.overrides("initially_active")
    own = not type(policy).__module__.startswith("lowregret.")
    resets = changes_arms and (own or "reset" in type(policy).next_round.__code__.co_names)
    fields = len(policy.Memory()) if policy.Memory else 0
    compares, few = chooser.store is not None, arms <= FEW_ARMS
    group = min(arms, FEW_GROUP) if few else 2 ** ceil(log2(sqrt(arms)))
    groups = ceil(arms / group)
    kinds = set(encoding.rows["kind"].tolist())
    numbers: dict[str, Any] = {
        "ARMS": arms,
        "GROUP": group,
        "GROUPS": groups,
        "PADDED": groups * group if compares else 1 if chooser is choosers.SCAN else arms,
        "WARMUP": rules.warmup,
        "ENDS_ALONE": rules.ends_alone,
        "FINISHES": rules.ends_alone and not drifts,
        "BOUNDED": rules.eliminates_dominated,
        "ROUNDS": policy.overrides("first_round"),
        "USES_BEST": rules.uses_best,
        "TRACED": PATH in problem.record,
        "FEW": few,
        "KEEPS_SCORES": chooser is choosers.CONSTANT,
        "KIND": min(kinds) if len(kinds) == 1 else MIXED,
        "REFERENCE": problem.horizon + 1 if policy.index_trend == "increasing" else 1,
        "CLIP": problem.clip and not counts,
        "COUNT": uint16 if problem.horizon < 2**16 else int32,
        "PLACE": uint8 if arms <= 256 else int16 if arms < 2**15 else int32,
        "CHECKED": own,
        "GONE": max(arms, 2) if gone else 1,
        "RESETS": max(arms, 2) if resets else 1,
        "MEMORY": max(fields * arms, 2) if fields else 1,
        "SUMS": 1 if counts else 3 * arms,
        "COUNTS": arms if counts else 1,
        "RANKS": groups if compares and not few else 1,
        "SPREADS": arms if chooser.keeps_spreads else 1,
    }
    new_table, numbers["LANES"] = _place_of_table(numbers)
    if SIMULATED:
        numbers["LANES"] = 2  # each thread is one of the system
    plan = Plan(policy, chooser, new_table, drifts, counts, kinds == {GAUSSIAN})
    posteriors = {part: selected_bodies[part](type(policy)) for part in (posterior, draw)}
    return {**numbers, **posteriors, **{part: part(plan) for part in selections}}


def counts_rewards(problem: Problem, encoding: Encoding) -> bool:
    """Return whether all rewards are 0 or 1, so that statistics are counts."""
    rows = encoding.rows
    binary = (rows["kind"] == BERNOULLI) & (rows["b"] == 0.0) & (rows["c"] == 1.0)
    plain = observes_plainly(type(problem.policy)) or not problem.policy.overrides("transform_reward")
    return bool(binary.all()) and plain and problem.horizon <= EXACT_PULLS


def _place_of_table(numbers: dict[str, Any]) -> tuple[Any, int]:
    """Return where the arms of a run lie, and the number of threads of a block."""
    count, place = (np.dtype(str(numbers[name])).itemsize for name in ("COUNT", "PLACE"))
    ranks = numbers["RANKS"] if numbers["RANKS"] > 1 else 0
    values = 8 * numbers["PADDED"] + (8 + place) * ranks
    statistics = (place + count) * numbers["ARMS"] + 8 * numbers["SPREADS"]
    statistics += (
        count * numbers["COUNTS"] + 4 * numbers["RESETS"] + 8 * (numbers["SUMS"] + numbers["MEMORY"])
    )
    for lanes in (2 * WARP, WARP):
        if (values + statistics) * lanes <= SHARED_BYTES:
            return table.shared_table, lanes
    if values * WARP <= SHARED_BYTES:
        return table.split_table, WARP
    return table.global_table, 2 * WARP
