"""Which way to play a run suits a policy; all give, bit for bit, what ``reference.play`` gives."""

from __future__ import annotations

from typing import Any

from numba.extending import overload

from lowregret.engine.beliefs import play_beliefs
from lowregret.engine.compiling import OPTIONS
from lowregret.engine.lists import play_lists
from lowregret.engine.moving import play_moving
from lowregret.engine.protocol import has
from lowregret.engine.scanning import play_scanning
from lowregret.engine.still import play_still
from lowregret.engine.turns import play_turns


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
