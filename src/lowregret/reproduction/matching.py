"""Whether a policy reproduces a published curve: a test of equivalence at all published points.

The published value is the mean of 100 runs of unknown variance, rounded to 0.01. If a policy produced the
curve, this variance can be estimated from our runs of the policy. Published regret is realised: the reward of
the best arm minus the reward received. Its variance is that of our pseudo-regret plus that of the noise,
which at the horizon is the sum over the suboptimal arms of pulls times (variance of the arm + variance of
the best arm); at earlier times we take it as proportional to the mean regret. The covariance of the two is
ignored. It is negative, since arms with high rewards by chance are pulled more often, so the standard error
is rather too large than too small.

A policy *matches* a curve if at every published point the 90% interval of the difference of the two means
lies within 5% of the published value: two one-sided tests of level 5% at each point, and an error rate of at
most 5% for the curve, since all points must pass. It *does not match* if at some point the interval lies
outside the 5%, at a joint level of 95% for all points (Bonferroni). Otherwise the comparison is
*inconclusive*. The interval contains the errors of both means and the rounding. The margin of 5% is ours.
Levels are those of one curve. They are not adjusted for the 30 curves.
"""

from typing import Any

import numpy as np
import polars as pl

from lowregret.analysis.comparison import INCONCLUSIVE
from lowregret.reproduction.plotted import CURVES, Curve
from lowregret.reproduction.published import PUBLISHED_RUNS, REGRETS, TIMES
from lowregret.reproduction.stated import UNIFORM_PLAY
from lowregret.results import Results

MATCHED, NOT_MATCHED = "matched", "not matched"
"""The verdicts on a published curve, beside `INCONCLUSIVE`."""

MARGIN = 5.0
"""The margin of equivalence, in percent of the published regret."""
LEVEL = 0.05
"""The level of each one-sided test of equivalence, and of all tests of a difference together."""
ROUNDING = 0.005

_OF_CURVE = ("experiment", "policy", "our_policy", "environment", "read", "inferred", "chosen")
_KEYS = ("experiment", "policy", "candidate")
_MATCH_SCHEMA = {
    "experiment": pl.Int64,
    "policy": pl.String,
    "our_policy": pl.String,
    "environment": pl.String,
    "read": pl.String,
    "inferred": pl.String,
    "chosen": pl.Boolean,
    "runs": pl.Int64,
    "published": pl.Float64,
    "published_se": pl.Float64,
    "mean": pl.Float64,
    "se": pl.Float64,
    "percent": pl.Float64,
    "within": pl.Float64,
    "verdict": pl.String,
    "discriminates": pl.Boolean,
    "others": pl.Int64,
    "others_matched": pl.Int64,
    "others_not_excluded": pl.Int64,
    "which": pl.String,
    "reason": pl.String,
}


def candidate_points(results: Results, curves: pl.DataFrame) -> pl.DataFrame:
    """Compare every policy that played on the testbed of a curve with the curve, at every published point.

    ``percent`` is the difference of its mean from the published value, ``low`` and ``high`` its 90% interval,
    ``within`` the largest absolute value of that, ``beyond`` the smallest one of the joint 95% interval.
    """
    points = pl.DataFrame(
        [
            (curve.experiment, curve.policy, curve.environment, t, regret)
            for curve in CURVES
            for t, regret in zip(
                TIMES[curve.experiment], REGRETS[curve.experiment][curve.policy], strict=True
            )
        ],
        schema=["experiment", "policy", "environment", "t", "published"],
        orient="row",
    )
    simulated = curves.rename({"policy": "candidate"})
    simulated = simulated.select("environment", "candidate", "t", "runs", "mean", "se")
    joined = points.join(simulated, on=["environment", "t"], maintain_order="left_right")
    return with_intervals(joined.join(_noise(results), on=["environment", "candidate"], how="left"))


def judge_candidates(points: pl.DataFrame) -> pl.DataFrame:
    """Decide for every policy that played on the testbed of a curve whether it matches the curve."""
    verdict = (
        pl.when(pl.col("within").is_null())
        .then(pl.lit(INCONCLUSIVE))
        .when(pl.col("within") <= MARGIN)
        .then(pl.lit(MATCHED))
        .when(pl.col("beyond") > MARGIN)
        .then(pl.lit(NOT_MATCHED))
        .otherwise(pl.lit(INCONCLUSIVE))
    )
    worst = points.group_by(_KEYS, maintain_order=True).agg(
        pl.col("within", "beyond", "reach").max(),
        complete=pl.col("within").is_not_null().all(),
        **{
            name: pl.col(name).last()
            for name in ("runs", "published", "published_se", "mean", "se", "percent")
        },
    )
    return worst.with_columns(within=pl.when("complete").then("within")).with_columns(verdict=verdict)


def match_curves(points: pl.DataFrame) -> pl.DataFrame:
    """Decide for each published curve whether its configuration reproduces it, and whether others do.

    ``within`` is the smallest margin by which the curve would be matched. ``others`` counts the other
    policies on the same testbed. A match *discriminates* if all of them are excluded.
    """
    judged = judge_candidates(points)
    rows = []
    for curve in CURVES:
        candidates = judged.filter(experiment=curve.experiment, policy=curve.policy)
        others = candidates.filter(pl.col("candidate") != curve.our_policy)
        rows += [
            _match(curve, own, others) for own in candidates.filter(candidate=curve.our_policy).to_dicts()
        ]
    return pl.DataFrame(rows, schema=_MATCH_SCHEMA)


