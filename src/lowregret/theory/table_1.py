"""Table 1 of the EUCBV paper: the orders of the regret of six policies, without their constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite, log, sqrt
from typing import NamedTuple

from lowregret.theory.bounds import Kind, Line, hardness, hardness_1, positive

NO_GAP = "all arms are optimal"
ORDER: Kind = "order without constant"


class Terms(NamedTuple):
    """What the formulas of Table 1 are made of."""

    T: int  # the horizon
    K: int  # the number of arms
    D: float  # the smallest gap
    S: float  # the largest variance
    H: float  # H_i of an arm with the smallest gap, which is H_1


class Order(NamedTuple):
    """One gap-dependent entry: the factor in front of its logarithm, and what the logarithm is of."""

    formula: str
    factor: Callable[[Terms], float]
    inside: Callable[[Terms], float]


GAP_DEPENDENT = {
    "EUCBV": Order("K S log(T D^2 / K) / D", lambda x: x.K * x.S / x.D, lambda x: x.T * x.D**2 / x.K),
    "UCB1": Order("K log(T) / D", lambda x: x.K / x.D, lambda x: x.T),
    "UCBV": Order("K S log(T) / D", lambda x: x.K * x.S / x.D, lambda x: x.T),
    "UCBImproved": Order("K log(T D^2) / D", lambda x: x.K / x.D, lambda x: x.T * x.D**2),
    "MOSS": Order("K^2 log(T D^2 / K) / D", lambda x: x.K**2 / x.D, lambda x: x.T * x.D**2 / x.K),
    "OCUCB": Order("K log(T / H_1) / D", lambda x: x.K / x.D, lambda x: x.T / x.H),
}
"""The column "Gap-Dependent". OCUCB's entry leaves i open in H_i; here i is an arm with the smallest gap."""

GAP_INDEPENDENT: dict[str, tuple[str, Callable[[int, int], float]]] = {
    "EUCBV": ("sqrt(K T)", lambda T, K: sqrt(K * T)),
    "UCB1": ("sqrt(K T log T)", lambda T, K: sqrt(K * T * log(T))),
    "UCBV": ("sqrt(K T log T)", lambda T, K: sqrt(K * T * log(T))),
    "UCBImproved": ("sqrt(K T log K)", lambda T, K: sqrt(K * T * log(K))),
    "MOSS": ("sqrt(K T)", lambda T, K: sqrt(K * T)),
    "OCUCB": ("sqrt(K T)", lambda T, K: sqrt(K * T)),
}
"""The column "Gap-Independent"."""


def table_1(gaps: Sequence[float], variances: Sequence[float], horizon: int) -> list[Line]:
    """Give the value of every entry of Table 1 for one problem.

    Parameters
    ----------
    gaps, variances : sequence of float
        One per arm.
    horizon : int
        The number of pulls.

    Returns
    -------
    list of Line
        Orders, not bounds: the table says nothing about constants. A logarithm of less than 1 makes an
        order negative, which is said in its note.

    Examples
    --------
    >>> line = table_1([0.5, 0.0], [0.25, 0.0], 1_000)[0]
    >>> line.name, line.formula, round(line.value, 4)
    ('EUCBV, gap-dependent', 'K S log(T D^2 / K) / D', 4.8283)
    """
    rows = [_gap_dependent(policy, gaps, variances, horizon) for policy in GAP_DEPENDENT]
    rows.append(_ocucb_sum(gaps, horizon))
    for policy, (formula, order) in GAP_INDEPENDENT.items():
        value = order(horizon, len(gaps))
        rows.append(Line(f"{policy}, gap-independent", ORDER, formula, value))
    return rows


def _gap_dependent(policy: str, gaps: Sequence[float], variances: Sequence[float], horizon: int) -> Line:
    name, order = f"{policy}, gap-dependent", GAP_DEPENDENT[policy]
    h_1 = hardness_1(gaps)
    if h_1 is None:
        return Line(name, ORDER, order.formula, None, note=NO_GAP)
    terms = Terms(horizon, len(gaps), min(positive(gaps)), float(max(variances)), h_1)
    inside = order.inside(terms)
    value = order.factor(terms) * _log(inside)
    return Line(name, ORDER, order.formula, value if isfinite(value) else None, note=_note(inside))


def _ocucb_sum(gaps: Sequence[float], horizon: int) -> Line:
    """Give the order of OCUCB as the paper's text has it: one logarithm for each arm."""
    name, formula = "OCUCB, gap-dependent, by arm", "sum of log(T / H_i) / D_i"
    pairs = [(gap, h) for gap, h in zip(gaps, hardness(gaps) or gaps, strict=True) if gap > 0.0]
    if not pairs:
        return Line(name, ORDER, formula, None, note=NO_GAP)
    value = sum(_log(horizon / h) / gap for gap, h in pairs)
    return Line(
        name,
        ORDER,
        formula,
        value if isfinite(value) else None,
        note=_note(min(horizon / h for _, h in pairs)),
    )


def _log(value: float) -> float:
    return log(value) if value > 0.0 else -inf  # where a gap is so small that its square is 0


def _note(inside: float) -> str:
    return "the horizon is too short for it: a logarithm is negative" if inside < 1.0 else ""
