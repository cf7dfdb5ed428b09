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

CHECKED = False
"""Whether places that a policy asks for are checked: those of a class of the user's own."""
MIXED = -9


def unset(*_: Any) -> Any:
    """Stand for a function that depends on the problem: ``layout.constants_of`` says which one it is."""
    raise NotImplementedError


new_table = statistics = add = see_arms = best_of_all = unset
"""Functions of ``table``: where the arms of a run lie, and what is seen of them."""
read_memory = write_memory = unset
"""Those that ``layout.memory_functions`` writes for the fields of a ``Memory``."""
reward_and_gap = make_path = transform = remember = record_step = eliminate = index_again = end_round = unset
"""Functions of ``play``: the parts of a step."""
prepare = choose = refresh = rank = best_in = update_bounds = unset
"""Functions of ``choosers``: how the next arm is found."""
posterior_of = draw_posterior = unset
"""Functions of ``kernels.posteriors``."""
