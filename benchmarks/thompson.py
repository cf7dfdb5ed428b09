"""How the time a step of Thompson sampling grows with the number of arms, on one thread.

Bernoulli arms of mean 0.07 but one of 0.10, and T = 100 K. Sizes are measured in turn, and the least time of
each counts: the processor's time, since a long run is never left alone on a busy machine. Beside ours stands
the same policy with a sample of every arm. Run alone, the script adds the claim of ``floor.py``: ThompsonBeta
on paper-1 against the time of 20 beta samples a step, a draw and an update.

    python benchmarks/thompson.py [--quick]
"""

from math import sqrt
from time import process_time
from typing import Any

import floor
from common import SEED, Claim, Report, Sheet, arguments, claim_sheet, in_turn, say, show, shown, write

import lowregret as lr


class EveryGauss(lr.Policy):
    """ThompsonGauss with a sample of every arm."""

    warmup = 0

    def sample(self, arm: Any, clock: Any, rng: Any) -> float:
        """Sample the mean of an arm."""
        count = arm.pulls + 1.0
        return arm.mean * arm.pulls / count + sqrt(1.0 / count) * rng.normal()


class EveryBeta(lr.Policy):
    """ThompsonBeta with a sample of every arm."""

    warmup = 0

    def sample(self, arm: Any, clock: Any, rng: Any) -> float:
        """Sample the mean of an arm."""
        successes = arm.mean * arm.pulls
        return rng.beta(1.0 + successes, 1.0 + (arm.pulls - successes))


ARMS = (20, 100, 1_000, 10_000)
PAIRS = ((lr.ThompsonGauss(), EveryGauss()), (lr.ThompsonBeta(), EveryBeta()))
LIMITS = (("ThompsonGauss", 10_000, 100, 3.0), ("ThompsonBeta", 1_000, 20, 3.0))
"""How many times a step may cost at one number of arms what it costs at another."""
STEPS = 1_000_000
MOST_SAMPLED = 1_000
"""A policy that samples every arm is not asked to play more arms than this."""


def curve(policy: lr.Policy, sizes: tuple[int, ...], quick: bool) -> dict[int, float]:
    """Measure the nanoseconds a step at several numbers of arms, in turn."""

    def measure(arms: int) -> float:
        bandit, horizon = lr.bernoulli([0.07] * (arms - 1) + [0.10]), 100 * arms
        runs = max((STEPS // 10 if quick else STEPS) // horizon, 1)
        began = process_time()
        lr.simulate(policy, bandit, horizon, runs, SEED, threads=1, grid=1)
        return 1e9 * (process_time() - began) / (runs * horizon)

    lr.simulate(policy, "bernoulli:0.1,0.2", 100, 1)  # compiles
    measures = [lambda arms=arms: measure(arms) for arms in sizes]
    times = in_turn(measures, 3 if quick else 7, 5.0 if quick else 20.0)
    return {arms: min(found) for arms, found in zip(sizes, times, strict=True)}


def benchmark(quick: bool) -> Report:
    """Measure both policies, with and without a sample of every arm."""
    numbers: dict[str, dict[int, float]] = {}
    for policy, every in PAIRS:
        say(f"measuring {policy}")
        numbers[str(policy)] = curve(policy, ARMS, quick)
        fewer = tuple(arms for arms in ARMS if arms <= MOST_SAMPLED)
        numbers[f"{policy}, every arm sampled"] = curve(every, fewer, quick)
    rows = [(name, *(shown(found.get(arms)) for arms in ARMS)) for name, found in numbers.items()]
    title = "Nanoseconds a step of Thompson sampling against the number of arms K, T = 100 K"
    claims = [
        Claim(f"{name} at K = {many:,} against K = {few}: times a step", ratio, limit)
        for name, many, few, limit in LIMITS
        for ratio in (numbers[name][many] / numbers[name][few],)
    ]
    return Report([Sheet(title, ("policy", *(f"K = {arms:,}" for arms in ARMS)), rows)], claims, numbers)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = benchmark(options.quick)
    claims = [*report.claims, *floor.benchmark(options.quick, ["ThompsonBeta"]).claims]
    show([*report.sheets, claim_sheet(claims)])
    write("thompson", report.numbers)


if __name__ == "__main__":
    main()
