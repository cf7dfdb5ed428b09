"""Days on which all arms do better: policies with and without ``period``, and what a false assumption costs.

Two shops: rates .10 x4, .12 with 1,000 visitors on 14 days, and .03 x3, .036, .04 with 5,000 on 28 days. A
cell is the share of the runs in which the best arm has most decisions, and the regret with its error.

    python benchmarks/periods.py [--quick] [A] [B]
"""

import numpy as np
from common import Claim, Report, Sheet, arguments, claim_sheet, say, show, write

import lowregret as lr

POLICIES = ("UCB1", "MOSS", "EUCBV", "MOSSV", "ThompsonBeta")
SHOPS = {
    "A": (lr.bernoulli([0.10] * 4 + [0.12]), 1_000, 14),
    "B": (lr.bernoulli([0.03] * 3 + [0.036, 0.04]), 5_000, 28),
}
LEAST_SHARE, MOST_REGRET = 0.93, 1.1
"""What must hold with ``period``: how often the best arm leads, and the regret where nothing varies."""


def patterns(days: int) -> dict[str, dict | None]:
    """Return the arguments of ``lr.rhythm`` by the name of the pattern; None for no variation."""
    return {
        "constant": None,
        "weekend 1.3": {"weekend": 1.3},
        "weekend 1.75": {"weekend": 1.75},
        "rising 0.5 to 1.5": {"trend": (0.5, 1.5), "periods": days},
        "falling 1.5 to 0.5": {"trend": (1.5, 0.5), "periods": days},
        "a day of 3": {"days": {days // 3 + 1: 3.0}},
    }


def played(policy: str, bandit: lr.Bandit, every: int, days: int, period: bool, runs: int) -> dict:
    """Play runs; return how often the best arm leads, and the regret with its error and tail."""
    result = lr.simulate(
        policy, bandit, every * days, runs, 1, grid=1, period=every if period else None, progress=False
    )
    regret, pulls = result.regret(policy), result[policy].pulls
    leads = float((pulls.argmax(axis=1) == bandit.means.argmax()).mean())
    worst = float(np.sort(regret)[-max(runs // 20, 1) :].mean())
    error = float(regret.std(ddof=1) / runs**0.5)
    return {"leads": leads, "regret": float(regret.mean()), "error": error, "worst 5%": worst}


def tables(runs: int, shops: tuple[str, ...]) -> Report:
    """Play every pattern with and without ``period``."""
    sheets, claims, numbers = [], [], []
    for shop in shops:
        bandit, every, days = SHOPS[shop]
        rows = []
        for policy in POLICIES:
            for period in (False, True):
                row = [f"{policy}, period={every}" if period else policy]
                for name, arguments_of in patterns(days).items():
                    say(f"shop {shop}: {row[0]}, {name}")
                    plays_on = lr.rhythm(bandit, every, **arguments_of) if arguments_of else bandit
                    cell = played(policy, plays_on, every, days, period, runs)
                    numbers.append(
                        {
                            "shop": shop,
                            "policy": policy,
                            "period": period,
                            "pattern": name,
                            "runs": runs,
                            **cell,
                        }
                    )
                    row.append(f"{cell['leads']:.3f} / {cell['regret']:.0f} ({cell['error']:.0f})")
                rows.append(tuple(row))
        sheets.append(Sheet(f"Shop {shop}, {runs:,} runs", ("policy", *patterns(days)), rows))
        for policy in POLICIES:
            own = [row for row in numbers if row["shop"] == shop and row["policy"] == policy]
            least = min(row["leads"] for row in own if row["period"])
            claims.append(
                Claim(
                    f"shop {shop}, {policy}: the best arm leads, least of all",
                    least,
                    LEAST_SHARE,
                    at_least=True,
                )
            )
            plain, with_period = (row["regret"] for row in own if row["pattern"] == "constant")
            name = f"shop {shop}, {policy}: regret where nothing varies, relative"
            claims.append(Claim(name, with_period / plain, MOST_REGRET))
    return Report(sheets, claims, numbers)


def crossing(runs: int) -> Sheet:
    """Return what happens where the best arm is another one at the weekend, which the model excludes."""
    means = [[0.10, 0.10, 0.12] if day % 7 < 5 else [0.20, 0.10, 0.12] for day in range(28)]
    bandit = lr.tabulated_drift(lr.bernoulli([0.10, 0.10, 0.12]), means, every=1_000)
    rows = []
    for policy in POLICIES:
        cells = []
        for period in (None, 1_000):
            result = lr.simulate(policy, bandit, 28_000, runs, 1, grid=1, period=period, progress=False)
            regret = result.regret(policy)
            cells.append(f"{regret.mean():.0f} ({regret.std(ddof=1) / runs**0.5:.0f})")
        rows.append((policy, *cells))
    title = f"The first arm is best at weekends, the last one else: regret, {runs:,} runs"
    return Sheet(title, ("policy", "no period", "period=1000"), rows)


def main() -> None:
    options = arguments(__doc__.splitlines()[0], names="shop")
    runs = 20 if options.quick else 1_000
    report = tables(runs, tuple(options.names) or tuple(SHOPS))
    show([*report.sheets, crossing(min(runs, 400)), claim_sheet(report.claims)])
    write("periods", report.numbers)


if __name__ == "__main__":
    main()
