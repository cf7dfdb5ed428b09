"""Which policy when: plans of typical experiments, with the loss of every policy and of a fixed split.

python benchmarks/which_policy.py [--quick]
"""

from common import Report, Sheet, arguments, markdown, say, show, write

import lowregret as lr

BASE = {"options": 5, "rate": 0.05, "lift": 0.1, "visitors": 20_000, "days": 14, "delay_days": 1.0}
CASES = {
    "five options, 5% ± 0.5%, 20,000 visitors a day, 14 days, delay 1 day": {},
    "two options": {"options": 2},
    "twenty options": {"options": 20},
    "few visitors: 500 a day": {"visitors": 500},
    "rare conversions: 0.5% ± 0.05%": {"rate": 0.005},
    "large differences: 5% ± 1.5%": {"lift": 0.3},
    "no delay": {"delay_days": 0.0},
    "delay of 5 of the 14 days": {"delay_days": 5.0},
    "delay of 10 of the 14 days": {"delay_days": 10.0},
}
"""What differs from the first case."""


def benchmark(quick: bool) -> Report:
    """Make all plans."""
    rows, numbers, policies = [], [], []
    for case, change in CASES.items():
        say(case)
        found = lr.plan(**{**BASE, **change}, runs=10 if quick else 100)
        losses = {row["policy"]: row for row in found.table.to_dicts()}
        policies = policies or [name for name in losses if name not in ("fixed split", "present option")]
        split = losses["fixed split"]["loss"]
        shares = [f"{losses[name]['loss'] / split:.0%}" for name in policies]
        rows.append((case, *shares, f"{split:,.0f}", f"{found.power:.0%}", found.recommended))
        numbers.append({"case": case, **found.to_dict()})
    columns = ("experiment", *policies, "lost by a fixed split", "its power", "use")
    return Report([Sheet("Loss, as a share of that of a fixed split", columns, rows)], [], numbers)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = benchmark(options.quick)
    show(report.sheets)
    print(markdown(report.sheets[0]))
    write("which_policy", report.numbers)


if __name__ == "__main__":
    main()
