"""What is constant in a kernel: ``make_kernel`` puts the numbers and functions of a problem here."""

from __future__ import annotations

from typing import Any

ARMS = 1
GROUP, GROUPS, PADDED = 1, 1, 1
"""The number of arms of a group, of groups, and of arms with those that fill up the last group."""
LANES = 1
"""The number of threads of a block, each of which plays one run."""
WARMUP = 1
PERMANENT, FINISHES = True, True
"""Whether an eliminated arm stays so, and whether a run then ends with one active arm."""
KIND = 0
"""The family of the rewards, ``MIXED`` if there are several."""
BLOCK = 1
"""For how many steps the bounds of increasing indices hold."""
REFERENCE = 1
"""The time at which widths are compared with that of one pull."""
CLIP = False
"""Whether policies see rewards clipped to [0, 1]."""
COUNT: Any = None
"""The type of a number of pulls in shared memory."""
PLACE: Any = None
"""The type of a number of an arm in shared memory."""
GONE, RESETS, MEMORY, SUMS, COUNTS, SPREADS, RANKS = 1, 1, 1, 1, 1, 1, 1
"""The lengths of what only some kernels use; 1 where it is not used, and the compiler leaves it out."""

MIXED = -9


def unset(*_: Any) -> Any:
    """Stand for a function that depends on the problem."""
    raise NotImplementedError


new_table = statistics = add = read_memory = write_memory = remember = see_arms = make_path = unset
reward_and_gap = prepare = choose = refresh = eliminate = end_round = best_of_all = record_step = unset
transform = draw_posterior = posterior_of = note_bounds = index_again = rank = best_in = unset
