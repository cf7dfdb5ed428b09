"""What the weight ``peers`` of MOSSV costs and gains, as in docs/evidence/successor.md.

    python benchmarks/peers_weight.py [--runs N] [--peers WEIGHT ...] [--again REGRET] [TESTBED ...]

The same runs are played with ``peers=0`` and with each weight. The table has the ratios of the mean and of
the worst 5%, with standard errors, and the failures: runs above the regret of uniform play. "all" stands for
the testbeds of the league with ten arms or more. With ``--again 1000`` only runs that cost more than 1,000
with ``peers=0`` are played again, to count failures fast; others fail rarely with a larger weight.
"""

import argparse

import numpy as np

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.engine.backends import run
from lowregret.engine.problem import Problem
from lowregret.environments import Bandit
from lowregret.suite.league_testbeds import TESTBEDS, testbed

RESAMPLES = 200


def regrets(peers: float, bandit: Bandit, first: int, runs: int) -> np.ndarray:
    """Return the regret of some runs, beginning with the run of number ``first``."""
    horizon = np.array([bandit.horizon])
    problem = Problem(
        lr.MOSSV(peers=peers), bandit, bandit.horizon, 1, first_run=first, runs=runs, grid=horizon
    )
    return run(problem).regret[:, -1]


def cells(regret: np.ndarray, base: np.ndarray) -> str:
    """Return the ratios of the mean and of the worst 5% with their standard errors."""
    error = (regret - base).std(ddof=1) / len(base) ** 0.5 / base.mean()
    rng, tails = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        chosen = rng.integers(0, len(base), len(base))
        tails.append(tail_mean(regret[chosen]) / tail_mean(base[chosen]))
    tail = tail_mean(regret) / tail_mean(base)
    return f"{regret.mean() / base.mean():.4f} ({error:.4f}) | {tail:.4f} ({np.std(tails):.4f})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("testbeds", nargs="*", default=["paper-2", "best-low-variance"])
    parser.add_argument("--runs", type=lambda text: int(float(text)), default=6_000)
    parser.add_argument("--peers", type=float, nargs="+", default=[2.0, 2.5, 3.0, 4.0])
    parser.add_argument("--again", type=float, help="play only runs of more regret than this again")
    options = parser.parse_args()
    names = options.testbeds
    if names == ["all"]:
        names = [name for name in TESTBEDS if len(testbed(name).bandit()) >= 10]
    print("| testbed | peers | mean | worst 5% | failures in 10^6 (se) |\n|---|---|---|---|---|")
    for name in names:
        bandit = testbed(name).bandit()
        uniform = bandit.horizon * float(bandit.means.max() - bandit.means.mean())
        base = regrets(0.0, bandit, 0, options.runs)
        for peers in (0.0, *options.peers):
            if options.again is None:
                regret = regrets(peers, bandit, 0, options.runs)
                shown = cells(regret, base)
            else:
                costly = np.flatnonzero(base > options.again)
                regret = np.concatenate([regrets(peers, bandit, int(number), 1) for number in costly])
                shown = " | "
            failures, scale = int((regret > uniform).sum()), 1e6 / options.runs
            rate = f"{failures * scale:.0f} ({failures**0.5 * scale:.0f})"
            print(f"| {name} | {peers:g} | {shown} | {rate} |", flush=True)


if __name__ == "__main__":
    main()
