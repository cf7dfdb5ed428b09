"""What theory says of the regret: the EUCBV paper's bounds, hardness, and the bound of Lai and Robbins.

The paper is Mukherjee, Naveen, Sudarsanam and Ravindran, "Efficient-UCBV: An Almost Optimal Algorithm using
Variance Estimates", AAAI 2018. Everything is a plain function of gaps, variances, the number of arms and the
horizon. An arm's gap is how far its mean lies below the best; optimal arms have gap 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import e, fsum, inf, log, sqrt
from typing import Literal, NamedTuple

Kind = Literal["bound", "part of a bound", "order without constant", "lower bound"]


class Line(NamedTuple):
    """One statement about the regret, with its value for one problem.

    Attributes
    ----------
    name : str
        What it is about.
    kind : str
        ``bound``; ``part of a bound``, where the paper leaves constants open, which stand in ``rest``;
        ``order without constant``, which is no bound; or ``lower bound``.
    formula : str
        With T the horizon, K the number of arms, D the smallest gap and S the largest variance.
    value : float or None
        None where the formula means nothing.
    rest : str
        What must be added to the value: terms with open constants.
    note : str
        What to keep in mind, such as that the bound is vacuous.
    """

    name: str
    kind: Kind
    formula: str
    value: float | None
    rest: str = ""
    note: str = ""


class Theorem1(NamedTuple):
    """Theorem 1 for one problem: known + c_0 C_0 + c_2 C_2, where the paper does not say what the C are."""

    known: float
    c_0: float
    c_2: float


def positive(gaps: Sequence[float]) -> list[float]:
    """Give the gaps of the arms that are not optimal.

    Examples
    --------
    >>> positive([0.25, 0.0, 0.5])
    [0.25, 0.5]
    """
    return [float(gap) for gap in gaps if gap > 0.0]


def worst_regret(gaps: Sequence[float], horizon: int) -> float:
    """Give T times the largest gap: no policy can have more regret, so a bound above it says nothing.

    Examples
    --------
    >>> worst_regret([0.25, 0.0], 1_000)
    250.0
    """
    return horizon * float(max(gaps))


def uniform_regret(gaps: Sequence[float], horizon: int) -> float:
    """Give T times the mean gap, the regret of pulling all arms equally often.

    Examples
    --------
    >>> uniform_regret([0.25, 0.0], 1_000)
    125.0
    """
    return horizon * fsum(gaps) / len(gaps)


def hardness(gaps: Sequence[float]) -> list[float]:
    """Give H_i of every arm: the sum over all arms j of min(1 / D_i^2, 1 / D_j^2).

    The paper takes it from Lattimore (2015). For an optimal arm D is the smallest positive gap, as Audibert,
    Bubeck and Munos (2010) have it: with 0 the sums would be infinite, and H_1 = K / D^2 for equal gaps,
    which the paper prints, would not hold.

    Returns
    -------
    list of float
        One number per arm; empty where all arms are optimal.

    Examples
    --------
    >>> hardness([0.0, 0.5, 0.25])
    [36.0, 12.0, 36.0]
    """
    if not positive(gaps):
        return []
    smallest = min(positive(gaps))
    inverses = [1.0 / (gap or smallest) for gap in gaps]
    squares = [inverse * inverse for inverse in inverses]
    ranked = sorted(squares)
    below = [0.0, *accumulate(ranked)]
    # Of equal numbers any may count as the smaller: the sum is the same.
    place = {square: position for position, square in enumerate(ranked)}
    return [below[place[x]] + (len(ranked) - place[x]) * x for x in squares]


def hardness_1(gaps: Sequence[float]) -> float | None:
    """Give H_1, the sum over all arms of 1 / D_i^2; see ``hardness`` for optimal arms.

    Examples
    --------
    >>> hardness_1([0.0, 0.5, 0.25])
    36.0
    """
    return max(hardness(gaps), default=None)


def theorem_1(
    gaps: Sequence[float], variances: Sequence[float], horizon: int, b: float | None = None
) -> Theorem1:
    """Give the gap-dependent bound of EUCBV, Theorem 1 of the paper.

    For T >= K^2.4, rho = 1/2, psi = T / K^2, rewards in [0, 1], every b >= sqrt(e / T) and integers C_0 and
    C_2 that the paper does not give, the expected regret is at most

        sum over D_i > b of (C_0 K^4 / T^(1/4) + D_i + 320 s_i^2 log(T D_i^2 / K) / D_i)
        + sum over 0 < D_i <= b of C_2 K^4 / T^(1/4)  +  T times the largest D_i <= b.

    Parameters
    ----------
    gaps, variances : sequence of float
        D_i and s_i^2, one per arm.
    horizon : int
        T.
    b : float, optional
        Where the sums part; sqrt(e / T), the least it may be, if not given.

    Returns
    -------
    Theorem1
        The terms without C, and what C_0 and C_2 are multiplied by. As printed, the logarithm is negative
        for gaps below sqrt(K / T).

    Examples
    --------
    >>> bound = theorem_1([0.5, 0.0], [0.25, 0.0], 1_000_000)
    >>> round(bound.known, 6), round(bound.c_0, 6), bound.c_2
    (1878.271043, 0.505964, 0.0)
    """
    arms = len(gaps)
    b = sqrt(e / horizon) if b is None else b
    charge = arms**4 / horizon**0.25
    far = [(gap, variance) for gap, variance in zip(gaps, variances, strict=True) if gap > b]
    near = [gap for gap in gaps if 0.0 < gap <= b]
    terms = [gap + 320.0 * variance * log(horizon * gap * gap / arms) / gap for gap, variance in far]
    known = fsum(terms) + horizon * float(max(near, default=0.0))
    return Theorem1(known, len(far) * charge, len(near) * charge)


def corollary_1(arms: int, horizon: int) -> tuple[float, float]:
    """Give the gap-independent bound of EUCBV, Corollary 1 of the paper: C_3 K^5 / T^(1/4) + 80 sqrt(K T).

    It is stated for equal gaps of sqrt(K log K / T) > sqrt(e / T), so for three arms or more, and rests on
    Theorem 1. The paper does not say what the integer C_3 is.

    Returns
    -------
    known, c_3 : float
        80 sqrt(K T), and what C_3 is multiplied by.

    Examples
    --------
    >>> corollary_1(4, 10_000)
    (16000.0, 102.4)
    """
    return 80.0 * sqrt(arms * horizon), arms**5 / horizon**0.25


def lai_robbins(gaps: Sequence[float], divergences: Sequence[float]) -> float:
    """Give the constant of Lai and Robbins (1985): the sum over arms of gap / divergence.

    A policy whose regret grows more slowly than every power of T, whatever the arms, has a regret of at least
    this constant times log T, asymptotically. The divergence of an arm is the least, within its family, from
    its law to a law whose mean is the best mean (Burnetas and Katehakis 1996).

    Parameters
    ----------
    gaps, divergences : sequence of float
        One per arm; arms of gap 0 do not count, and an infinite divergence adds nothing.

    Examples
    --------
    >>> lai_robbins([0.5, 0.25, 0.0], [0.125, float("inf"), 0.0])
    4.0
    """
    pairs = zip(gaps, divergences, strict=True)
    return fsum(gap / divergence for gap, divergence in pairs if gap > 0.0 and divergence < inf)


def vacuity(value: float, gaps: Sequence[float], horizon: int) -> str:
    """Say whether a bound says nothing, or no more than that one does better than uniform play.

    Examples
    --------
    >>> [vacuity(value, [0.25, 0.0], 1_000) for value in (300.0, 200.0, 9.0)]
    ['vacuous: above T x largest gap', "above uniform play's regret", '']
    """
    if value > worst_regret(gaps, horizon):
        return "vacuous: above T x largest gap"
    return "above uniform play's regret" if value > uniform_regret(gaps, horizon) else ""
