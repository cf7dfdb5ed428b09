"""Which way to play a run suits a policy; all give, bit for bit, what ``reference.play`` gives."""

from __future__ import annotations

from typing import Any

from numba.extending import overload

from lowregret.engine.compile import OPTIONS
from lowregret.engine.lazy.arm_lists import play_lists
from lowregret.engine.lazy.constant_index import play_still
from lowregret.engine.lazy.normal_sampling import play_beliefs
from lowregret.engine.lazy.round_robin import play_turns
from lowregret.engine.lazy.time_varying_index import play_moving
from lowregret.engine.protocol import has
from lowregret.engine.scan import play_scanning


def play(*arguments: Any) -> int:
    """Play one run in the way that suits the policy; only compiled code calls this."""
    raise NotImplementedError


@overload(play, strict=False, jit_options=OPTIONS)
def _play(policy: Any, rules: Any, first: Any, rng: Any, run: Any) -> Any:
    kind = policy.instance_class
    if kind.in_turn:
        return play_scanning if has(policy, "book") else play_turns
    if has(policy, "claim"):
        return play_lists
    if has(policy, "belief"):
        return play_beliefs
    if has(policy, "sample") or kind.moves == "anyhow":
        return play_scanning
    if kind.moves == "still" and not kind.uses_best:
        return play_still
    return play_scanning if has(policy, "begin") else play_moving
