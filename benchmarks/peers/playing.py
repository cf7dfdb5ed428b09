"""What the peers have in common: paper-1 played step by step, timed, and one line of JSON per policy.

Each peer is run by its own interpreter as ``python with_<peer>.py STEPS RUNS``, with the number of arms after
that if it is not 20; nothing but the standard library is imported here.
"""

import json
import sys
from collections.abc import Callable
from random import Random
from time import perf_counter

STEPS, RUNS, SIZE = (int(argument) for argument in [*sys.argv[1:], "20"][:3])
MEANS = [0.07] * (SIZE - 1) + [0.10]
ARMS = list(range(SIZE))

Choose = Callable[[], int]
Learn = Callable[[int, float], None]


def play(policy: str, make: Callable[[int], tuple[Choose, Learn]]) -> None:
    """Play the runs of one policy; ``make(seed)`` gives how it chooses an arm and how it learns a reward.

    The time is that of the quickest run.
    """
    regrets, times = [], []
    for seed in range(RUNS):
        pulls = [0] * len(MEANS)
        choose, learn = make(seed)
        random = Random(seed).random
        began = perf_counter()
        for _ in range(STEPS):
            arm = choose()
            pulls[arm] += 1
            learn(arm, 1 if random() < MEANS[arm] else 0)
        times.append(perf_counter() - began)
        regrets.append(regret(pulls))
    say(policy, STEPS, min(times), sum(regrets) / RUNS)


def regret(pulls: list[int]) -> float:
    """Return the pseudo-regret of a run from the pulls of its arms."""
    return sum((max(MEANS) - mean) * count for mean, count in zip(MEANS, pulls, strict=True))


def say(policy: str, steps: int, seconds: float, regret: float, form: str = "") -> None:
    """Print what was found, for the benchmark that reads it."""
    found = {"policy": policy, "form": form, "steps": steps, "seconds": seconds, "regret": float(regret)}
    print(json.dumps({**found, "horizon": STEPS, "runs": RUNS}), flush=True)
