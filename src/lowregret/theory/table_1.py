"""Table 1 of the EUCBV paper: the orders of the regret of six policies, without their constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite, log, sqrt
from typing import NamedTuple

from lowregret.theory.formulas import Kind, Statement, hardness, hardness_1, positive_gaps

NO_GAP = "all arms are optimal"
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
"""The column "Gap-Independent"."""


def table_1(gaps: Sequence[float], variances: Sequence[float], horizon: int) -> list[Statement]:
    """Evaluate every entry of Table 1 for one problem.

    Parameters
    ----------
    gaps, variances : sequence of float
        One per arm.
    horizon : int
        The number of pulls.

    Returns
    -------
    list of Statement
        Orders, not bounds: the table states no constants. If the argument of a logarithm is below 1 the
        value is negative, and the note says so.

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
        rows.append(Statement(f"{policy}, gap-independent", ORDER, formula, value))
    return rows


def _gap_dependent(policy: str, gaps: Sequence[float], variances: Sequence[float], horizon: int) -> Statement:
    name, order = f"{policy}, gap-dependent", GAP_DEPENDENT[policy]
    h_1 = hardness_1(gaps)
    if h_1 is None:
        return Statement(name, ORDER, order.formula, None, note=NO_GAP)
    terms = Terms(horizon, len(gaps), min(positive_gaps(gaps)), float(max(variances)), h_1)
    argument = order.argument(terms)
    value = order.factor(terms) * _log(argument)
    return Statement(name, ORDER, order.formula, value if isfinite(value) else None, note=_note(argument))


def _ocucb_sum(gaps: Sequence[float], horizon: int) -> Statement:
    """Evaluate the order of OCUCB as stated in the text of the paper: one logarithm per arm."""
    name, formula = "OCUCB, gap-dependent, by arm", "sum of log(T / H_i) / D_i"
    pairs = [(gap, h) for gap, h in zip(gaps, hardness(gaps) or gaps, strict=True) if gap > 0.0]
    if not pairs:
        return Statement(name, ORDER, formula, None, note=NO_GAP)
    value = sum(_log(horizon / h) / gap for gap, h in pairs)
    return Statement(
        name,
        ORDER,
        formula,
        value if isfinite(value) else None,
        note=_note(min(horizon / h for _, h in pairs)),
    )


def _log(value: float) -> float:
    return log(value) if value > 0.0 else -inf  # the square of a tiny gap is 0


def _note(argument: float) -> str:
    return "the horizon is too short: a logarithm is negative" if argument < 1.0 else ""
