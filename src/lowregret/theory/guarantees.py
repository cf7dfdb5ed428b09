"""What theory says of an environment and a horizon: ``bounds``, and the facts they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import e, inf, log, sqrt
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.validation import LONGEST, whole
from lowregret.environments import (
    Bandit,
    entry_of,
    environment,
)
from lowregret.errors import InputError
from lowregret.reproduction.lemmas import elimination_round, last_round
from lowregret.theory import bounds as theory
from lowregret.theory.bounds import Line
from lowregret.theory.table_1 import table_1

KNOWN, UNKNOWN = "variances known", "variances unknown"
SCHEMA = {
    "name": pl.String,
    "kind": pl.String,
    "formula": pl.String,
    "value": pl.Float64,
    "rest": pl.String,
    "note": pl.String,
}


def bounds(bandit: Bandit | str, horizon: int | None = None) -> pl.DataFrame:
    """Give what theory says of the regret: the EUCBV paper's bounds and orders, and the lower bound.

    Parameters
    ----------
    bandit : Bandit or str
        The environment, or its text such as ``"paper-1"``.
    horizon : int, optional
        The number of pulls; the environment's own if it has one.

    Returns
    -------
    polars.DataFrame
        One row for each statement: ``name``, ``kind`` (part of a bound, order without constant, lower bound),
        ``formula`` (T the horizon, K the number of arms, D the smallest gap, S the largest variance),
        ``value``, ``rest`` (terms with constants that the paper leaves open) and ``note``.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.bounds("paper-1").select("name", "kind", "note").row(0)
    ('Theorem 1', 'part of a bound', 'vacuous: above T x largest gap')
    """
    bandit, horizon = settled("bounds", bandit, horizon)
    lines = [_theorem_1(bandit, horizon), _corollary_1(bandit, horizon), *_lai_robbins(bandit, horizon)]
    lines += table_1(bandit.gaps.tolist(), bandit.variances.tolist(), horizon)
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


def facts(bandit: Bandit | str, horizon: int | None = None) -> dict[str, Any]:
    """Give the numbers that the bounds are made of, as plain data.

    Parameters
    ----------
    bandit, horizon
        As in ``bounds``.

    Returns
    -------
    dict
        Among others ``H_1``, the constant of Lai and Robbins (variances known), and for each distinct gap
        ``H_i`` and the round m_i by which the paper's proof has such an arm eliminated, which means nothing
        after ``last_round``. What is not defined is None.

    Examples
    --------
    >>> from lowregret.theory.guarantees import facts
    >>> known = facts("bernoulli:0.25,0.5,0.75", 1_000)
    >>> known["arms"], known["H_1"], known["uniform_regret"], known["groups"][1]
    (3, 36.0, 250.0, {'gap': 0.25, 'arms': 1, 'H_i': 36.0, 'round': 11})
    """
    bandit, horizon = settled("bounds", bandit, horizon)
    gaps = bandit.gaps.tolist()
    low, high = bandit.support
    near = theory.positive(gaps)
    return {
        "environment": bandit.name,
        "horizon": horizon,
        "arms": len(bandit),
        "best_mean": float(bandit.means.max()),
        "smallest_gap": min(near, default=None),
        "largest_gap": max(near, default=None),
        "largest_variance": float(bandit.variances.max()),
        "H_1": _finite(theory.hardness_1(gaps)),
        "lai_robbins": next(iter(_constants(bandit).values())),
        "uniform_regret": theory.uniform_regret(gaps, horizon),
        "worst_regret": theory.worst_regret(gaps, horizon),
        "least_horizon": len(bandit) ** 2.4,
        "last_round": last_round(horizon),
        "rewards_in_unit": low >= 0.0 and high <= 1.0,
        "groups": _groups(gaps),
    }


def settled(owner: str, bandit: Bandit | str, horizon: int | None) -> tuple[Bandit, int]:
    """Give the bandit that a text names, and the horizon or else the bandit's own."""
    bandit = environment(bandit)
    horizon = bandit.horizon if horizon is None else horizon
    if horizon is None:
        raise InputError(f"{owner}: give a horizon, since {bandit.name!r} has none of its own")
    return bandit, whole(owner, "horizon", horizon, LONGEST)


def _groups(gaps: Sequence[float]) -> list[dict[str, Any]]:
    hardness = theory.hardness(gaps)
    distinct, first, counts = np.unique(gaps, return_index=True, return_counts=True)
    return [
        {
            "gap": float(gap),
            "arms": int(count),
            "H_i": _finite(hardness[place]) if hardness else None,
            "round": elimination_round(gap) if gap > 0.0 else None,
        }
        for gap, place, count in zip(distinct.tolist(), first.tolist(), counts.tolist(), strict=True)
    ]


