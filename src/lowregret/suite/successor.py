"""What the successor, `MOSSV`, must hold on the testbeds of the league, and where it does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import polars as pl

from lowregret.suite.standings import ERRORS, Regrets, difference, resample

SUCCESSOR, ANYTIME = "MOSSV", "MOSSV(anytime=True)"
RIVALS = ("MOSS", "EUCBV", "UCBV")
TAIL_LIMIT, ANYTIME_LIMIT = 1.05, 1.25
HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"

SCHEMA = {
    **dict.fromkeys(("requirement", "half", "testbed", "rival"), pl.String),
    **dict.fromkeys(("value", "low", "high", "limit"), pl.Float64),
    "verdict": pl.String,
}


def checks(regrets: Regrets, halves: Mapping[str, str], family: Collection[str]) -> pl.DataFrame:
    """Check each requirement on every testbed, and the geometric means on each half.

    ``value`` is a ratio of regrets, that of MOSSV to the rival's (or of its anytime form to MOSSV's), with
    its 95% bootstrap interval. *mean*: the paired difference may exceed 0 by at most three standard errors.
    *worst 5%* and *anytime*: the ratio may not exceed the limit; the verdict is inconclusive where the
    interval contains the limit and the estimate exceeds it. *geometric mean*: over the testbeds of a half
    that both played on, against every policy that is not derived from a reward family (``family``).
    """
    rows = [
        {"half": halves[name], "testbed": name, **row}
        for name, found in regrets.items()
        if SUCCESSOR in found
        for row in _on_testbed(found)
    ]
    for half in dict.fromkeys(halves.values()):
        part = {name: found for name, found in regrets.items() if halves[name] == half and SUCCESSOR in found}
        rows += [{"half": half, "testbed": "", **row} for row in _geometric(part, family)]
    return pl.DataFrame(rows, schema=SCHEMA)


def _on_testbed(found: Mapping[str, np.ndarray]) -> Iterator[dict[str, object]]:
    rng = np.random.default_rng(0)
    names = [name for name in (SUCCESSOR, ANYTIME, *RIVALS) if name in found]
    means, tails = resample([found[name] for name in names], rng)
    for rival in RIVALS:
        if rival not in found:
            continue
        excess, error = difference(found[SUCCESSOR], found[rival])
        row = _ratio(means, names.index(SUCCESSOR), names.index(rival), 1.0)
        verdict = HOLDS if excess <= ERRORS * error else FAILS
        yield {"requirement": "mean", "rival": rival, **row, "verdict": verdict}
    if "MOSS" in found:
        row = _ratio(tails, names.index(SUCCESSOR), names.index("MOSS"), TAIL_LIMIT)
        yield {"requirement": "worst 5%", "rival": "MOSS", **row}
    if ANYTIME in found:
        row = _ratio(means, names.index(ANYTIME), names.index(SUCCESSOR), ANYTIME_LIMIT)
        yield {"requirement": "anytime", "rival": SUCCESSOR, **row}


def _ratio(values: np.ndarray, first: int, second: int, limit: float) -> dict[str, object]:
    ratios = values[:, first] / np.maximum(values[:, second], 1e-12)
    low, high = np.quantile(ratios[1:], [0.025, 0.975])
    verdict = HOLDS if ratios[0] <= limit else INCONCLUSIVE if low <= limit else FAILS
    return {
        "value": float(ratios[0]), "low": float(low), "high": float(high), "limit": limit, "verdict": verdict
    }  # fmt: skip


def _geometric(regrets: Regrets, family: Collection[str]) -> Iterator[dict[str, object]]:
    rivals = dict.fromkeys(name for found in regrets.values() for name in found)
    rng = np.random.default_rng(0)
    for rival in rivals:
        if rival in family or rival in (SUCCESSOR, ANYTIME):
            continue
        parts = [
            np.log(np.maximum(resample([found[SUCCESSOR], found[rival]], rng).mean, 1e-12))
            for found in regrets.values()
            if rival in found
        ]
        logs = np.mean([part[:, 0] - part[:, 1] for part in parts], axis=0)
        row = _ratio(np.exp(np.stack([logs, np.zeros_like(logs)], axis=1)), 0, 1, 1.0)
        yield {"requirement": "geometric mean", "rival": rival, **row}


def counted(found: pl.DataFrame) -> pl.DataFrame:
    """Count the verdicts by requirement, rival and half; geometric means are counted over the rivals."""
    everyone = (
        pl.when(pl.col("requirement") == "geometric mean").then(pl.lit("every policy")).otherwise("rival")
    )
    return (
        found.with_columns(rival=everyone)
        .group_by("requirement", "rival", "half", maintain_order=True)
        .agg(
            *(
                (pl.col("verdict") == verdict).sum().alias(verdict)
                for verdict in (HOLDS, INCONCLUSIVE, FAILS)
            ),
            worst=pl.col("value").max(),
            limit=pl.col("limit").first(),
        )
    )
