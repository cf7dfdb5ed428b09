"""The public ``bounds``: regret bounds for an environment and a horizon, and Table 1 of the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import e, inf, isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lowregret._common.validation import MAX_HORIZON, integer
from lowregret.environments import Bandit, DriftingBandit, entry_of, environment
from lowregret.errors import InputError
from lowregret.theory import formulas
from lowregret.theory.formulas import Kind, Statement, hardness, positive_gaps

ORDER: Kind = "order without constant"


class Terms(NamedTuple):
    """The quantities in the formulas of Table 1."""

    T: int  # the horizon
    K: int  # the number of arms
    D: float  # the smallest gap
    S: float  # the largest variance
    H: float  # H_i of an arm with the smallest gap, which is H_1


class Order(NamedTuple):
    """A gap-dependent entry: the factor of its logarithm, and the argument of the logarithm."""

    formula: str
    factor: Callable[[Terms], float]
    argument: Callable[[Terms], float]


GAP_DEPENDENT = {
    "EUCBV": Order("K S log(T D^2 / K) / D", lambda x: x.K * x.S / x.D, lambda x: x.T * x.D**2 / x.K),
    "UCB1": Order("K log(T) / D", lambda x: x.K / x.D, lambda x: x.T),
    "UCBV": Order("K S log(T) / D", lambda x: x.K * x.S / x.D, lambda x: x.T),
    "UCBImproved": Order("K log(T D^2) / D", lambda x: x.K / x.D, lambda x: x.T * x.D**2),
    "MOSS": Order("K^2 log(T D^2 / K) / D", lambda x: x.K**2 / x.D, lambda x: x.T * x.D**2 / x.K),
    "OCUCB": Order("K log(T / H_1) / D", lambda x: x.K / x.D, lambda x: x.T / x.H),
}
"""The column "Gap-Dependent". OCUCB's entry does not specify the arm i of H_i; ours has the smallest gap."""

GAP_INDEPENDENT: dict[str, tuple[str, Callable[[int, int], float]]] = {
    "EUCBV": ("sqrt(K T)", lambda T, K: sqrt(K * T)),
    "UCB1": ("sqrt(K T log T)", lambda T, K: sqrt(K * T * log(T))),
    "UCBV": ("sqrt(K T log T)", lambda T, K: sqrt(K * T * log(T))),
    "UCBImproved": ("sqrt(K T log K)", lambda T, K: sqrt(K * T * log(K))),
    "MOSS": ("sqrt(K T)", lambda T, K: sqrt(K * T)),
    "OCUCB": ("sqrt(K T)", lambda T, K: sqrt(K * T)),
}


def table_1(gaps: Sequence[float], variances: Sequence[float], horizon: int) -> list[Statement]:
    """Evaluate every entry of Table 1 for one problem: orders, since the table has no constants."""
    near, h = positive_gaps(gaps), hardness(gaps)
    terms = [Terms(horizon, len(gaps), min(near), float(max(variances)), max(h))] if near else []
    rows = [
        _gap_dependent(policy, order.formula, [(order.factor(x), order.argument(x)) for x in terms])
        for policy, order in GAP_DEPENDENT.items()
    ]
    # The text of the paper states the order of OCUCB with one logarithm per arm.
    by_arm = [(1.0 / gap, horizon / h_i) for gap, h_i in zip(gaps, h or gaps, strict=True) if gap > 0.0]
    rows.append(_gap_dependent("OCUCB", "sum of log(T / H_i) / D_i", by_arm, ", by arm"))
    return rows + [
        Statement(f"{policy}, gap-independent", ORDER, formula, value(horizon, len(gaps)))
        for policy, (formula, value) in GAP_INDEPENDENT.items()
    ]


def _gap_dependent(policy: str, formula: str, terms: list[tuple[float, float]], form: str = "") -> Statement:
    """Sum terms, each a factor times the logarithm of an argument."""
    name = f"{policy}, gap-dependent{form}"
    if not terms:
        return Statement(name, ORDER, formula, None, note="all arms are optimal")
    # The square of a tiny gap is 0.
    value = sum(factor * (log(x) if x > 0.0 else -inf) for factor, x in terms)
    negative = min(x for _, x in terms) < 1.0
    note = "the horizon is too short: a logarithm is negative" if negative else ""
    return Statement(name, ORDER, formula, value if isfinite(value) else None, note=note)


SCHEMA = {name: pl.Float64 if name == "value" else pl.String for name in Statement._fields}


