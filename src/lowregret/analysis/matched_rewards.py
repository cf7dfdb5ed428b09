"""Evidence that one mean exceeds another in every period, which holds at all times, for every policy.

Rates change from period to period. If arm a is not better than b in any of them, there is in each period a
number m between the two means. As in `mean_differences`, the product over rewards of
exp(t x) / (1 + m (e^t - 1)), t > 0 for a and t < 0 for b, is a supermartingale at these m. It is convex in
the m of a period, so its smallest value has a closed form in the counts and the sums. The evidence is the
mixture, over sizes of the difference, of the products of these values over the periods.

Only rewards of the period itself tell of its m. If an arm has another share of them than the share W that t
was made for, by d of n rewards, the smallest value is exp(n d^2 / (2 W (1 - W))) times lower: more than a day
tells. So rewards are matched. One counts in a comparison only if its arm has not too many there already, by
the shares before the period. Whether it counts, and the shares and rates that t is made for, are settled
before it is known, so the supermartingale stays one. ``match_all`` is for
many rewards, since a live agent matches them when there are many or somebody looks.
"""

from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.analysis.confidence_sequences import log_sum
from lowregret.analysis.mean_differences import EFFECTS
from lowregret.engine.bridge.compile import compiled

FIRST_REWARDS = 30
"""How many rewards count in no comparison: they tell what rates to expect."""
PRIOR_PULLS = 10.0
"""What shares are shrunk by towards equal ones, and rates towards that of all arms."""
CREDIT, GROWTH = 0.5, 0.1
"""How many more rewards an arm may have than is expected: the former, and the latter times a square root."""
MAX_ODDS = 10.0
"""How many times more of the arm whose excess costs less: of the worse one if rates are small."""


class Matched(NamedTuple):
    """What is compared: arrays whose first axis is the period, and whose last ones are the numbers of arms.

    ``before`` has the pulls and sums of the arms when the period began. ``used`` has the number and the sum
    of the rewards of arm i that count in the comparison with j: first where i may be better, then where j.
    """

    before: Floats
    used: Floats


def new_matched(periods: int, arms: int) -> Matched:
    """Return room for so many periods and arms."""
    return Matched(np.zeros((periods, 2, arms)), np.zeros((periods, 2, 2, arms, arms)))


def shares_of(pulls: Floats, arm: int) -> Floats:
    """Return the share that an arm is expected to have of the pulls of both, in its comparison with each."""
    own = pulls[..., arm, None] + PRIOR_PULLS
    shares: Floats = own / (own + pulls + PRIOR_PULLS)
    return shares


def match(matched: Matched, arm: int, period: int, reward: float) -> None:
    """Count a reward in [0, 1] where it is compared; ``before`` has the pulls at the start of its period."""
    (pulls, sums), used = matched.before[period], matched.used[period]
    share, odds = shares_of(pulls, arm), (pulls.sum() - sums.sum() + 0.5) / (sums.sum() + 0.5)
    for role, excess in ((0, 1.0 / odds), (1, odds)):
        own = used[role, :, arm]
        mine, theirs = own[0] * (1.0 - share), used[1 - role, 0, :, arm] * share
        limit = min(max(excess, 1.0), MAX_ODDS) * (CREDIT + GROWTH * np.sqrt(mine + theirs))
        counts = mine - theirs <= limit
        counts[arm] = False
        own[0, counts] += 1.0
        own[1, counts] += reward


@compiled
def match_all(before: Floats, used: Floats, arms: Integers, periods: Integers, rewards: Floats) -> None:
    """Count rewards as ``match`` does one by one."""
    for row in range(len(rewards)):
        arm, period, reward = arms[row], periods[row], rewards[row]
        pulls, sums = before[period, 0], before[period, 1]
        odds = (pulls.sum() - sums.sum() + 0.5) / (sums.sum() + 0.5)
        for other in range(len(pulls)):
            if other == arm:
                continue
            own = pulls[arm] + PRIOR_PULLS
            share = own / (own + pulls[other] + PRIOR_PULLS)
            for role in range(2):
                mine = used[period, role, 0, arm, other] * (1.0 - share)
                theirs = used[period, 1 - role, 0, other, arm] * share
                limit = min(max(odds if role else 1.0 / odds, 1.0), MAX_ODDS)
                if mine - theirs <= limit * (CREDIT + GROWTH * np.sqrt(mine + theirs)):
                    used[period, role, 0, arm, other] += 1.0
                    used[period, role, 1, arm, other] += reward


def log_matched_evidence(matched: Matched, arm: int, rivals: Integers, growth: float = 1.0) -> Floats:
    """Compute the logarithm of the evidence that an arm is better than each of some others.

    If it is not, the evidence ever exceeds 1 / error with probability at most error. ``growth`` is for a
    forecast: so many times the rewards, in more periods of the same kind.
    """
    pulls, sums = matched.before.swapaxes(0, 1)
    (n_a, s_a), (n_b, s_b) = (
        values.swapaxes(0, 1)[..., rivals, None]
        for values in (matched.used[:, 0, :, arm, :], matched.used[:, 1, :, :, arm])
    )
    pooled = (sums.sum(axis=1) + 0.5) / (pulls.sum(axis=1) + 1.0)
    rates = (sums + PRIOR_PULLS * pooled[:, None]) / (pulls + PRIOR_PULLS)
    share = shares_of(pulls, arm)[:, rivals, None]
    q = np.clip(share * rates[:, arm, None, None] + (1.0 - share) * rates[:, rivals, None], 1e-9, 1.0 - 1e-9)
    # With these two rates the smallest value is at m = q if pulls have the shares that are expected.
    gaps = np.minimum(EFFECTS * q * (1.0 - q), 0.9 * np.minimum((1.0 - q) / (1.0 - share), q / share))
    odds = (1.0 - q) / q
    alpha, beta = (
        np.abs(rate / (1.0 - rate) * odds - 1.0) for rate in (q + (1.0 - share) * gaps, q - share * gaps)
    )
    worst = (n_a * alpha - n_b * beta) / (alpha * beta * np.maximum(n_a + n_b, 1.0))
    worst = np.clip(worst, 0.0, 1.0)
    logarithms = s_a * np.log1p(alpha) + s_b * np.log1p(-beta)
    logarithms -= n_a * np.log1p(worst * alpha) + n_b * np.log1p(-worst * beta)
    evidence: Floats = log_sum(growth * logarithms.sum(axis=0)) - np.log(len(EFFECTS))
    return evidence
