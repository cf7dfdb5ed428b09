"""What a kernel is made of for one problem: which functions, how many arms to a group, and where arms lie."""

from __future__ import annotations

from math import ceil, log2, sqrt
from typing import Any

import numpy as np
from numba import int16, int32, uint8, uint16

from lowregret.engine.backends.cuda import choosers, play, table
from lowregret.engine.backends.cuda.constants import MIXED
from lowregret.engine.bridge.compile import selected_bodies
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels.modes import select_mode
from lowregret.engine.kernels.posteriors import draw, posterior
from lowregret.engine.kernels.statistics import observes_plainly
from lowregret.engine.problem import PATH, Problem
from lowregret.environments.families import BERNOULLI, GAUSSIAN
from lowregret.policies import Policy

SHARED_BYTES = 43 * 1024
"""How much shared memory the arms of a block may take: 48 KB less the ziggurat."""
WARP = 32
"""How many threads a GPU runs in step."""
FEW_ARMS, FEW_GROUP = 32, 5
"""Up to how many arms all values are compared at every step, and how many of them one after the other."""
EXACT_PULLS = 2**26
"""Up to how many pulls the products of counts are exact."""


def constants_of(problem: Problem, encoding: Encoding) -> dict[str, Any]:
    """Return the numbers and functions that stand for the names of ``constants``."""
    policy, arms = problem.policy, len(problem.bandit)
    chooser = choosers.CHOOSERS[select_mode(problem, on_gpu=True)]
    counts, drifts = counts_rewards(problem, encoding), encoding.means is not None
    rounds, bounded = policy.overrides("first_round"), policy.overrides("lower_bound")
    changes_arms = rounds and policy.rounds_eliminate
    gone = changes_arms or bounded or policy.overrides("initially_active")
    resets = changes_arms and not policy.eliminates_permanently
    fields = len(policy.Memory()) if policy.Memory else 0
    compares, few = chooser.compares_scores, arms <= FEW_ARMS
    group = min(arms, FEW_GROUP) if few else 2 ** ceil(log2(sqrt(arms)))
    groups = ceil(arms / group)
    kinds = set(encoding.rows["kind"].tolist())
    rewards = {(GAUSSIAN,): play.gaussian_reward}.get(tuple(kinds), play.fixed_reward)
    if counts:
        rewards = play.binary_reward
    constants: dict[str, Any] = {
        "ARMS": arms,
        "GROUP": group,
        "GROUPS": groups,
        "PADDED": groups * group if compares else 1 if chooser is choosers.SCAN else arms,
        "WARMUP": policy.warmup,
        "PERMANENT": policy.eliminates_permanently,
        "FINISHES": policy.eliminates_permanently and not drifts,
        "KIND": kinds.pop() if len(kinds) == 1 else MIXED,
        "BLOCK": max(arms, 2),
        "REFERENCE": problem.horizon + 1 if policy.index_trend == "increasing" else 1,
        "CLIP": problem.clip and not counts,
        "COUNT": uint16 if problem.horizon < 2**16 else int32,
        "PLACE": uint8 if arms <= 256 else int16 if arms < 2**15 else int32,
        "CHECKED": not type(policy).__module__.startswith("lowregret."),
        "GONE": max(arms, 2) if gone else 1,
        "RESETS": max(arms, 2) if resets else 1,
        "MEMORY": max(fields * arms, 2) if fields else 1,
        "SUMS": 1 if counts else 3 * arms,
        "COUNTS": arms if counts else 1,
        "RANKS": groups if compares and not few else 1,
        "rank": choosers.no_ranking if few else choosers.rank_group,
        "best_in": choosers.best_of_group if few else choosers.kept_best,
        "SPREADS": arms if chooser.keeps_spreads else 1,
        "statistics": table.counted if counts else table.summed,
        "add": table.add_count if counts else table.add_sums,
        "see_arms": table.see_all if policy.uses_arms else table.see_none,
        "best_of_all": table.best_mean if policy.uses_best else table.no_best,
        "reward_and_gap": play.drifting_reward if drifts else rewards,
        "make_path": play.path_of if drifts else play.no_path,
        "record_step": play.record_each_step if PATH in problem.record else play.record_no_step,
        "remember": play.remember_more if policy.Memory else play.remember_nothing,
        "transform": play.transform_reward if policy.overrides("transform_reward") else play.keep_reward,
        "posterior_of": selected_bodies[posterior](type(policy)),
        "draw_posterior": selected_bodies[draw](type(policy)),
        "prepare": chooser.prepare,
        "choose": chooser.choose,
        "refresh": chooser.refresh,
        "update_bounds": choosers.store_bounds if bounded else choosers.no_bounds,
        "index_again": play.kept_index if chooser is choosers.CONSTANT else play.computed_index,
        "end_round": play.next_round if rounds else play.keep_round,
        **memory_functions(policy),
    }
    dominated = play.eliminate_crossed if chooser is choosers.CONSTANT else play.eliminate_dominated
    constants["eliminate"] = dominated if bounded else play.eliminate_none
    constants["new_table"], constants["LANES"] = _place_of_table(constants)
    return constants


def counts_rewards(problem: Problem, encoding: Encoding) -> bool:
    """Return whether all rewards are 0 or 1, so that statistics are counts."""
    rows = encoding.rows
    binary = (rows["kind"] == BERNOULLI) & (rows["b"] == 0.0) & (rows["c"] == 1.0)
    plain = observes_plainly(type(problem.policy)) or not problem.policy.overrides("transform_reward")
    return bool(binary.all()) and plain and problem.horizon <= EXACT_PULLS


def memory_functions(policy: Policy) -> dict[str, Any]:
    if policy.Memory is None:
        source = (
            "def read_memory(table, i):\n    return None\ndef write_memory(table, i, memory):\n    pass\n"
        )
    else:
        values = policy.Memory()._asdict()
        places = [f"table.memory[{len(values)} * i + {k}, table.column]" for k in range(len(values))]
        kinds = [type(value).__name__ for value in values.values()]
        reads = ", ".join(f"{kind}({place})" for kind, place in zip(kinds, places, strict=True))
        writes = "\n".join(f"    {place} = memory.{name}" for place, name in zip(places, values, strict=True))
        source = (
            f"def read_memory(table, i):\n    return Memory({reads})\n"
            f"def write_memory(table, i, memory):\n{writes}\n"
        )
    scope: dict[str, Any] = {"Memory": policy.Memory, "__name__": __name__}
    exec(compile(source, "<memory on a GPU>", "exec"), scope)
    return {name: scope[name] for name in ("read_memory", "write_memory")}


def _place_of_table(constants: dict[str, Any]) -> tuple[Any, int]:
    """Return where the arms of a run lie, and the number of threads of a block."""
    count, place = (np.dtype(str(constants[name])).itemsize for name in ("COUNT", "PLACE"))
    ranks = constants["RANKS"] if constants["RANKS"] > 1 else 0
    values = 8 * constants["PADDED"] + (8 + place) * ranks
    statistics = (place + count) * constants["ARMS"] + 8 * constants["SPREADS"]
    statistics += (
        count * constants["COUNTS"] + 4 * constants["RESETS"] + 8 * (constants["SUMS"] + constants["MEMORY"])
    )
    for lanes in (2 * WARP, WARP):
        if (values + statistics) * lanes <= SHARED_BYTES:
            return table.shared_table, lanes
    if values * WARP <= SHARED_BYTES:
        return table.split_table, WARP
    return table.global_table, 2 * WARP
