"""How often and when an agent notices that rewards move between days, and how often it says so falsely.

The shops and patterns of ``periods.py``. The test is looked at on every evening. A cell is the share of the
runs in which it has ever said so, and the median day of these. False alarms are played with equal arms too.

    python benchmarks/period_variation.py [--quick] [A] [B]
"""

from math import log

import numpy as np
from common import Claim, Report, Sheet, arguments, claim_sheet, say, show, write
from periods import SHOPS, patterns

import lowregret as lr
from lowregret.analysis.period_variation import log_evidence
from lowregret.online.arm_summary import ERROR_RATE

POLICIES = ("UCB1", "MOSSV", "ThompsonBeta")


def first_alarm(policy: str, bandit: lr.Bandit, every: int, days: int, run: int) -> int:
    """Play a run; return the first day on whose evening the test says that rewards move, 0 if none."""
    path = lr.trace(policy, bandit, every * days, seed=1, run=run)
    counts, totals = np.zeros((2, len(bandit.means), days))
    day = np.arange(every * days) // every
    np.add.at(counts, (path.arm, day), 1.0)
    np.add.at(totals, (path.arm, day), path.reward)
    evenings = range(2, days + 1)
    return next(
        (end for end in evenings if log_evidence(counts[:, :end], totals[:, :end]) >= log(1 / ERROR_RATE)), 0
    )


def played(policy: str, bandit: lr.Bandit, every: int, days: int, runs: int) -> dict:
    """Play runs; return the share of those with an alarm, and its median day."""
    alarms = np.array([first_alarm(policy, bandit, every, days, run) for run in range(runs)])
    noticed = alarms > 0
    return {
        "share": float(noticed.mean()),
        "day": float(np.median(alarms[noticed])) if noticed.any() else None,
    }


def tables(runs: int, false_runs: int, shops: tuple[str, ...]) -> Report:
    """Play every pattern."""
    sheets, claims, numbers = [], [], []
    for shop in shops:
        bandit, every, days = SHOPS[shop]
        equal = lr.bernoulli([float(bandit.means[0])] * len(bandit.means))
        bandits = {"equal arms": equal, "constant": bandit} | {
            name: lr.rhythm(bandit, every, **options) for name, options in patterns(days).items() if options
        }
        rows = []
        for policy in POLICIES:
            cells = []
            for name, plays_on in bandits.items():
                say(f"shop {shop}: {policy}, {name}")
                varies = name not in ("equal arms", "constant")
                size = runs if varies else false_runs
                cell = played(policy, plays_on, every, days, size)
                numbers.append({"shop": shop, "policy": policy, "pattern": name, "runs": size, **cell})
                cells.append(f"{cell['share']:.3f}" + (f" / {cell['day']:.0f}" if cell["day"] else ""))
                if not varies:
                    claims.append(
                        Claim(f"shop {shop}, {policy}, {name}: false alarms", cell["share"], ERROR_RATE)
                    )
            rows.append((policy, *cells))
        sizes = f"{runs:,} runs, {false_runs:,} without variation"
        title = f"Shop {shop}: share of the runs with an alarm / its median day, {sizes}"
        sheets.append(Sheet(title, ("policy", *bandits), rows))
    return Report(sheets, claims, numbers)


def main() -> None:
    options = arguments(__doc__.splitlines()[0], names="shop")
    sizes = (10, 10) if options.quick else (300, 1_000)
    report = tables(*sizes, tuple(options.names) or tuple(SHOPS))
    show([*report.sheets, claim_sheet(report.claims)])
    write("period_variation", report.numbers)


if __name__ == "__main__":
    main()
