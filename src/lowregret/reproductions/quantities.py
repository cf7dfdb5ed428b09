"""What a paper reports of runs: a number for each run, and the statistic of these.

mean, sd         of the regret at a time
median, q95      quantiles of the regret
P>100            the share of runs with more regret
regret           of claims: the regret at the horizon
pulls:3          the pulls of an arm, numbered from 0
eliminated       the share of suboptimal arms that were eliminated
lost             the share of runs in which all optimal arms were eliminated
errors           the share of runs in which a suboptimal arm was pulled most
wrong            the share of runs with a wrong recommendation at a time, where recommendations are recorded
module:function  a function of the sheet, of runs and arms, that returns a number for each run, or none
"""

import re
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret.analysis.equivalence import RunEstimate, estimate
from lowregret.analysis.runs import Runs
from lowregret.errors import InputError

QUANTILE = r"median|q0*[1-9]?\d(\.\d+)?"
FUNCTION = r"[^\W\d]\w*:[^\W\d]\w*"
KNOWN = rf"mean|sd|{QUANTILE}|P>\d+(\.\d+)?|regret|pulls:\d+|eliminated|lost|errors|wrong|{FUNCTION}"
QUANTITY_EXAMPLES = (
    "mean, sd, median, q95, P>100, regret, pulls:0, eliminated, lost, errors, wrong or module:function"
)


def check_quantity(quantity: str, arms: int, find: Callable[[str], Callable[..., Any]]) -> None:
    """Reject a quantity that bandits of so many arms do not have; ``find`` finds functions of a sheet."""
    if not re.fullmatch(KNOWN, quantity):
        raise InputError(f"unknown quantity {quantity!r}: use {QUANTITY_EXAMPLES}")
    if quantity.startswith("pulls:") and int(quantity[6:]) >= arms:
        raise InputError(
            f"{quantity!r} is of an arm that is not there: arms are numbered from 0 to {arms - 1}"
        )
    if ":" in quantity and not quantity.startswith("pulls:"):
        find(quantity)


def run_values(
    runs: Runs,
    arms: pl.DataFrame,
    quantity: str,
    find: Callable[[str], Callable[..., Any]],
    t: int | None = None,
) -> Floats:
    """Return a number for each run of a policy in an environment; ``find`` finds functions of a sheet."""
    optimal = arms["optimal"].to_numpy()
    column = -1 if t is None else int(np.searchsorted(runs.grid, t))
    if quantity.startswith("pulls:"):
        return runs.pulls[:, int(quantity[6:])].astype(np.float64)
    if ":" in quantity:
        return np.asarray(find(quantity)(runs, arms), np.float64)
    if quantity == "errors":
        return np.asarray(~optimal[runs.pulls.argmax(axis=1)], np.float64)
    if quantity in ("eliminated", "lost"):
        gone = np.zeros(runs.pulls.shape, bool) if runs.eliminated is None else runs.eliminated > 0
        lost, share = gone[:, optimal].all(axis=1), gone[:, ~optimal].sum(axis=1) / int((~optimal).sum())
        return np.asarray(lost if quantity == "lost" else share, np.float64)
    if quantity == "wrong":
        if runs.loss is None:
            raise InputError("'wrong' needs record_recommendations = true in the experiment file")
        return np.asarray(runs.loss[:, column] > 0.0, np.float64)
    regret = runs.regret[:, column]
    return np.asarray(regret > float(quantity[2:]) if quantity.startswith("P>") else regret, np.float64)


def estimate_quantity(problems: Sequence[Floats], quantity: str) -> RunEstimate:
    """Estimate a quantity from the runs of one problem, or of random problems, which differ independently."""
    statistic = "q50" if quantity == "median" else quantity
    known = re.fullmatch(f"sd|{QUANTILE}", quantity)
    ours = estimate(np.concatenate(problems), statistic if known else "mean")
    if quantity.startswith("P>") and ours.runs > 1:  # a share that no run shows is not certain
        spread = max(ours.spread, sqrt(1.0 / ours.runs))
        ours = ours._replace(spread=spread, se=spread / sqrt(ours.runs))
    if len(problems) > 1:
        between = estimate(np.array([values.mean() for values in problems]))
        ours = ours._replace(se=between.se, freedom=between.freedom)
    return ours


def reward_noise(runs: Runs, arms: pl.DataFrame) -> float:
    """Compute the mean variance of realised regret given the pulls, at the horizon.

    It is the sum over the suboptimal arms of pulls times (variance of the arm + variance of the best arm).
    The covariance with the pseudo-regret is ignored: it is negative, since arms with high rewards by chance
    are pulled more often, so an error is rather too large than too small.
    """
    variance, optimal = arms["variance"].to_numpy(), arms["optimal"].to_numpy()
    return float((runs.pulls @ np.where(optimal, 0.0, variance + variance[optimal][0])).mean())