def bounds(bandit: Bandit | str, horizon: int | None = None) -> pl.DataFrame:
    """Compute the bounds and orders of the EUCBV paper, and two lower bounds.

    The lower bounds are those of Lai and Robbins (1985), asymptotic in the horizon, and of Garivier, Menard
    and Stoltz (2019), for the given horizon.

    Parameters
    ----------
    bandit : Bandit or str
        The environment, or a string that names it such as ``"paper-1"``.
    horizon : int, optional
        The number of pulls; default: the horizon of the environment, if it has one.

    Returns
    -------
    polars.DataFrame
        One row per statement: ``name``, ``kind`` (part of a bound, order without constant, lower bound),
        ``formula`` (T the horizon, K the number of arms, D the smallest gap, S the largest variance),
        ``value``, ``rest`` (terms whose constants the paper does not state as numbers) and ``note``.
        Theorem 1 is stated for every b >= sqrt(e / T); its value is for b = sqrt(e / T) alone.

    Examples
    --------
    >>> lr.bounds("paper-1").select("name", "kind", "rest").row(0)
    ('Theorem 1', 'part of a bound', '+ 194,239 C_0')
    """
    bandit, horizon = resolve_problem("bounds", bandit, horizon)
    statements = [_theorem_1(bandit, horizon), _corollary_1(bandit, horizon), *_lower_bounds(bandit, horizon)]
    statements += table_1(bandit.gaps.tolist(), bandit.variances.tolist(), horizon)
    return pl.DataFrame(statements, schema=SCHEMA, orient="row")


def problem_constants(bandit: Bandit | str, horizon: int | None = None) -> dict[str, Any]:
    """Compute the constants in the bounds of a problem; ``groups`` has those of each distinct gap."""
    bandit, horizon = resolve_problem("bounds", bandit, horizon)
    gaps = bandit.gaps.tolist()
    low, high = bandit.support
    near = formulas.positive_gaps(gaps)
    divergences = next(iter(_divergences(bandit).values()))
    return {
        "environment": bandit.name,
        "horizon": horizon,
        "arms": len(bandit),
        "best_mean": float(bandit.means.max()),
        "smallest_gap": min(near, default=None),
        "largest_gap": max(near, default=None),
        "largest_variance": float(bandit.variances.max()),
        "H_1": _unless_infinite(formulas.hardness_1(gaps)),
        "lai_robbins": None if divergences is None else formulas.lai_robbins(gaps, divergences),
        "uniform_regret": formulas.uniform_regret(gaps, horizon),
        "worst_regret": formulas.worst_regret(gaps, horizon),
        "least_horizon": len(bandit) ** 2.4,
        "last_round": formulas.last_round(horizon),
        "rewards_in_unit": low >= 0.0 and high <= 1.0,
        "groups": _gap_groups(gaps),
    }


def resolve_problem(owner: str, bandit: Bandit | str, horizon: int | None) -> tuple[Bandit, int]:
    """Return the bandit that a string names, and the horizon or else that of the bandit."""
    bandit = environment(bandit)
    if isinstance(bandit, DriftingBandit):
        raise InputError(f"{owner}: the means of {bandit.name!r} change, and no bound is known for that")
    horizon = bandit.horizon if horizon is None else horizon
    if horizon is None:
        raise InputError(f"{owner}: horizon is required, since {bandit.name!r} has none of its own")
    return bandit, integer(owner, "horizon", horizon, MAX_HORIZON)


def _gap_groups(gaps: Sequence[float]) -> list[dict[str, Any]]:
    hardness = formulas.hardness(gaps)
    distinct, first, counts = np.unique(gaps, return_index=True, return_counts=True)
    return [
        {
            "gap": float(gap),
            "arms": int(count),
            "H_i": _unless_infinite(hardness[place]) if hardness else None,
            "round": formulas.elimination_round(gap) if gap > 0.0 else None,
        }
        for gap, place, count in zip(distinct.tolist(), first.tolist(), counts.tolist(), strict=True)
    ]


def _theorem_1(bandit: Bandit, horizon: int) -> Statement:
    gaps = bandit.gaps.tolist()
    value, c_0, c_2 = formulas.theorem_1(gaps, bandit.variances.tolist(), horizon)
    terms = [f"{factor:,.6g} C_{place}" for place, factor in ((0, c_0), (2, c_2)) if factor > 0.0]
    notes = [_vacuous(value, c_0 + c_2, "C_0, C_2", bandit, horizon), *_assumptions(bandit, horizon)]
    short = sum(sqrt(e / horizon) < gap < sqrt(len(gaps) / horizon) for gap in gaps)
    if short:
        notes.append(f"log(T D_i^2 / K) is negative for {short} of the arms")
    notes += ["for b = sqrt(e / T)", _constants_of_the_proof(C_0=c_0, C_2=c_2)]
    notes.append("refuted for large T where variances are small, see docs/explanation/theory.md")
    formula = (
        "sum over D_i > b of (C_0 K^4 / T^(1/4) + D_i + 320 s_i^2 log(T D_i^2 / K) / D_i) "
        "+ sum over 0 < D_i <= b of C_2 K^4 / T^(1/4) + T max D_i <= b, with b = sqrt(e / T)"
    )
    return Statement("Theorem 1", "part of a bound", formula, value, _plus(terms), _join(notes))


