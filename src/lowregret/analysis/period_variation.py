"""Whether the rewards of all arms move from period to period by more than chance allows.

If they do not, arm i has the same mean m_i in every period. Then M(m) is a test supermartingale, a mixture of
products of tilts (see ``confidence_sequences``):

    M(m) = E prod_ip exp(z_ip S_ip) / (1 + m_i (exp(z_ip) - 1))^n_ip,    z_ip = t_p + a_i

n_ip and S_ip are the pulls of arm i in period p and the sum of their rewards in [0, 1]; t_p and a_i are
independent and normal with mean 0 and one scale. The tilts t_p say that all arms did better in a period. The
tilts a_i count against means that an arm does not have, by which differences between periods could be
explained away: the means are not known, so the evidence is the smallest M(m). It is at most that of the true
means. So it ever exceeds 1 / error with probability at most ``error``, whatever arms a policy chose and
whenever one looks, also within a period, and in whatever order the rewards arrive.

For every normal distribution Q of the tilts, log M(m) is at least

    sum_ip E z_ip S_ip - n_ip log(1 + m_i (E exp(z_ip) - 1)) - KL(Q, prior)

(twice Jensen's inequality). It is a sum of convex functions of each m_i, so its minimum is easy to compute.
Every Q is allowed: one that Newton's method has not brought to the end only makes the bound lower.
"""

import numpy as np

from lowregret._common.arrays import Floats

SCALES = 0.05 * 2.0 ** np.arange(5.0)[:, None]
"""The scales of the tilts, from 0.05 to 0.8; M is the mean over them."""
NEWTON_STEPS = 6
"""The steps of Newton's method for Q."""
MAX_STEP = 1.0
MEAN_HALVINGS = 50


def log_evidence(counts: Floats, totals: Floats) -> float:
    """Return the logarithm of the evidence that rewards move, from a row for each arm, a column a period."""
    counts, totals = (table[counts.any(axis=1)] for table in (counts, totals))
    counts, totals = (table[:, counts.any(axis=0)] for table in (counts, totals))
    if counts.shape[1] < 2:
        return 0.0
    bounds = _evidence_bounds(counts, totals)
    return float(bounds.max() + np.log(np.exp(bounds - bounds.max()).mean()))


def _evidence_bounds(counts: Floats, totals: Floats) -> Floats:
    """Return a lower bound of log M(m) for all m, for tilts of each scale."""
    prior, unit, (arms, periods) = SCALES**-2, np.eye(len(counts)), counts.shape
    pulls, start = counts.sum(axis=1), (totals.sum(axis=1) + 0.5) / (counts.sum(axis=1) + 1.0)
    levels = np.log(start / (1.0 - start)) + np.zeros((len(prior), 1))
    of_periods, halves = np.zeros((len(prior), periods)), np.zeros((len(prior), 1, 1))
    for _ in range(NEWTON_STEPS):  # a level is the tilt of an arm plus the logit of its mean
        tilted = 1.0 / (1.0 + np.exp(-levels[..., None] - of_periods[:, None] - halves))
        weights, residuals = counts * tilted * (1.0 - tilted), totals - counts * tilted
        means = (counts * tilted).sum(axis=2) / pulls
        tilts, gains = (
            levels - np.log(means / (1.0 - means)),
            1.0 / prior - 1.0 / (pulls * means * (1.0 - means)),
        )
        period_weights, slopes = weights.sum(axis=1) + prior, residuals.sum(axis=1) - prior * of_periods
        ratios = weights / period_weights[:, None]
        inner = weights.sum(axis=2)[..., None] * unit - ratios @ weights.swapaxes(1, 2)
        errors = tilts - residuals.sum(axis=2) / prior + gains * np.einsum("sip,sp->si", ratios, slopes)
        steps = -np.linalg.solve(unit + gains[..., None] * inner, errors[..., None])[..., 0]
        period_steps = (slopes - np.einsum("si,sip->sp", steps, weights)) / period_weights
        largest = np.maximum(np.abs(steps).max(axis=1), np.abs(period_steps).max(axis=1))
        damping = MAX_STEP / np.maximum(largest, MAX_STEP)[:, None]
        levels, of_periods = levels + damping * steps, of_periods + damping * period_steps
        covariance = np.linalg.inv(inner + prior[..., None] * unit)  # of the tilts of the arms
        cross = covariance @ ratios  # minus that of an arm and a period
        of_arm = np.diagonal(covariance, axis1=1, axis2=2)
        of_period = 1.0 / period_weights + (ratios * cross).sum(axis=1)
        halves = (of_arm[..., None] + of_period[:, None] - 2.0 * cross) / 2.0
    squares = (of_arm + tilts**2).sum(axis=1) + (of_period + of_periods**2).sum(axis=1)
    entropy = np.linalg.slogdet(covariance)[1] - np.log(period_weights).sum(axis=1)
    size, prior = arms + periods, prior[:, 0]
    divergence = (prior * squares - size - entropy - size * np.log(prior)) / 2.0
    both = tilts[..., None] + of_periods[:, None]
    evidence: Floats = (totals * both).sum(axis=(1, 2)) - divergence + _least(counts, np.expm1(both + halves))
    return evidence


def _least(counts: Floats, growth: Floats) -> Floats:
    """Return the minima of - sum_ip n_ip log(1 + m_i g_ip) over all means, by halving intervals of them."""
    low, high = np.zeros((2, *growth.shape[:2], 1))
    high += 1.0
    for _ in range(MEAN_HALVINGS):
        middle = (low + high) / 2.0
        above = (counts * growth / (1.0 + middle * growth)).sum(axis=2, keepdims=True) < 0.0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    least: Floats = -(counts * np.log1p(low * growth)).sum(axis=(1, 2))
    return least
