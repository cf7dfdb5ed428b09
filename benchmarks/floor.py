"""Our time a step against the floor: one draw, one update and one score of the same policy, no more.

Both are measured in turn, many times, on one thread, in one process; a row gives the least time of each, the
ratio of the two, and the ratio of the medians (which a busy machine disturbs less evenly).

    python benchmarks/floor.py [repeats]
"""

import sys
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.table import Table

import lowregret as lr
from lowregret.engine.arms import draw, law, rows_of
from lowregret.engine.compiling import kernel
from lowregret.engine.protocol import begin, value
from lowregret.engine.reference import policy_rng
from lowregret.engine.steps import Tally, clock_now, count, state
from lowregret.policies import Policy, clock_at

RUNS = 4


def floor(policy, round, rng, row, horizon, arms, steps):
    """Pull one arm ``steps`` times and score it after each pull."""
    source = law(row)
    tally, scores = Tally(0, 0, 0.0, 0.0, 0.0), 0.0
    for n in range(1, steps + 1):
        tally = count(tally, draw(source, n))
        scores += value(policy, state(0, tally), clock_now(n, horizon, arms, 0.0), round, rng)
    return scores


def measure(policy: Policy, bandit: lr.Bandit, repeats: int) -> tuple[list[float], list[float]]:
    """Time the floor and the simulator in turn; nanoseconds a step."""
    horizon, arms = bandit.horizon, len(bandit)
    round = begin(policy, clock_at(0, horizon, arms, 0.0))
    row = rows_of(bandit)[0]
    row["key"] = 1
    rng = policy_rng(1, 0)
    compiled = kernel(floor, policy)
    compiled(policy.record, round, rng, row, horizon, arms, 1)
    lr.simulate(policy, bandit, runs=1)
    floors, ours = [], []
    for _ in range(repeats):
        began = perf_counter()
        compiled(policy.record, round, rng, row, horizon, arms, horizon)
        floors.append(1e9 * (perf_counter() - began) / horizon)
        result = lr.simulate(policy, bandit, runs=RUNS, seed=1, threads=1)
        ours.append(1e9 * result[policy].seconds / (RUNS * horizon))
    return floors, ours


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    table = Table(title=f"nanoseconds a step on one thread, the least of {repeats} measurements")
    for column in ("policy", "testbed", "floor", "ours", "ratio", "ratio of medians"):
        table.add_column(column, justify="left" if column in ("policy", "testbed") else "right")
    for policy in (lr.EUCBV(), lr.MOSS(), lr.UCB1()):
        for number in (1, 4):
            bandit = lr.paper(number)
            floors, ours = measure(policy, bandit, repeats if policy.moves == "still" else 5)
            cells = min(floors), min(ours), min(ours) / min(floors), median(ours) / median(floors)
            table.add_row(str(policy), bandit.name, *(f"{cell:.1f}" for cell in cells))
    Console().print(table)


if __name__ == "__main__":
    main()