def _corollary_1(bandit: Bandit, horizon: int) -> Statement:
    value, c_3 = formulas.corollary_1(len(bandit), horizon)
    notes = [_vacuous(value, c_3, "C_3", bandit, horizon), *_assumptions(bandit, horizon)]
    notes.append(
        "stated for equal gaps of sqrt(K log K / T), where no policy exceeds it"
        if len(bandit) > 2
        else "stated for 3 arms or more"
    )
    notes.append(_constants_of_the_proof(C_3=c_3))
    formula = "C_3 K^5 / T^(1/4) + 80 sqrt(K T)"
    terms = _plus([f"{c_3:,.6g} C_3"])
    return Statement("Corollary 1", "part of a bound", formula, value, terms, _join(notes))


def _constants_of_the_proof(**factors: float) -> str:
    """Note the values that the proof implies for the constants whose factor is positive."""
    values = [f"{name} = {getattr(formulas, name):,}" for name, factor in factors.items() if factor > 0.0]
    return f"{', '.join(values)} by the constants in the proof" if values else ""


def _vacuous(value: float, factor: float, names: str, bandit: Bandit, horizon: int) -> str:
    """Judge a bound with unstated constants: without them, else with 1, their smallest possible value."""
    gaps = bandit.gaps.tolist()
    note = formulas.vacuity_note(value, gaps, horizon)
    if note.startswith("vacuous") or factor == 0.0:
        return note
    note = formulas.vacuity_note(value + factor, gaps, horizon)
    return f"{note} for all {names} >= 1" if note else ""


def _assumptions(bandit: Bandit, horizon: int) -> list[str]:
    """List the assumptions of the paper that do not hold."""
    low, high = bandit.support
    violated = []
    if horizon < len(bandit) ** 2.4:
        violated.append("assumes T >= K^2.4, which does not hold here")
    if low < 0.0 or high > 1.0:
        violated.append("assumes rewards in [0, 1], which does not hold here")
    if bandit.optimal.sum() > 1:
        violated.append("assumes one optimal arm, which does not hold here")
    return violated


def _lower_bounds(bandit: Bandit, horizon: int) -> list[Statement]:
    gaps = bandit.gaps.tolist()
    uniform = formulas.uniform_regret(gaps, horizon)
    asymptotic = "log(T) sum of D_i / (divergence of arm i from the best mean)"
    finite = "T sum of D_i x_i, where kl(x_i, 1/K) = x_i T (divergence of arm i from the best mean)"
    statements = []
    for suffix, divergences in _divergences(bandit).items():
        first, second = f"Lai and Robbins{suffix}", f"Garivier, Menard and Stoltz{suffix}"
        if divergences is None:
            note = "not computed: needs data in [0, 1], and beta parameters of at least 0.001"
            statements.append(Statement(first, "lower bound", asymptotic, None, note=note))
            statements.append(Statement(second, "lower bound", finite, None, note=note))
            continue
        value, note = formulas.lai_robbins(gaps, divergences) * log(horizon), "asymptotic"
        if value > uniform:
            note += "; above uniform play's regret: the horizon is too short for the asymptotic regime"
        statements.append(Statement(first, "lower bound", asymptotic, value, note=note))
        value, note = formulas.finite_time_regret(gaps, divergences, horizon), "for this T"
        note += "; assumes T / K or more expected pulls of the best arm, on every bandit of the family"
        statements.append(Statement(second, "lower bound", finite, value, note=note))
    return statements


def _divergences(bandit: Bandit) -> dict[str, list[float] | None]:
    """Compute the divergence of every arm from the best mean, twice if it depends on known variances."""
    entries = [entry_of(arm) for arm in bandit.arms]
    stated = [entry.divergence for entry in entries]
    kinds = {"": stated}
    if any(entry.divergence_unknown_variance for entry in entries):
        unknown = [entry.divergence_unknown_variance or entry.divergence for entry in entries]
        kinds = {", variances known": stated, ", variances unknown": unknown}
    best, gaps = float(bandit.means.max()), bandit.gaps.tolist()
    divergences: dict[str, list[float] | None] = {}
    for suffix, functions in kinds.items():
        values = [
            divergence(arm, best) if gap > 0.0 else 0.0
            for arm, divergence, gap in zip(bandit.arms, functions, gaps, strict=True)
        ]
        finite = [value for value in values if value is not None]
        divergences[suffix] = finite if len(finite) == len(values) else None
    return divergences


def _plus(terms: list[str]) -> str:
    return "".join(f"+ {term} " for term in terms).strip()


def _join(notes: list[str]) -> str:
    return "; ".join(note for note in notes if note)


def _unless_infinite(value: float | None) -> float | None:
    return None if value is None or value == inf else value
