"""How much time MOSSV's look at its peers costs: the ratio of two policies, played in turn.

    python benchmarks/mossv_speed.py [ROUNDS]

Each round plays both policies for 60 runs on one thread. The ratio is one of processor times, which other
programs on the machine disturb less than the clock.
"""

import sys
from time import process_time

import numpy as np

import lowregret as lr
from lowregret.engine.backends import run
from lowregret.engine.problem import Control, Problem
from lowregret.environments import Bandit

TESTBEDS: dict[str, tuple[Bandit, int]] = {
    "paper-1": (lr.paper(1), 60_000),
    "100 Bernoulli arms": (lr.bernoulli([0.3] * 99 + [0.5]), 20_000),
}


def seconds(policy: lr.Policy, bandit: Bandit, horizon: int, seed: int) -> float:
    """Return the processor time of 60 runs."""
    problem, start = Problem(policy, bandit, horizon, seed, runs=60, grid=np.array([horizon])), process_time()
    run(problem, control=Control(threads=1))
    return process_time() - start


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    former, present = lr.MOSSV(peers=0), lr.MOSSV()
    for name, (bandit, horizon) in TESTBEDS.items():
        for policy in (former, present):
            seconds(policy, bandit, horizon, 0)  # compiles
        ratios = [
            seconds(present, bandit, horizon, k) / seconds(former, bandit, horizon, k) for k in range(rounds)
        ]
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        print(f"{name}: {middle:.2f} times the time without peers (middle half {low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
