"""Write a policy of your own, at compiled speed.

The class below is MOSS without its horizon. It is plain Python: the simulator compiles it when it is first
used. ``index_trend`` states that the score of an arm that is not pulled never decreases, which lets the
simulator evaluate fewer arms.
"""

import sys
from math import log, sqrt

import lowregret as lr


class Anytime(lr.Policy):
    """m + sqrt(width log+(t / (K n)) / n)."""

    width: float = 1.0
    index_trend = "increasing"

    def score(self, arm, clock):
        share = clock.t / (clock.arms * arm.pulls)
        return arm.mean + sqrt(self.width * max(log(share), 0.0) / arm.pulls)


if __name__ == "__main__":
    result = lr.simulate([lr.MOSS(), Anytime(), Anytime(width=0.5)], "paper-1", runs=20, seed=1)
    print(result.summary().select("policy", "mean", "se", "worst05"))
    if len(sys.argv) > 1:
        result.plot().save(sys.argv[1])
