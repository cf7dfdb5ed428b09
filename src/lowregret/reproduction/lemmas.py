"""The rounds of EUCBV's proof, its Lemma 3, and how likely it thinks the loss of the optimal arm."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, e, floor, frexp, fsum, ldexp, log, log2, sqrt
from typing import NamedTuple

from lowregret.theory.bounds import positive


class Lemma3(NamedTuple):
    """Lemma 3 for one arm: after ``pulls`` pulls, P(mean of the pulls > r_i + c_i) <= bound."""

    round: int  # m_i
    pulls: int  # n_{m_i}, rounded up
    logarithm: float  # log(psi T eps), for the width c_i
    bound: float  # 2 / (psi T eps)^(3 rho / 2)


def elimination_round(gap: float) -> int:
    """Give m_i, the first round m with sqrt(4 eps_m) < D_i / 4, where eps_m = 2^-m.

    By then, the proof says, an arm with this gap is eliminated.

    Examples
    --------
    >>> elimination_round(0.5), elimination_round(0.01)
    (9, 20)
    """
    # 2^m must exceed (8 / gap)^2, and frexp gives the first power of 2 above a number. It is applied to the
    # root first, whose square may be too large.
    part, exponent = frexp(8.0 / gap)
    return max(2 * exponent + frexp(part * part)[1], 0)


def last_round(horizon: int) -> int:
    """Give M = floor(log2(T / e) / 2), the last round that the lemmas allow.

    The algorithm as printed opens one more.

    Examples
    --------
    >>> last_round(60_000), last_round(400_000)
    (7, 8)
    """
    return floor(log2(horizon / e) / 2.0)


def lemma_3(gap: float, arms: int, horizon: int) -> Lemma3 | None:
    """Give Lemma 3 of the paper: in round m_i, P(x_i > r_i + c_i) <= 2 / (psi T eps)^(3 rho / 2).

    Here x_i is the mean of the arm's n_i rewards, v_i their variance, eps = 2^-m_i, psi = T / K^2, rho = 1/2,
    c_i = sqrt(rho (v_i + 2) log(psi T eps) / (4 n_i)) and n_i >= log(psi T eps) / (2 eps). In n_i the lemma
    leaves out the square of eps that the other lemmas and the algorithm have; so do we.

    Parameters
    ----------
    gap : float
        How far the arm's mean r_i lies below the best, positive.
    arms, horizon : int
        K and T.

    Returns
    -------
    Lemma3 or None
        None where psi T eps is at most 1: there width and pulls would be 0 or less.

    Examples
    --------
    >>> lemma = lemma_3(0.5, 2, 1_000_000)
    >>> lemma.round, lemma.pulls, f"{lemma.bound:.3g}"
    (9, 5122, '6.09e-07')
    """
    round = elimination_round(gap)
    reach = ldexp((horizon / arms) ** 2, -round)
    if reach <= 1.0:
        return None
    return Lemma3(round, ceil(log(reach) * 2.0 ** (round - 1)), log(reach), 2.0 / reach**0.75)


def elimination_bound(gaps: Sequence[float], horizon: int) -> float:
    """Give the bound on the probability that EUCBV eliminates the optimal arm that the proof works with.

    The paper states none by itself. Case (b2) of the proof of Theorem 1 takes 368 K^4 / (T^(5/4) sqrt(eps_m))
    for the probability that arm i eliminates the optimal arm in round m, and sums over the arms i and the
    rounds m < m_i, but for arms with a gap below b only up to the round of b; here b = sqrt(e / T).

    Returns
    -------
    float
        The sum, which says nothing where it is above 1.

    Examples
    --------
    >>> round(elimination_bound([0.5, 0.0], 1_000_000), 6)
    0.009722
    """
    last = elimination_round(sqrt(e / horizon))
    rounds = [min(elimination_round(gap), last) for gap in positive(gaps)]
    # For each arm the sum of 1 / sqrt(eps_m) = 2^(m/2) over its rounds.
    total = fsum((sqrt(2.0) ** count - 1.0) / (sqrt(2.0) - 1.0) for count in rounds)
    return 368.0 * len(gaps) ** 4 / (horizon * sqrt(sqrt(horizon))) * total