def _theorem_1(bandit: Bandit, horizon: int) -> Line:
    gaps = bandit.gaps.tolist()
    known, c_0, c_2 = theory.theorem_1(gaps, bandit.variances.tolist(), horizon)
    rest = [f"{factor:,.6g} C_{place}" for place, factor in ((0, c_0), (2, c_2)) if factor > 0.0]
    notes = [_vacuous(known, c_0 + c_2, "C_0, C_2", bandit, horizon), *_assumptions(bandit, horizon)]
    short = sum(sqrt(e / horizon) < gap < sqrt(len(gaps) / horizon) for gap in gaps)
    if short:
        notes.append(f"log(T D_i^2 / K) is negative for {short} of the arms")
    formula = (
        "sum over D_i > b of (C_0 K^4 / T^(1/4) + D_i + 320 s_i^2 log(T D_i^2 / K) / D_i) "
        "+ sum over 0 < D_i <= b of C_2 K^4 / T^(1/4) + T max D_i <= b, with b = sqrt(e / T)"
    )
    return Line("Theorem 1", "part of a bound", formula, known, _plus(rest), _join(notes))


def _corollary_1(bandit: Bandit, horizon: int) -> Line:
    known, c_3 = theory.corollary_1(len(bandit), horizon)
    notes = [_vacuous(known, c_3, "C_3", bandit, horizon), *_assumptions(bandit, horizon)]
    notes.append(
        "stated for equal gaps of sqrt(K log K / T)" if len(bandit) > 2 else "stated for 3 arms or more"
    )
    formula = "C_3 K^5 / T^(1/4) + 80 sqrt(K T)"
    return Line("Corollary 1", "part of a bound", formula, known, _plus([f"{c_3:,.6g} C_3"]), _join(notes))


def _vacuous(known: float, factor: float, names: str, bandit: Bandit, horizon: int) -> str:
    """Judge a bound whose constants are open: by what is known, else as if they were 1, the least."""
    gaps = bandit.gaps.tolist()
    words = theory.vacuity(known, gaps, horizon)
    if words.startswith("vacuous") or factor == 0.0:
        return words
    least = theory.vacuity(known + factor, gaps, horizon)
    return f"{least} for all {names} >= 1" if least else ""


def _assumptions(bandit: Bandit, horizon: int) -> list[str]:
    """Say which assumptions of the paper do not hold."""
    low, high = bandit.support
    broken = []
    if horizon < len(bandit) ** 2.4:
        broken.append("assumes T >= K^2.4, which is not so")
    if low < 0.0 or high > 1.0:
        broken.append("assumes rewards in [0, 1], which is not so")
    if bandit.optimal.sum() > 1:
        broken.append("assumes one optimal arm, which is not so")
    return broken


def _lai_robbins(bandit: Bandit, horizon: int) -> list[Line]:
    uniform = theory.uniform_regret(bandit.gaps.tolist(), horizon)
    lines = []
    for name, constant in _constants(bandit).items():
        value = None if constant is None else constant * log(horizon)
        notes = ["asymptotic" if value is not None else "no formula for the family of some arm"]
        if value is not None and value > uniform:
            notes.append("above uniform play's regret: the horizon is too short for it")
        formula = "log(T) sum of D_i / (divergence of arm i from the best mean)"
        lines.append(Line(name, "lower bound", formula, value, note=_join(notes)))
    return lines


def _constants(bandit: Bandit) -> dict[str, float | None]:
    """Compute the constant of Lai and Robbins, twice where it matters whether variances are known."""
    entries = [entry_of(arm) for arm in bandit.arms]
    known = [entry.divergence for entry in entries]
    kinds = {"Lai and Robbins": known}
    if any(entry.divergence_unknown_variance for entry in entries):
        unknown = [entry.divergence_unknown_variance or entry.divergence for entry in entries]
        kinds = {f"Lai and Robbins, {KNOWN}": known, f"Lai and Robbins, {UNKNOWN}": unknown}
    best, gaps = float(bandit.means.max()), bandit.gaps.tolist()
    constants: dict[str, float | None] = {}
    for name, divergences in kinds.items():
        values = [
            divergence(arm, best) if gap > 0.0 else 0.0
            for arm, divergence, gap in zip(bandit.arms, divergences, gaps, strict=True)
        ]
        found = [value for value in values if value is not None]
        constants[name] = theory.lai_robbins(gaps, found) if len(found) == len(values) else None
    return constants


def _plus(terms: list[str]) -> str:
    return "".join(f"+ {term} " for term in terms).strip()


def _join(notes: list[str]) -> str:
    return "; ".join(note for note in notes if note)


def _finite(value: float | None) -> float | None:
    return None if value is None or value == inf else value
