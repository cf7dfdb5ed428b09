"""How often ordinary 95% intervals contain the mean of an arm after a run, as in docs/evidence/league.md.

python benchmarks/stability.py [RUNS]

Ten equal arms, so all have the same numbers; and one better arm, with intervals of it and of a worse one. In
brackets: coverage with the pulls of another run, which do not depend on the rewards.
"""

import sys

import lowregret as lr
from lowregret.suite.stability import stability

BANDITS = {"ten equal arms": lr.bernoulli([0.5] * 10), "one better by 0.05": lr.bernoulli([0.5] * 9 + [0.55])}
POLICIES = ("RoundRobin", "UCB1", "EUCBV", "MOSS", "ThompsonBeta", "KLMOSS", "MOSSV")
HORIZON = 10_000


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    print(f"{runs:,} runs, standard error of 95%: {(0.95 * 0.05 / runs) ** 0.5:.2%}\n")
    print("| bandit | policy | covers best | covers worst | bias of worst | spread of its pulls |")
    print("|---|---|---|---|---|---|")
    for name, bandit in BANDITS.items():
        result = lr.simulate(POLICIES, bandit, HORIZON, runs, seed=1, grid=1, threads=1, progress=False)
        table = stability(bandit, 1, {policy: result[policy].pulls for policy in POLICIES})
        for policy, row in table.items():
            cells = [f"{row[f'cover_{arm}']:.1%} ({row[f'fixed_{arm}']:.1%})" for arm in ("best", "worst")]
            cells += [f"{row['bias_worst']:.3f}", f"{row['spread_worst']:.2f}"]
            print(f"| {name} | {policy} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
