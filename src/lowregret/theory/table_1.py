"""Table 1 of the EUCBV paper: the orders of the regret of six policies, without their constants."""

from collections.abc import Callable, Sequence
from math import inf, isfinite, log, sqrt
from typing import NamedTuple

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
"""The column "Gap-Independent"."""


def table_1(gaps: Sequence[float], variances: Sequence[float], horizon: int) -> list[Statement]:
    """Evaluate every entry of Table 1 for one problem.

    The entries are orders, not bounds: the table states no constants. If the argument of a logarithm is below
    1 the value is negative, and the note says so.
    """
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
