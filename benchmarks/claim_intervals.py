"""Judge the paper's claims by bounded intervals in place of Student's, as in docs/paper.md.

python benchmarks/claim_intervals.py FOLDER (that of `lowregret reproduce --runs 100 --seed 1 --out FOLDER`)

Policies with unequal numbers of runs are not paired. There the two bounded intervals are combined by the
root of the sum of squares, an approximation.
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl

import lowregret as lr
from lowregret.analysis.comparison import differences
from lowregret.analysis.intervals import bounded_interval
from lowregret.reproduction import verdicts
from lowregret.results import join

student = verdicts._regrets


def bounded(better, worse, regret, largest, margin):
    """Yield the comparisons of regrets with bounded intervals."""
    pairs = [(regret[one], regret[two]) for one in better.values() for two in worse.values()]
    for comparison, (one, two) in zip(student(better, worse, regret, largest, margin), pairs, strict=True):
        if len(one) == len(two):
            low, high = bounded_interval(differences(pl.Series(one), pl.Series(two)), -largest, largest)
        else:
            sides = [np.abs(np.subtract(bounded_interval(x, 0.0, largest), x.mean())) for x in (one, two)]
            difference = one.mean() - two.mean()
            low = difference - np.hypot(sides[0][0], sides[1][1])
            high = difference + np.hypot(sides[0][1], sides[1][0])
        yield comparison._replace(test=comparison.test._replace(low=float(low), high=float(high)))


def main() -> None:
    folders = sorted(path for path in Path(sys.argv[1], "results").iterdir() if path.is_dir())
    results = join("paper", [lr.open_results(folder) for folder in folders])
    pl.Config.set_tbl_cols(20).set_tbl_width_chars(150)
    for name, regrets in (("Student", student), ("bounded", bounded)):
        verdicts._regrets = regrets
        table = verdicts.group_verdicts(verdicts.claim_comparisons(results))
        print(name, table.filter(pl.col("group") == verdicts.EUCBV_ALONE).row(0)[2:], sep=": ")


if __name__ == "__main__":
    main()
