"""How a run stands: the codes that kernels return, each with its sentence.

A run that plays on, or has ended well, has the status ``PLAYING``. Every other status is a negative number:
one of those below; or ``ARM_FAILED`` less the number of an arm that had no number for a reward; or, on a GPU,
``PLACE_FAILED`` less a place beyond the arms that a policy asked for.
"""

PLAYING = 0
ARM_FAILED = -1
PLACE_FAILED = -(2**61)
ELIMINATED_ALL, NOT_A_NUMBER, STOPPED = -(2**62), -(2**62) - 1, -(2**62) - 2

SENTENCES = {
    ELIMINATED_ALL: "{policy}: it eliminated every arm; at least one must stay",
    NOT_A_NUMBER: "{policy}: a score must be a number, got nan",
}
"""What a user reads. ``STOPPED`` has no sentence: another thread wanted the end."""
RETURNED_NONE = "{policy}: {place} returned None: return a value in every branch"
"""What a user reads instead if a score is nan because a method returned None."""
RAN_OUT = "{policy}: the rewards of arm {arm} ran out: give it a longer row or a shorter horizon"
SAMPLED_NAN = "sampled: {name} returned nan for arm {arm}: return a number"
"""What a user reads of an arm that failed: its rewards were given, or come from a sampler of the user's."""
NO_SUCH_PLACE = "{policy}: no arm is in place {index}: use range(clock.arms)"
BEYOND_ARRAY = "{policy}: an index is beyond the end of an array: for arm.rewards use range(len(arm.rewards))"
"""What a user reads of an index that compiled code found out of range."""

ALL_REWARDS = "it looks at all rewards of an arm, which do not fit into the memory of a thread"
LISTS = "lists and duels of arms are not supported on a GPU"
SECOND_SAMPLES = "second samples of arms are not supported on a GPU"
OWN_CHOICES = "policies with choose or stop are not supported on a GPU"
DRAWS = "random draws in next_round and update_memory are not supported on a GPU"
RECOMMENDATIONS = "recommendations are not recorded on a GPU"
LATER_ARMS = "arms that become active later are not supported on a GPU"
DELAYS = "delayed rewards and batches are not supported on a GPU"
PRIOR = "a prior is not supported on a GPU"
PERIOD = "means adjusted for periods are not supported on a GPU"
LONG_HORIZON = "the horizon must be below 2^31"
OWN_SAMPLER = "a sampler of your own runs on the processor alone"
RANDOM_ARMS = "arms that are drawn anew in each run are not supported on a GPU"
CHANGING_ARMS = "means that depend on more than the step are not supported on a GPU"
"""Why a GPU cannot play a problem: see ``kernels.modes``."""


def failed_arm(status: int) -> int | None:
    """Return the number of the arm that failed, None for any other status."""
    return ARM_FAILED - status if PLACE_FAILED + 2**60 < status < PLAYING else None


def failed_place(status: int) -> int | None:
    """Return the place beyond the arms that a policy asked for, None for any other status."""
    return PLACE_FAILED - status if abs(PLACE_FAILED - status) <= 2**60 else None
