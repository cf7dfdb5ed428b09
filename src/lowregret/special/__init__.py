"""Divergences, tails and quantiles, as plain functions that a policy can call."""

from lowregret.special.divergences import bernoulli_kl, bernoulli_kl_upper, gaussian_kl
from lowregret.special.quantiles import beta_upper, normal_upper, student_upper
from lowregret.special.tails import beta_tail, student_tail

__all__ = [
    "bernoulli_kl",
    "bernoulli_kl_upper",
    "beta_tail",
    "beta_upper",
    "gaussian_kl",
    "normal_upper",
    "student_tail",
    "student_upper",
]
