"""What a prior is worth to a plan: what it saves if it is right, and costs if it is wrong."""

from collections.abc import Mapping
from math import sqrt

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret.engine.prior import ArmPrior
from lowregret.environments import Bandit
from lowregret.reporting.number_format import format_number

PRIORS = {"right": 0.0, "wrong by 1 se": 1.0, "wrong by 3 se": 3.0}
"""By how many of its standard errors the prior of the best option is too low."""
PRIOR_ASSUMPTION = (
    "The prior is worth {weight} pulls of each option; where it is wrong, that of the best option is too low "
    "by so many of its standard errors, and the others are right."
)


def prior_of(errors: float, weight: int, bandit: Bandit) -> dict[int, ArmPrior]:
    """Return the true means as priors, the one of the best option too low by some of its standard errors."""
    sds = [None if bandit.binary else float(sd) for sd in np.sqrt(bandit.variances)]
    priors = {
        arm: ArmPrior(float(mean), weight, sd)
        for arm, (mean, sd) in enumerate(zip(bandit.means, sds, strict=True))
    }
    best = int(bandit.means.argmax())
    low = priors[best].mean - errors * float(bandit.variances[best] / weight) ** 0.5
    priors[best] = ArmPrior(max(low, bandit.support[0]), weight, sds[best])
    return priors


def prior_table(policy: str, without: Floats, losses: Mapping[str, Floats]) -> pl.DataFrame:
    """Return what each prior saves, from the losses of the same runs with and without it."""
    rows = []
    for name, loss in losses.items():
        saved = without - loss
        numbers = {"loss": loss.mean(), "saves": saved.mean(), "se": saved.std(ddof=1) / sqrt(len(saved))}
        rows.append({"prior": name, "policy": policy, **numbers})
    return pl.DataFrame(rows)


def describe_prior(table: pl.DataFrame | None, unit: str) -> list[str]:
    """Return what a prior gains and costs, a line each; none where no prior was given."""
    lines = []
    for row in () if table is None else table.to_dicts():
        verb, saved = "saves" if row["saves"] >= 0 else "costs", format_number(abs(row["saves"]))
        words = f"{verb} {row['policy']} {saved} ({format_number(row['se'])}) {unit}"
        lines.append(f"A prior that is {row['prior']} {words}")
    return lines
