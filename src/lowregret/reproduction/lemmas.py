"""Probabilities bounded in the proof of EUCBV: Lemmas 3 to 5, and eliminations."""

from collections.abc import Sequence
from math import ceil, e, fsum, ldexp, log, sqrt
from typing import NamedTuple

from lowregret.theory.formulas import elimination_round, positive_gaps


class Lemma3(NamedTuple):
    """Lemma 3 for one arm: after ``pulls`` pulls, P(mean of the pulls > r_i + c_i) <= bound."""

    round: int  # m_i
    pulls: int  # n_{m_i}, rounded up
    logarithm: float  # log(psi T eps), for the width c_i
    bound: float  # 2 / (psi T eps)^(3 rho / 2)


def lemma_3(gap: float, arms: int, horizon: int) -> Lemma3 | None:
    """Evaluate Lemma 3 of the paper: in round m_i, P(x_i > r_i + c_i) <= 2 / (psi T eps)^(3 rho / 2).

    Here x_i is the mean of the arm's n_i rewards, v_i their variance, eps = 2^-m_i, psi = T / K^2, rho = 1/2,
    c_i = sqrt(rho (v_i + 2) log(psi T eps) / (4 n_i)) and n_i >= log(psi T eps) / (2 eps). The other
    lemmas and the algorithm have eps^2 in n_i; Lemma 3 does not, and neither does this function. The gap,
    the best mean minus r_i, is positive. Return None if psi T eps is at most 1, where width and pulls would
    not be positive.
    """
    round = elimination_round(gap)
    reach = ldexp((horizon / arms) ** 2, -round)
    if reach <= 1.0:
        return None
    return Lemma3(round, ceil(log(reach) * 2.0 ** (round - 1)), log(reach), 2.0 / reach**0.75)


class Lemma5(NamedTuple):
    """Lemma 5 for one arm: in round m_i, P(fewer than ``pulls`` pulls) <= bound."""

    round: int  # m_i
    pulls: int  # n_{m_i} of the algorithm
    bound: float  # 182 K^4 / (T^(5/4) sqrt(eps))
    survival_bound: float  # 368 K^4 / (T^(5/4) sqrt(eps)): case (a), P(not eliminated by round m_i)


def lemma_5(gap: float, arms: int, horizon: int) -> Lemma5 | None:
    """Evaluate Lemma 5 of the paper, and the bound that case (a) of the proof of Theorem 1 derives from it.

    Here n_{m_i} = log(psi T eps^2) / (2 eps), rounded up, with eps = 2^-m_i and psi = T / K^2, as in
    Algorithm 1. Return None if psi T eps^2 is at most 1, where n_{m_i} would not be positive.
    """
    round = elimination_round(gap)
    reach = ldexp((horizon / arms) ** 2, -2 * round)
    if reach <= 1.0:
        return None
    unit = arms**4 / (horizon * sqrt(sqrt(horizon))) * sqrt(2.0) ** round
    return Lemma5(round, ceil(log(reach) * 2.0 ** (round - 1)), 182.0 * unit, 368.0 * unit)


def lemma_4_arms(arms: int, horizon: int, round: int) -> float:
    """Compute 4 K / (psi T eps_m)^(3/4), which the proof of Lemma 4 uses as a bound on |B_m|."""
    return 4.0 * arms / float(ldexp((horizon / arms) ** 2, -round) ** 0.75)


def elimination_bound(gaps: Sequence[float], horizon: int) -> float:
    """Compute the bound in the proof on the probability that EUCBV eliminates the optimal arm.

    The paper does not state this bound separately. Case (b2) of the proof of Theorem 1 bounds the probability
    that arm i eliminates the optimal arm in round m by 368 K^4 / (T^(5/4) sqrt(eps_m)). It sums over the arms
    i and the rounds m < m_i, for arms with a gap below b up to the round of b; here b = sqrt(e / T). The sum
    is vacuous if above 1.
    """
    last = elimination_round(sqrt(e / horizon))
    rounds = [min(elimination_round(gap), last) for gap in positive_gaps(gaps)]
    # For each arm the sum of 1 / sqrt(eps_m) = 2^(m/2) over its rounds, in closed form.
    total = fsum((sqrt(2.0) ** count - 1.0) / (sqrt(2.0) - 1.0) for count in rounds)
    return 368.0 * len(gaps) ** 4 / (horizon * sqrt(sqrt(horizon))) * total
