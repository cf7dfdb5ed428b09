"""What to play for revenue: most visitors bring nothing, and a few sales are large.

    python benchmarks/revenue.py [RUNS]

The testbeds here decided nothing: the cap of a sale (its mean plus two standard deviations) and the advice
of docs/live/planning.md were chosen on others. Cells: mean regret as a share of what uniform play loses, with
its standard error; the same for the worst 5% of the runs; and the runs that are no better than uniform play.
"""

import sys

import numpy as np

import lowregret as lr
from lowregret.engine.backends import run
from lowregret.engine.problem import Problem
from lowregret.environments import Bandit
from lowregret.planning.visitor_rewards import Sales
from lowregret.policies import Policy

ORDERS = np.round(np.random.default_rng(4).lognormal(3.0, 0.8, (4, 400)), 2) * [[1.0], [1.0], [1.05], [1.12]]
"""Sizes of sales that are data: a sale of the fourth option is larger by 12%."""
TESTBEDS: dict[str, tuple[Bandit, float, float, int]] = {
    # the bandit, the mean and the spread of a sale as a user knows them, and the horizon
    "2% buy, 2.5% the best of five; sd = mean": (
        lr.revenue([0.02] * 4 + [0.025], 45, 45), 45, 45, 150_000),
    "25% buy, 28% the best of two; small orders": (lr.revenue([0.25, 0.28], 12, 6), 12, 6, 20_000),
    "0.5% buy, 0.8% the best of three; sd = 2 x mean": (
        lr.revenue([0.005, 0.005, 0.008], 300, 600), 300, 600, 200_000),
    "6% buy everywhere, the best sells dearer by 15%": (
        lr.revenue(0.06, [50, 50, 50, 57.5], [40, 40, 40, 46]), 50, 40, 150_000),
    "recorded orders of 4% of the visitors, the best larger by 12%": (
        lr.empirical([np.r_[np.zeros(9_600), sizes] for sizes in ORDERS]),
        float(ORDERS[0].mean()), float(ORDERS[0].std()), 400_000),
    "ten options of 3% to 3.9%": (lr.revenue(np.linspace(0.03, 0.039, 10), 30, 40), 30, 40, 200_000),
}  # fmt: skip


def players(bandit: Bandit, sale: float, sd: float) -> dict[str, tuple[Policy, Bandit, bool]]:
    """Return each policy with the rewards it sees, and whether they are clipped to [0, 1]."""
    rate = float(bandit.means.mean()) / sale
    rewards = Sales(rate, sale, sd)
    capped, variance = bandit.scaled(0.0, rewards.cap), float(f"{rewards.sd() ** 2:.4g}")
    return {
        "MOSSV, sales capped": (lr.MOSSV(), capped, True),
        "MOSSV, a sale is 1": (lr.MOSSV(), bandit.scaled(0.0, sale), False),
        "MOSSV, the mean reward is 1": (lr.MOSSV(), bandit.scaled(0.0, rate * sale), False),
        "ThompsonGauss(variance=sd^2)": (lr.ThompsonGauss(variance=variance), bandit, False),
        "BayesUCBGauss(variance=sd^2)": (lr.BayesUCBGauss(variance=variance), bandit, False),
        "ThompsonNormal": (lr.ThompsonNormal(), bandit, False),
        "EpsilonGreedy": (lr.EpsilonGreedy(), bandit, False),
    }


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for name, (bandit, sale, sd, horizon) in TESTBEDS.items():
        uniform = horizon * float(bandit.means.max() - bandit.means.mean())
        print(f"\n{name}, {horizon:,} visitors\n", flush=True)
        for title, (policy, visible, clip) in players(bandit, sale, sd).items():
            problem = Problem(policy, visible, horizon, 1, runs=runs, grid=np.array([horizon]), clip=clip)
            unit = float(np.ptp(bandit.means) / np.ptp(visible.means))
            share = np.sort(run(problem).regret[:, -1]) * unit / uniform
            worst, failed = share[-max(runs // 20, 1) :].mean(), (share >= 1.0).mean()
            error = share.std(ddof=1) / runs**0.5
            print(f"| {title} | {share.mean():.2f} ({error:.2f}) | {worst:.2f} | {failed:.1%} |", flush=True)


if __name__ == "__main__":
    main()
