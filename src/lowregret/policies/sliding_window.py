"""Sliding-window UCB: only the latest steps count."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import Annotated, ClassVar

from lowregret.policies.annotations import Positive, Rule
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock


class SlidingWindowUCB(Policy):
    r"""Optimism on the latest rewards alone; for means that change.

    $s/c + b \sqrt{\xi \log(\min(t - 1, \tau)) / c}$, where $c$ and $s$ are the pulls and rewards of the
    last $\tau$ steps.

    Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011,
    the policy SW-UCB. The logarithm is of the pulls so far, $t - 1$. An arm without pulls in the window
    is pulled next. Assumes rewards in [0, b]; needs no horizon. Looks at the rewards in the window.

    Parameters
    ----------
    tau : int, default 1000
        The length of the window in steps. For a number of changes S in T steps, the paper proposes
        $2 b \sqrt{T \log(T) / S}$.
    xi : float, default 0.6
        How much the policy explores; the paper's bound needs more than 1/2. Constant not verified; the code
        of Baudry, Russac and Cappe (2021) has 1/2.
    b : float, default 1
        The largest reward, positive.

    See Also
    --------
    DiscountedUCB : Optimism that forgets.
    GLRKLUCB : KLUCB that starts again when a test finds a change.

    Examples
    --------
    >>> lr.trace(lr.SlidingWindowUCB(tau=5), [[1] * 12, [0] * 12], 12, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    """

    tau: Annotated[int, Rule("at least 1", lambda value: value >= 1)] = 1000
    xi: Positive = 0.6
    b: Positive = 1.0

    uses_rewards = True
    uses_times = True
    needs = ("bounded rewards",)
    source: ClassVar[str] = "Garivier, Moulines 2011, SW-UCB"

    def score(self, arm: Arm, clock: Clock) -> float:
        total, count, rewards = 0.0, 0, len(arm.rewards)
        while count < rewards and arm.rewards[rewards - 1 - count, 1] > clock.t - 1 - self.tau:
            total += arm.rewards[rewards - 1 - count, 0]
            count += 1
        mean = total / count if count > 0 else arm.mean
        count += arm.pulls - rewards  # those whose reward is pending
        if count == 0:
            return inf
        return mean + self.b * sqrt(self.xi * log(max(min(clock.t - 1, self.tau), 1)) / count)
