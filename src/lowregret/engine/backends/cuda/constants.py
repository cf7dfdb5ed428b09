"""What is constant in a kernel: numbers of a problem, and the functions that its parts are made of.

``layout.constants_of`` gives the numbers here their values. A function with ``by_problem`` selects a body:
``device.make_kernel`` puts this body wherever a kernel calls the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lowregret.policies import Policy

ARMS = 1
GROUP, GROUPS, PADDED = 1, 1, 1
"""The number of arms of a group, of groups, and of arms with those that fill up the last group."""
LANES = 1
"""The number of threads of a block, each of which plays one run."""
WARMUP = 1
ENDS_ALONE, FINISHES = True, True
"""Whether nothing is left to choose once one arm is active, and no step then depends on another."""
BOUNDED, ROUNDS, USES_BEST = False, False, False
"""Whether the policy has lower bounds, rounds, and scores that depend on the best mean."""
TRACED = False
"""Whether each step is recorded."""
FEW = True
"""Whether the arms are so few that all values are compared at every step."""
KEEPS_SCORES = False
"""Whether the values of arms are their scores at all times."""
KIND = 0
"""The family of the rewards, ``MIXED`` if there are several."""
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


class Plan(NamedTuple):
    """By what the bodies of functions are selected."""

    policy: Policy
    chooser: Any  # a ``choosers.Chooser``, by the mode of the problem
    new_table: Any  # a function of ``table``, by the size of the arms of a run
    drifts: bool  # whether means change
    counts: bool  # whether all rewards are 0 or 1, so that statistics are counts
    gaussian: bool  # whether all rewards are normal


selections: list[Callable[[Plan], Callable[..., Any]]] = []
"""What ``by_problem`` was called with."""


def by_problem(select: Callable[[Plan], Callable[..., Any]]) -> Callable[..., Any]:
    """Make a function for which kernels have the body that is selected for the plan of their problem.

    ``bridge.compile.by_policy_class`` does so on a CPU, by the class of a policy. Where a number decides and
    the types are the same, an ``if`` is enough: the compiler leaves out what cannot happen.
    """
    selections.append(select)
    return select
