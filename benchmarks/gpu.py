"""Steps a second on a GPU, beside the compiled engine on all cores: the table of docs/how-to/gpu.md.

A row has the rates with very many runs and with 1,000, that of the compiled engine with 1,000, the time of
the first call, which compiles, and in how many of these 1,000 runs an arm has another number of pulls. Rates
are medians of three, or of one where that takes longer than five seconds. It needs an NVIDIA GPU, NumPy,
SciPy, Numba and numba-cuda alone; ``gpu_check.py`` checks that all runs are the same.

    python benchmarks/gpu.py [--runs 200000] [--minutes 8] [POLICY ...]
"""

import argparse
import os
from statistics import median
from time import monotonic, perf_counter
from typing import NamedTuple

import numpy as np

from lowregret import policies
from lowregret.engine.backends import run
from lowregret.engine.problem import Outcome, Problem
from lowregret.environments import Bandit, environment


class Case(NamedTuple):
    """A row: a policy, what it plays, and how many runs of the GPU's at most."""

    policy: policies.Policy
    testbed: str = "paper-1"
    most_runs: int = 10**9


CASES = (
    Case(policies.EUCBV()),
    Case(policies.MOSS()),
    Case(policies.MOSSV()),
    Case(policies.MOSSV(peers=0.0)),
    Case(policies.UCB1()),
    Case(policies.KLUCBPlusPlus()),
    Case(policies.ThompsonGauss()),
    Case(policies.EUCBV(), "paper-4"),
    Case(policies.UCBV()),
    Case(policies.KLMOSS()),
    Case(policies.KLUCB()),
    Case(policies.IMED()),
    Case(policies.ThompsonBeta(), most_runs=100_000),
    Case(policies.AdaUCB(), most_runs=20_000),
    Case(policies.BayesUCBBeta(), most_runs=10_000),
)
HORIZON, POINTS, FEW_RUNS = 60_000, 200, 1_000
REPEATS, LONG_SECONDS = 3, 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policies", nargs="*", help="some of the policies, on paper-1")
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--few", type=int, default=FEW_RUNS)
    parser.add_argument("--horizon", type=int, default=HORIZON)
    parser.add_argument("--minutes", type=float, default=8.0, help="begin no further row after this time")
    options = parser.parse_args()
    end = monotonic() + 60.0 * options.minutes
    cases = [Case(getattr(policies, name)()) for name in options.policies] or CASES
    columns = (
        "policy", "GPU runs", "GPU", f"{os.cpu_count()} cores", "factor",
        f"factor with {options.few:,} runs", "first call", "other runs",
    )  # fmt: skip
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for case in cases:
        if monotonic() > end:
            print("time is up: the other rows were not played")
            break
        print(f"| {' | '.join(row(case, options))} |", flush=True)


def row(case: Case, options: argparse.Namespace) -> list[str]:
    """Measure a row of the table."""
    policy, bandit, horizon = case.policy, environment(case.testbed), options.horizon
    began = perf_counter()
    play(policy, bandit, horizon, options.few, "cuda")
    first = perf_counter() - began
    runs = min(options.runs, case.most_runs)
    few, some = rate(policy, bandit, horizon, options.few, "cuda")
    many, _ = rate(policy, bandit, horizon, runs, "cuda")
    cores, plain = rate(policy, bandit, horizon, options.few, "compiled")
    different = int((some.pulls != plain.pulls).any(axis=1).sum())
    name = f"{policy}" if case.testbed == "paper-1" else f"{policy}, {case.testbed}"
    numbers = f"{runs:,}", f"{many:.2g}", f"{cores:.2g}", f"{many / cores:.0f}", f"{few / cores:.1f}"
    return [name, *numbers, f"{first:.1f} s", f"{different:,}"]


def rate(
    policy: policies.Policy, bandit: Bandit, horizon: int, runs: int, engine: str
) -> tuple[float, Outcome]:
    """Return the steps a second, and one of the outcomes."""
    rates: list[float] = []
    while len(rates) < REPEATS:
        outcome = play(policy, bandit, horizon, runs, engine)
        rates.append(runs * horizon / outcome.seconds)
        if outcome.seconds > LONG_SECONDS:
            break
    return median(rates), outcome


def play(policy: policies.Policy, bandit: Bandit, horizon: int, runs: int, engine: str) -> Outcome:
    grid = np.unique(np.ceil(np.linspace(0, horizon, POINTS + 1)[1:]).astype(np.int64))
    return run(Problem(policy, bandit, horizon, seed=1, runs=runs, grid=grid), engine)


if __name__ == "__main__":
    main()
