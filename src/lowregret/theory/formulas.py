"""Formulas for the regret: the EUCBV paper's bounds, hardness, and lower bounds.

The paper is Mukherjee, Naveen, Sudarsanam and Ravindran, "Efficient-UCBV: An Almost Optimal Algorithm using
Variance Estimates", AAAI 2018. Every function takes gaps, variances, the number of arms and the horizon.
The gap of an arm is the best mean minus its own; optimal arms have gap 0.
"""

from collections.abc import Sequence
from itertools import accumulate
from math import e, exp, floor, frexp, fsum, inf, log, log2, sqrt
from typing import Literal, NamedTuple

from lowregret.special.divergences import bernoulli_kl

Kind = Literal["part of a bound", "order without constant", "lower bound"]

C_2 = 368 * 8
"""C_2 of Theorem 1 by the constants in case (b2) of its proof: 368 * sqrt(4) * 4."""
C_0 = 368 * 8 + C_2
"""C_0 = C_1 + C_2 of Theorem 1; C_1 is 368 * sqrt(4 * 16) by the constants in case (a)."""
C_3 = C_0 + C_2
"""C_3 = C_0 + C_2 of Corollary 1."""


class Statement(NamedTuple):
    """A statement about the regret, with its value for one problem."""

    name: str  # the theorem, table entry or lower bound
    kind: Kind
    formula: str  # in terms of the horizon T, the number of arms K, smallest gap D and largest variance S
    value: float | None  # of the formula; None where it is undefined
    rest: str = ""  # terms to add to the value, whose constants the paper does not state as numbers
    note: str = ""  # caveats, such as that the bound is vacuous


class Theorem1(NamedTuple):
    """Theorem 1 for one problem: value + c_0 C_0 + c_2 C_2."""

    value: float
    c_0: float
    c_2: float


def positive_gaps(gaps: Sequence[float]) -> list[float]:
    return [float(gap) for gap in gaps if gap > 0.0]


def worst_regret(gaps: Sequence[float], horizon: int) -> float:
    """Return T times the largest gap, which the regret of no policy exceeds; a bound above it is vacuous."""
    return horizon * float(max(gaps))


def uniform_regret(gaps: Sequence[float], horizon: int) -> float:
    """Return T times the mean gap, the regret of pulling all arms equally often."""
    return horizon * fsum(gaps) / len(gaps)


def hardness(gaps: Sequence[float]) -> list[float]:
    """Compute H_i of every arm: the sum over all arms j of min(1 / D_i^2, 1 / D_j^2); [] if all are optimal.

    For an optimal arm D is the smallest positive gap, as in Audibert, Bubeck and Munos (2010).
    """
    if not positive_gaps(gaps):
        return []
    smallest = min(positive_gaps(gaps))
    inverses = [1.0 / (gap or smallest) for gap in gaps]
    squares = [inverse * inverse for inverse in inverses]
    ranked = sorted(squares)
    below = [0.0, *accumulate(ranked)]
    # The position among equal values does not change the sum.
    place = {square: position for position, square in enumerate(ranked)}
    return [below[place[x]] + (len(ranked) - place[x]) * x for x in squares]


def hardness_1(gaps: Sequence[float]) -> float | None:
    return max(hardness(gaps), default=None)


def theorem_1(
    gaps: Sequence[float], variances: Sequence[float], horizon: int, b: float | None = None
) -> Theorem1:
    """Compute the gap-dependent bound of EUCBV, Theorem 1 of the paper.

    For T >= K^2.4, rho = 1/2, psi = T / K^2, rewards in [0, 1], every b >= sqrt(e / T) (the default here) and
    integers C_0 and C_2 that the paper does not state as numbers, the expected regret is at most

        sum over D_i > b of (C_0 K^4 / T^(1/4) + D_i + 320 s_i^2 log(T D_i^2 / K) / D_i)
        + sum over 0 < D_i <= b of C_2 K^4 / T^(1/4)  +  T times the largest D_i <= b.

    The logarithm is negative for gaps below sqrt(K / T). Another b may give a smaller value.
    """
    arms = len(gaps)
    b = sqrt(e / horizon) if b is None else b
    charge = arms**4 / horizon**0.25
    far = [(gap, variance) for gap, variance in zip(gaps, variances, strict=True) if gap > b]
    near = [gap for gap in gaps if 0.0 < gap <= b]
    terms = [gap + 320.0 * variance * log(horizon * gap * gap / arms) / gap for gap, variance in far]
    value = fsum(terms) + horizon * float(max(near, default=0.0))
    return Theorem1(value, len(far) * charge, len(near) * charge)


def corollary_1(arms: int, horizon: int) -> tuple[float, float]:
    """Return 80 sqrt(K T) and the factor of C_3 in Corollary 1, C_3 K^5 / T^(1/4) + 80 sqrt(K T)."""
    return 80.0 * sqrt(arms * horizon), arms**5 / horizon**0.25


def lai_robbins(gaps: Sequence[float], divergences: Sequence[float]) -> float:
    """Compute the constant of Lai and Robbins (1985): the sum over suboptimal arms of gap / divergence.

    The divergence of an arm is the least to a distribution of its family with the best mean (Burnetas and
    Katehakis 1996). An infinite one contributes 0.
    """
    pairs = zip(gaps, divergences, strict=True)
    return fsum(gap / divergence for gap, divergence in pairs if gap > 0.0 and divergence < inf)


def finite_time_pulls(arms: int, horizon: int, divergence: float) -> float:
    """Compute a lower bound on the expected pulls of a suboptimal arm that holds for every horizon.

    It is for policies that pull a unique optimal arm at least T / K times in expectation on every bandit of
    the family. By the inequality of Garivier, Menard and Stoltz (2019) the share x of the arm is at least the
    solution in (0, 1/K) of kl(x, 1/K) = x T divergence.
    """
    if divergence == inf:
        return 0.0
    share, information = 1.0 / arms, horizon * divergence
    if information < 1e-14:
        return horizon * share * (1.0 - sqrt(2.0 * information))
    from scipy.optimize import brentq

    def surplus(log_x: float) -> float:
        return bernoulli_kl(exp(log_x), share) - exp(log_x) * information

    return horizon * exp(brentq(surplus, -700.0, log(share)))


def finite_time_regret(gaps: Sequence[float], divergences: Sequence[float], horizon: int) -> float:
    """Compute the sum over suboptimal arms of gap times ``finite_time_pulls``."""
    pairs = [(gap, other) for gap, other in zip(gaps, divergences, strict=True) if gap > 0.0]
    return fsum(gap * finite_time_pulls(len(gaps), horizon, divergence) for gap, divergence in pairs)


def vacuity_note(value: float, gaps: Sequence[float], horizon: int) -> str:
    """Return a note if a bound exceeds the largest possible regret, or that of uniform play; else ""."""
    if value > worst_regret(gaps, horizon):
        return "vacuous: above T x largest gap"
    return "above uniform play's regret" if value > uniform_regret(gaps, horizon) else ""


def elimination_round(gap: float) -> int:
    """Compute m_i, the first round m with sqrt(4 eps_m) < D_i / 4, where eps_m = 2^-m."""
    # The smallest m with 2^m > (8 / gap)^2. frexp returns the exponent of the first power of 2 above a
    # number. It is applied before squaring, since the square may overflow.
    part, exponent = frexp(8.0 / gap)
    return max(2 * exponent + frexp(part * part)[1], 0)


def last_round(horizon: int) -> int:
    """Compute M = floor(log2(T / e) / 2), the last round covered by the lemmas of the paper."""
    return floor(log2(horizon / e) / 2.0)
