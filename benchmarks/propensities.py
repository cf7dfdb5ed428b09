"""What the propensities of Thompson sampling cost: an ask with and without them, in memory, compiled.

Every arm has twenty rewards of the same distribution, so that all may still be the best, which takes longest.
The time is that of the processor: the median of the asks of the quickest of five blocks. A tell before each
changes the posterior.

    python benchmarks/propensities.py [--quick]
"""

from random import Random
from statistics import median
from time import thread_time

from common import Sheet, arguments, show

import lowregret as lr

POLICIES = (lr.ThompsonBeta(), lr.ThompsonGauss(), lr.ThompsonNormal(), lr.EpsilonGreedy())
SIZES = (10, 100, 1_000)


def ask(policy: lr.Policy, size: int, wanted: bool, asks: int) -> float:
    """Return the microseconds of an ask."""
    agent = lr.Agent(policy, map(str, range(size)), seed=1, log_propensities=wanted).compile()
    draw = Random(1).random
    agent.tell_many([(choice, draw() < 0.3) for _ in range(20) for choice in each_once(agent)])
    blocks = []
    for _ in range(5):
        times = []
        for _ in range(asks):
            began = thread_time()
            choice = agent.ask()
            times.append(thread_time() - began)
            agent.tell(choice, draw() < 0.3)
        blocks.append(median(times))
    return 1e6 * min(blocks)


def each_once(agent: lr.Agent) -> list[lr.Decision]:
    """Return one decision for each arm."""
    return [agent.ask(only=[arm]) for arm in agent.arms]


if __name__ == "__main__":
    quick = arguments(__doc__).quick
    rows = []
    for policy in POLICIES:
        for wanted in (True, False):
            cells = [f"{ask(policy, size, wanted, 4 if quick else 40):.1f}" for size in SIZES]
            rows.append([str(policy), "with" if wanted else "without", *cells])
    columns = ["policy", "propensities", *(f"{size:,} arms" for size in SIZES)]
    show([Sheet("An ask, microseconds", columns, rows)])
