"""How long ``lowregret report`` takes for 6 environments and 21 policies.

    python benchmarks/report.py [--figures none|svg|all] [--rounds N]

The results are simulated first, which takes about a minute if the policies are not compiled yet. Each round
starts the command anew, so importing counts too. The processor's time is printed beside that of the clock,
since a busy machine disturbs it less.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from argparse import ArgumentParser
from pathlib import Path
from time import perf_counter

import lowregret as lr

ENVIRONMENTS = [
    "paper-1",
    "bernoulli:0.1,0.15,0.2,0.25,0.3",
    "bernoulli:0.5*9,0.6",
    "bernoulli:0.02*4,0.05",
    "beta:a=4,5,6;b=6,5,4",
    "bernoulli:0.3,0.45,0.5,0.55",
]
POLICIES = [
    *("EUCBV", "MOSS", "UCB1", "UCB1(alpha=1)", "UCBTuned", "UCBV", "UCBImproved", "OCUCB", "ThompsonBeta"),
    *("ThompsonGauss", "KLUCB", "KLUCBPlus", "KLUCBPlusPlus", "KLUCBGauss", "BayesUCBBeta", "BayesUCBGauss"),
    *("IMED", "MedianElimination", "EpsilonGreedy", "CCB", "RoundRobin"),
]


def main() -> None:
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--figures", default="svg", choices=("none", "svg", "all"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        experiment = lr.Experiment(environments=ENVIRONMENTS, policies=POLICIES, horizon=5_000, runs=40)
        experiment.run(folder)
        print(f"{len(ENVIRONMENTS)} environments, {len(POLICIES)} policies, --figures {options.figures}")
        for number in range(1, options.rounds + 1):
            began, before = perf_counter(), os.times()
            call = [sys.executable, "-m", "lowregret", "report", folder, "--figures", options.figures]
            subprocess.run(call, check=True, capture_output=True)
            after, wall = os.times(), perf_counter() - began
            cpu = after.children_user + after.children_system
            cpu -= before.children_user + before.children_system
            size = Path(folder, "report.html").stat().st_size / 1e6
            print(f"round {number}: {wall:.1f} s, {cpu:.1f} s of the processor, page of {size:.1f} MB")


if __name__ == "__main__":
    main()
