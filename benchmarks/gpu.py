"""Steps a second on a GPU, beside the compiled engine on all cores, and how many runs are the same.

For each policy the first call, which compiles; the rate with very many runs and with 1,000; that of the
compiled engine; and of the 1,000 runs those in which the pulls of every arm are the same. It needs an NVIDIA
GPU, NumPy, Numba and numba-cuda alone.

    python benchmarks/gpu.py [--runs 200000] [POLICY ...]

With ``--equal RUNS`` it plays so many runs of each policy without random numbers on eight bandits, and counts
those in which the pulls of an arm are not the same.

    python benchmarks/gpu.py --equal 10000 [POLICY ...]
"""

import argparse
from time import perf_counter

import numpy as np

from lowregret import policies
from lowregret.engine.backends import run, unsupported_reason
from lowregret.engine.problem import Outcome, Problem
from lowregret.environments import Bandit, environment
from lowregret.policies.base import is_randomized

CASES = [
    ("EUCBV", "paper-1"),
    ("MOSS", "paper-1"),
    ("MOSSV", "paper-1"),
    ("UCB1", "paper-1"),
    ("KLUCBPlusPlus", "paper-1"),
    ("ThompsonGauss", "paper-1"),
    ("EUCBV", "paper-4"),
]
HORIZON, POINTS, FEW_RUNS = 60_000, 200, 1_000
BANDITS = (
    "paper-1",
    "paper-4",
    "bernoulli:0.4,0.6",
    "bernoulli:0.02*50,0.04",
    "gaussian:mean=0*9,0.3;variance=1",
    "beta:a=2,3,4;b=8,7,6",
    "uniform:low=0,0.2;high=0.8,1",
    "exponential:0.5,1",
)
"""Bandits of several kinds of rewards, some with many arms."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policies", nargs="*", help="some of the policies, on paper-1")
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--horizon", type=int, default=HORIZON)
    parser.add_argument("--equal", type=int, metavar="RUNS", help="count runs that differ, no speed")
    options = parser.parse_args()
    if options.equal:
        return count_different(options.policies, options.equal, options.horizon)
    cases = [(name, "paper-1") for name in options.policies] or CASES
    print(f"{'':28} {'first call':>10} {'steps/s':>9} {FEW_RUNS:>8,} runs {'compiled':>9} {'same runs':>10}")
    for name, testbed in cases:
        policy, bandit = getattr(policies, name)(), environment(testbed)
        began = perf_counter()
        few = play(policy, bandit, options.horizon, FEW_RUNS, "cuda")
        first = perf_counter() - began
        few = play(policy, bandit, options.horizon, FEW_RUNS, "cuda")
        many = play(policy, bandit, options.horizon, options.runs, "cuda")
        plain = play(policy, bandit, options.horizon, FEW_RUNS, "compiled")
        rates = [len(outcome.regret) * options.horizon / outcome.seconds for outcome in (many, few, plain)]
        same = int((few.pulls == plain.pulls).all(axis=1).sum())
        columns = f"{first:8.1f} s {rates[0]:9.2g} {rates[1]:13.2g} {rates[2]:9.2g} {same:10,}"
        print(f"{name + ' on ' + testbed:28} {columns}", flush=True)


def count_different(names: list[str], runs: int, horizon: int) -> None:
    """Print for each policy and bandit how many runs are not the same on both engines."""
    for name in names or policies.POLICIES:
        policy = getattr(policies, name)()
        if is_randomized(type(policy)):
            continue
        for text in BANDITS:
            bandit = environment(text)
            problem = Problem(
                policy, bandit, horizon, seed=1, runs=runs, clip="rewards in [0, 1]" in policy.needs
            )
            if unsupported_reason(problem, "cuda"):
                break
            plain, other = run(problem, "compiled"), run(problem, "cuda")
            different = int((plain.pulls != other.pulls).any(axis=1).sum())
            print(f"{name:20} {text:33} {different:8,} of {runs:,} runs differ", flush=True)


def play(policy: policies.Policy, bandit: Bandit, horizon: int, runs: int, engine: str) -> Outcome:
    grid = np.unique(np.linspace(0, horizon, POINTS + 1)[1:].astype(np.int64))
    return run(Problem(policy, bandit, horizon, seed=1, runs=runs, grid=grid), engine)


if __name__ == "__main__":
    main()
