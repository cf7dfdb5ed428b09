"""Judge the EUCBV paper's claims by bounded intervals instead of Student's, as in docs/explanation/paper.md.

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
from lowregret.analysis.tables import largest_regrets
from lowregret.reproductions.claims import compare_claims
from lowregret.reproductions.sheet import paper_function, read_sheet
from lowregret.results import join

count_groups = paper_function("eucbv", "report:count_groups")


def bounded(one: np.ndarray, two: np.ndarray, largest: float) -> tuple[float, float]:
    """Return the interval of the difference of two mean regrets between 0 and the largest possible one."""
    if len(one) == len(two):
        return bounded_interval(differences(pl.Series(one), pl.Series(two)), -largest, largest)
    sides = [np.abs(np.subtract(bounded_interval(x, 0.0, largest), x.mean())) for x in (one, two)]
    difference = one.mean() - two.mean()
    low = difference - np.hypot(sides[0][0], sides[1][1])
    return float(low), float(difference + np.hypot(sides[0][1], sides[1][0]))


def main() -> None:
    folders = sorted(path for path in Path(sys.argv[1], "results").iterdir() if path.is_dir())
    results, sheet = join("paper", [lr.open_results(folder) for folder in folders]), read_sheet()
    names = {reading.name: reading.names for reading in sheet.readings}
    largest = largest_regrets(results)
    student = compare_claims(sheet, results)
    rows = []
    for row in student.to_dicts():
        environment = row["environment"]
        if row["fragility"] is not None or row["verdict"] == "inconclusive":
            sides, reading = (row["better"], row["worse"]), names[row["reading"]]
            sides, reading = (row["better"], row["worse"]), names[row["reading"]]
            ours = [sheet.ours(side, environment, reading)[1] for side in sides]
            if all(ours):
                one, two = (results.regret(name, environment) for name in ours)
                low, high = bounded(one, two, largest[environment])
                row["verdict"] = "holds" if high < 0 else "does not hold" if low > 0 else "inconclusive"
        rows.append(row)
    for name, table in (("Student", student), ("bounded", pl.DataFrame(rows, schema=student.schema))):
        counts = count_groups(sheet, table)
        print(name, counts.filter(group="EUCBV against each other policy").row(0)[2:], sep=": ")


if __name__ == "__main__":
    main()
