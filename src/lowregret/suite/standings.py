"""Statistics over testbeds: ranks, relative regrets, wins and performance profiles, with intervals."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret.analysis.summary import TAIL_SHARE, tail_mean

Regrets = Mapping[str, Mapping[str, Floats]]
"""The final regrets of every run, by testbed and policy."""

TESTBED_RESAMPLES, RUN_RESAMPLES = 2_000, 200
"""Bootstrap: resamples of the testbeds, and of the runs of a testbed."""
WIN_ERRORS = 3.0
"""A policy wins where its mean regret is lower by more than this many standard errors."""
FACTORS = tuple(float(f"{factor:.3g}") for factor in np.geomspace(1.0, 10.0, 41))
REFERENCE_POLICY = "MOSS"
"""Regrets are also stated relative to this policy."""


class Resamples(NamedTuple):
    """Mean and tail of the regrets on a testbed, by resample and policy; row 0 has the estimates."""

    mean: Floats
    tail: Floats


def scores(regrets: Floats, uniform: float) -> dict[str, float | int | None]:
    """Summarize the regrets of a policy on a testbed; ``uniform`` is the regret of uniform play."""
    runs = len(regrets)
    return {
        "runs": runs,
        "mean": float(regrets.mean()),
        "se": float(regrets.std(ddof=1) / np.sqrt(runs)) if runs > 1 else None,
        "worst05": tail_mean(regrets),
        "failures": float((regrets >= uniform).mean()),
    }


def standings(regrets: Regrets, policies: Sequence[str], seed: int = 0) -> pl.DataFrame:
    """Compare the policies that played on all of these testbeds, the best first.

    The columns are policy, testbeds; ``rank``, the mean rank by mean regret over the testbeds;
    ``to_best`` and ``to_moss``, the geometric mean of the regret divided by the lowest one and by that of
    MOSS. Each has a 95% interval, from resamples of the testbeds and of the runs on each. Tails are not
    ranked: resamples of few runs do not show how uncertain a tail is.
    """
    from scipy.stats import rankdata

    everywhere = [name for name in policies if all(name in by_policy for by_policy in regrets.values())]
    rng = np.random.default_rng(seed)
    parts = [resample([by_policy[name] for name in everywhere], rng) for by_policy in regrets.values()]
    if not everywhere or not parts:
        return pl.DataFrame(schema={"policy": pl.String, "testbeds": pl.Int64})
    means = np.stack([part.mean for part in parts])
    logs = np.log(np.maximum(means, 1e-12))
    columns = {
        "rank": rankdata(means, axis=-1),
        "to_best": logs - logs.min(axis=2, keepdims=True),
    }
    if REFERENCE_POLICY in everywhere:
        place = everywhere.index(REFERENCE_POLICY)
        columns["to_moss"] = logs - logs[:, :, place : place + 1]
    beds = rng.integers(len(parts), size=(TESTBED_RESAMPLES, len(parts)))
    runs = rng.integers(1, 1 + RUN_RESAMPLES, size=beds.shape)
    table: dict[str, list[str] | Floats | int] = {"policy": everywhere, "testbeds": len(parts)}
    for name, values in columns.items():
        estimate, drawn = values[:, 0].mean(axis=0), values[beds, runs].mean(axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        for column, numbers in ((name, estimate), (f"{name}_low", low), (f"{name}_high", high)):
            table[column] = np.exp(numbers) if name.startswith("to_") else numbers
    return pl.DataFrame(table).cast({"testbeds": pl.Int64}).sort("rank", maintain_order=True)


def resample(regrets: Sequence[Floats], rng: np.random.Generator) -> Resamples:
    """Bootstrap means and tails; policies with equal numbers of runs are resampled together."""
    counts: dict[int, Floats] = {}
    means, tails = [], []
    for values in regrets:
        runs = len(values)
        if runs not in counts:
            drawn = rng.multinomial(runs, np.full(runs, 1.0 / runs), size=RUN_RESAMPLES)
            counts[runs] = np.vstack([np.ones(runs), drawn]).astype(np.float64)
        means.append(counts[runs] @ values / runs)
        order = np.argsort(values)[::-1]
        weights = counts[runs][:, order]
        before = np.cumsum(weights, axis=1) - weights
        kept = np.clip(max(TAIL_SHARE * runs, 1.0) - before, 0.0, weights)
        tails.append(kept @ values[order] / kept.sum(axis=1))
    return Resamples(np.stack(means, axis=1), np.stack(tails, axis=1))


def wins(regrets: Regrets, policies: Sequence[str]) -> pl.DataFrame:
    """Count, for every pair of policies, the testbeds on which either has the lower mean regret.

    The columns are policy, opponent, testbeds (which both played on), wins and losses. A win is a difference
    of more than three standard errors over the runs that both have, which see the same rewards; with few
    runs of so many that it is as unlikely by chance.
    """
    rows = []
    for policy in policies:
        for opponent in policies:
            if policy == opponent:
                continue
            both = [bed for bed in regrets.values() if policy in bed and opponent in bed]
            signs = [sign(bed[policy], bed[opponent]) for bed in both]
            rows.append((policy, opponent, len(both), signs.count(-1), signs.count(1)))
    schema = {"policy": pl.String, "opponent": pl.String} | dict.fromkeys(
        ("testbeds", "wins", "losses"), pl.Int64
    )
    return pl.DataFrame(rows, schema=schema, orient="row")


def difference(first: Floats, second: Floats) -> tuple[float, float]:
    """Return the mean paired difference of regrets over the runs that both have, and its standard error."""
    runs = min(len(first), len(second))
    differences = first[:runs] - second[:runs]
    error = differences.std(ddof=1) / np.sqrt(runs) if runs > 1 else np.inf
    return float(differences.mean()), float(error)


def sign(first: Floats, second: Floats) -> int:
    """Return -1 where the first has the lower mean by more than chance explains, 1 for the second, else 0."""
    mean, error = difference(first, second)
    return 0 if abs(mean) <= _errors(min(len(first), len(second))) * error else (-1 if mean < 0 else 1)


@cache
def _errors(runs: int) -> float:
    """Return the standard errors that Student's t exceeds as rarely as the normal one exceeds 3."""
    from scipy.stats import norm, t

    return float(t.isf(norm.sf(WIN_ERRORS), runs - 1)) if runs > 1 else np.inf


def profiles(regrets: Regrets, policies: Sequence[str]) -> pl.DataFrame:
    """Return the share of testbeds on which a policy has at most a factor times the lowest mean regret.

    The columns are policy, factor and share, over all these testbeds; one without the policy counts against
    it. (Dolan and More, "Benchmarking optimization software with performance profiles", 2002.)
    """
    ratios: dict[str, list[float]] = {policy: [] for policy in policies}
    for by_policy in regrets.values():
        best = min((float(values.mean()) for values in by_policy.values()), default=1.0)
        for policy in policies:
            if policy in by_policy:
                ratios[policy].append(float(by_policy[policy].mean()) / max(best, 1e-12))
    rows = [
        (policy, factor, sum(ratio <= factor * (1 + 1e-9) for ratio in on_beds) / max(len(regrets), 1))
        for policy, on_beds in ratios.items()
        for factor in FACTORS
    ]
    return pl.DataFrame(rows, schema=["policy", "factor", "share"], orient="row")