def compare_points(points: pl.DataFrame) -> pl.DataFrame:
    """Select the configurations of the curves from the table of `candidate_points`."""
    own = pl.DataFrame(
        [(curve.experiment, curve.policy, curve.our_policy) for curve in CURVES], schema=_KEYS, orient="row"
    )
    numbers = ("published", "published_se", "mean", "se", "percent", "low", "high")
    chosen = points.join(own, on=_KEYS, how="semi", maintain_order="left")
    return chosen.select("experiment", "policy", "t", *numbers)


def with_intervals(points: pl.DataFrame) -> pl.DataFrame:
    """Add the standard error of the published mean, and intervals of the difference in percent."""
    from scipy.special import stdtrit

    horizon = pl.col("mean").last().over(_KEYS)
    noise = pl.when(horizon > 0).then(pl.col("noise") * pl.col("mean") / horizon).otherwise("noise")
    variance = pl.col("se") ** 2 * pl.col("runs")
    points = points.with_columns(published_se=((variance + noise) / PUBLISHED_RUNS).sqrt(), count=_count())
    freedom, count = points["runs"].to_numpy() - 1.0, points["count"].to_numpy()
    factors = pl.DataFrame({
        "one": stdtrit(np.maximum(freedom, 1.0), 1.0 - LEVEL),
        "all": stdtrit(np.maximum(freedom, 1.0), 1.0 - LEVEL / (2 * count)),
    })  # fmt: skip
    percent = 100.0 / pl.col("published")
    error = (pl.col("se") ** 2 + pl.col("published_se") ** 2).sqrt()
    difference = pl.col("mean") - pl.col("published")
    table = points.hstack(factors).with_columns(
        percent=(difference * percent).round(9),
        half=(pl.col("one") * error + ROUNDING) * percent,
        joint=(pl.col("all") * error + ROUNDING) * percent,
        fixed=(pl.col("one") * pl.col("published_se") + ROUNDING) * percent,
        published_se=pl.col("published_se").round(9),
        mean=pl.col("mean").round(9),  # a sum of equal gaps differs from their product in the last bits
        se=pl.col("se").round(9),
    )
    size = pl.col("percent").abs()
    return table.with_columns(
        low=pl.col("percent") - pl.col("half"),
        high=pl.col("percent") + pl.col("half"),
        within=size + pl.col("half"),
        beyond=size - pl.col("joint"),
        reach=size + pl.col("fixed"),
    ).drop("count", "one", "all", "half", "joint", "fixed", "noise")


def _count() -> pl.Expr:
    return pl.col("experiment").replace_strict({number: len(times) for number, times in TIMES.items()})


def _match(curve: Curve, own: dict[str, Any], others: pl.DataFrame) -> dict[str, Any]:
    verdict = own["verdict"]
    not_excluded = others.filter(pl.col("verdict") != NOT_MATCHED).sort("verdict", descending=True).to_dicts()
    which = [
        _shown(row["candidate"]) + (" (matches)" if row["verdict"] == MATCHED else "") for row in not_excluded
    ]
    match = {name: getattr(curve, name) for name in _OF_CURVE}
    match["published"] = REGRETS[curve.experiment][curve.policy][-1]
    match |= {name: own[name] for name in ("runs", "published_se", "mean", "se", "percent", "within")}
    return match | {
        "verdict": verdict,
        "discriminates": not not_excluded if verdict == MATCHED else None,
        "others": len(others),
        "others_matched": others.filter(verdict=MATCHED).height,
        "others_not_excluded": len(not_excluded),
        "which": ", ".join(which),
        "reason": _reason(curve, own, verdict),
    }


def _shown(policy: str) -> str:
    return UNIFORM_PLAY if policy == "RoundRobin" else policy


def _reason(curve: Curve, own: dict[str, Any], verdict: str) -> str:
    if verdict == MATCHED:
        return ""
    if verdict == NOT_MATCHED:
        return curve.deviation or "no reason is known"
    if own["within"] is None:
        return "one run has no standard error"
    result = "no difference is found"
    if own["beyond"] > 0.0:
        result = f"a difference is found ({curve.deviation or 'no reason is known'})"
    if own["reach"] > MARGIN:
        return f"{result}; the published mean of 100 runs is too imprecise to decide, whatever our runs are"
    return f"{result}; our mean is too imprecise to decide, and more runs may"


def _noise(results: Results) -> pl.DataFrame:
    """Compute the mean variance of realised regret given the pulls, by environment and policy."""
    best = pl.col("variance").filter("optimal").first().over("environment")
    arms = results.arms.with_columns(both=best + pl.col("variance")).filter(~pl.col("optimal"))
    # In a fixed order, since sums of floats depend on it.
    noise = results.pulls.join(
        arms.select("environment", "arm", "both"), on=["environment", "arm"], maintain_order="left"
    )
    runs = noise.group_by("environment", "policy", "run", maintain_order=True).agg(
        noise=(pl.col("pulls") * pl.col("both")).sum()
    )
    means = runs.group_by("environment", "policy", maintain_order=True).agg(pl.col("noise").mean())
    return means.rename({"policy": "candidate"})
