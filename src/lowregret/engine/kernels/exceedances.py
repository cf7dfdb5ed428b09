"""The arm with the largest of many samples, found without a sample of every arm.

Each arm has a distribution of its own, normal or beta, that changes only with its pulls. An arm that is
likely to exceed a threshold is drawn at every step. Each other arm has an interval on a line, so long that a
Poisson process of rate 1 has a point in it with at least the probability that the arm exceeds the threshold.
Only arms with a point are looked at; the sum tree of the lengths, called rates, finds them. If no sample
exceeds the threshold, all arms are drawn. ``docs/explanation/simulator.md`` has the proof that this is exact.

The threshold changes with rewards alone, so all who know the rewards know the threshold.
"""

from __future__ import annotations

from math import exp, expm1, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import jittable, jittable_inline
from lowregret.engine.kernels.posteriors import (
    QuantileLevel,
    distance_of,
    draw,
    draw_above,
    draw_all,
    exceedance,
    exponential_draw,
    level_of,
    min_arms,
    posterior,
    quantile_of,
)
from lowregret.policies import Policy
from lowregret.policies.base import samples_posteriors
from lowregret.policies.views import arm_view

if TYPE_CHECKING:
    from lowregret.engine.kernels.state import ArmTable

TARGET_WEIGHT, TARGET_WEIGHT_GROWTH = -0.7, 1.1
"""The weight of a new threshold is TARGET_WEIGHT + TARGET_WEIGHT_GROWTH log K."""
MIN_WEIGHT_RATIO, MAX_WEIGHT_RATIO = 0.68, 1.6
"""A threshold is set anew when its weight leaves this range, relative to what it was."""
MIN_STEEPNESS_RATIO = 0.8
"""The least steepness of a threshold, relative to that of the arms when it is set."""
MAX_REWARDS_PER_ARM, MAX_ITERATIONS, LOG_WEIGHT_TOLERANCE = 64, 12, 0.15
"""For how many rewards an arm a threshold is kept; how many steps find it, and how closely."""


class SamplingRound(NamedTuple):
    """The threshold of a policy that samples from posteriors; minus infinity if every arm is drawn.

    ``weight`` is about the number of arms that exceed it, kept up to date with every reward, and ``aim`` what
    it was when the threshold was set.
    """

    number: int
    until: int
    threshold: float
    steepness: float
    weight: float
    aim: float


def first_sampling_round() -> SamplingRound:
    """Return the round before the first reward, in which every arm is drawn."""
    return SamplingRound(0, 0, -np.inf, 0.0, 0.0, 0.0)


def tree_width(arms: int) -> int:
    """Return the number of leaves of the sum tree."""
    width = 1
    while width < arms:
        width *= 2
    return width


jittable(tree_width)


def new_scores(policy: Policy, arms: int) -> Floats:
    """Return the working memory of a choice."""
    if policy.top_two:
        return np.zeros(3 * arms)
    return np.zeros(5 * arms + 2 * tree_width(arms) if samples_posteriors(type(policy)) else arms)


class Posteriors(NamedTuple):
    """The distributions of all arms, their rates, and the sum tree of the rates (0 if negative)."""

    first: Floats
    second: Floats
    rate: Floats
    always: Floats  # the places of arms of negative rate, which are drawn at every step
    samples: Floats  # room
    tree: Floats


@jittable_inline
def posteriors_in(scores: Floats, size: int) -> Posteriors:
    """Return the parts of the working memory."""
    first, second, rate = scores[:size], scores[size : 2 * size], scores[2 * size : 3 * size]
    always, samples = scores[3 * size : 4 * size], scores[4 * size : 5 * size]
    return Posteriors(first, second, rate, always, samples, scores[5 * size :])


@jittable_inline
def set_rate(tree: Floats, i: int, rate: float) -> None:
    """Set a leaf of the sum tree, and the sums above it."""
    node = len(tree) // 2 + i
    tree[node] = rate
    while node > 1:
        node >>= 1
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@jittable_inline
def find(tree: Floats, position: float) -> int:
    """Return the leaf in whose interval a position lies."""
    width = len(tree) // 2
    node, rest = 1, position
    while node < width:
        left = tree[2 * node]
        right = rest >= left
        rest = rest - left if right else rest
        node = 2 * node + right
    return node - width


@jittable
def fill(policy: Any, table: ArmTable, level: QuantileLevel, arms: Posteriors) -> int:
    """Compute the posteriors anew; return how many arms are always drawn, -1 if a parameter is nan."""
    first, second, rate, always, _, tree = arms
    size, width = len(table.rows), len(tree) // 2
    count, proper = 0, True
    for i in range(size):
        first[i], second[i] = posterior(policy, arm_view(policy, table, i))
        rate[i] = exceedance(policy, float(first[i]), float(second[i]), level).rate
        tree[width + i] = max(rate[i], 0.0)
        proper &= rate[i] == rate[i]
        if rate[i] < 0.0:
            always[count] = i
            count += 1
    for i in range(width + size, 2 * width):
        tree[i] = 0.0
    for node in range(width - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]
    return count if proper else -1


@jittable_inline
def largest_above(
    policy: Any, arms: Posteriors, level: QuantileLevel, rng: Any, chosen: int, best: float
) -> tuple[int, float]:
    """Draw the arms with a point in their interval; return the arm of the largest sample and the sample.

    ``chosen`` and ``best`` are those of the arms that were drawn already.
    """
    first, second, rate, _, _, tree = arms
    before, total, position = -1, float(tree[1]), 0.0
    ahead, scale = threshold_excess(policy, level, best)
    while True:
        position += exponential_draw(rng) * scale
        if not position < total:
            return chosen, best
        i = find(tree, position)
        if i == before or not rate[i] > 0.0:
            continue
        before = i
        if ahead == 0.0 or accept_point(float(rate[i]), 1.0 / scale, rng):
            x = draw_above(policy, float(first[i]), float(second[i]), level, ahead, best, rng)
            if x > best:
                chosen, best = i, x
                ahead, scale = threshold_excess(policy, level, best)


@jittable_inline
def threshold_excess(policy: Any, level: QuantileLevel, best: float) -> tuple[float, float]:
    """Return by how much the largest sample is above the threshold at the least steepness, and exp of it."""
    if not best > level.x:
        return 0.0, 1.0
    ahead = min(max(level.steepness * distance_of(policy, level, best), 0.0), 600.0)
    return ahead, exp(ahead)


@jittable_inline
def accept_point(rate: float, share: float, rng: Any) -> bool:
    """Return True with the probability that makes up for points being ``share`` as frequent.

    (1 - exp(-rate)) share / (1 - exp(-rate share)), which is at least 1 - rate / 2.
    """
    u = rng.uniform()
    return u < 1.0 - 0.5 * rate or u * expm1(-rate * share) > share * expm1(-rate)


@jittable
def largest_below(
    policy: Any, arms: Posteriors, level: QuantileLevel, rng: Any, chosen: int, best: float
) -> int:
    """Draw all arms that were not drawn, given that none exceeds the threshold; return as above."""
    first, second, rate, _, samples, _ = arms
    drawn = int(rng.state["drawn"])
    draw_all(policy, first, second, rng.state["key"], drawn, samples)
    rng.state["drawn"] = drawn + len(samples)
    for i in range(len(samples)):
        if rate[i] >= 0.0:
            x = float(samples[i])
            while x > level.x:
                x = draw(policy, float(first[i]), float(second[i]), rng)
            if chosen < 0 or x > best or (x == best and i < chosen):
                chosen, best = i, x
    return chosen


@jittable_inline
def largest(policy: Any, arms: Posteriors, count: int, level: QuantileLevel, rng: Any) -> int:
    """Return the place of the arm with the largest sample; ``count`` arms are always drawn."""
    chosen, best = -1, -np.inf
    for k in range(count):
        i = int(arms.always[k])
        x = draw(policy, float(arms.first[i]), float(arms.second[i]), rng)
        if chosen < 0 or x > best:
            chosen, best = i, x
    chosen, best = largest_above(policy, arms, level, rng, chosen, best)
    return chosen if best >= level.x else largest_below(policy, arms, level, rng, chosen, best)


@jittable
def largest_sample(policy: Any, table: ArmTable, round: SamplingRound, rng: Any, scores: Floats) -> int:
    """Return the place of the arm with the largest sample, -1 if a parameter is nan."""
    level, arms = level_of(policy, round.threshold, round.steepness), posteriors_in(scores, len(table.rows))
    count = fill(policy, table, level, arms)
    return largest(policy, arms, count, level, rng) if count >= 0 else -1


@jittable_inline
def weight_of(policy: Any, table: ArmTable, i: int, round: SamplingRound) -> float:
    """Return how much an arm counts in the weight of a threshold."""
    first, second = posterior(policy, arm_view(policy, table, i))
    level = level_of(policy, round.threshold, round.steepness)
    return abs(exceedance(policy, float(first), float(second), level).rate)


@jittable_inline
def with_weight(round: SamplingRound, weight: float) -> SamplingRound:
    """Return the round with another weight."""
    number, until, threshold, steepness, _, aim = round
    return SamplingRound(number, until, threshold, steepness, weight, aim)


def without_weight(policy: Any, table: ArmTable, place: int, round: Any) -> Any:
    """Return the round without the weight of an arm that is about to change."""
    if round.threshold == -np.inf:
        return round
    return with_weight(round, round.weight - weight_of(policy, table, place, round))


@jittable
def update_threshold(policy: Any, table: ArmTable, place: int, t: int, round: Any) -> Any:
    """Add the weight of an arm that has changed, and set the threshold anew if it is due."""
    if round.threshold > -np.inf:
        round = with_weight(round, round.weight + weight_of(policy, table, place, round))
    return with_new_threshold(policy, table, t, round) if is_due(round, t) else round


@jittable_inline
def is_due(round: SamplingRound, t: int) -> bool:
    """Return whether the threshold is to be set anew after ``t`` rewards."""
    kept = MIN_WEIGHT_RATIO * round.aim < round.weight < MAX_WEIGHT_RATIO * round.aim
    return t >= round.until or not (kept or round.threshold == -np.inf)


@jittable
def with_new_threshold(policy: Any, table: ArmTable, t: int, round: SamplingRound) -> SamplingRound:
    """Set the threshold anew, such that its weight is about the target, by Newton's method on log(weight)."""
    size, until = len(table.rows), t + MAX_REWARDS_PER_ARM * len(table.rows)
    plain = SamplingRound(round.number, until, -np.inf, 0.0, 0.0, 0.0)
    if size < min_arms(policy) or not all_active(table.rows):
        return plain
    target, threshold = TARGET_WEIGHT + TARGET_WEIGHT_GROWTH * log(size), round.threshold
    if threshold == -np.inf:
        threshold = high_threshold(policy, table)
    for _ in range(MAX_ITERATIONS):
        weight, slope, least = total_weight(policy, table, level_of(policy, threshold, 0.0))
        if weight < 1e-9:  # far above all arms
            threshold = high_threshold(policy, table)
            continue
        distance = log(weight / target)
        if abs(distance) < LOG_WEIGHT_TOLERANCE or not slope > 0.0:
            break
        threshold += distance * weight / slope
    steepness = MIN_STEEPNESS_RATIO * least if least < np.inf else 0.0
    usable = abs(threshold) < np.inf and weight < np.inf
    return SamplingRound(round.number, until, threshold, steepness, weight, weight) if usable else plain


@jittable
def all_active(rows: Any) -> bool:
    """Return whether every arm is active."""
    active = True
    for i in range(len(rows)):
        active &= bool(rows[i]["active"])
    return active


@jittable
def high_threshold(policy: Any, table: ArmTable) -> float:
    """Return a threshold that about one arm exceeds, or fewer."""
    high, z = -np.inf, sqrt(2.0 * log(len(table.rows)))
    for i in range(len(table.rows)):
        first, second = posterior(policy, arm_view(policy, table, i))
        high = max(high, quantile_of(policy, float(first), float(second), z))
    return high


@jittable
def total_weight(policy: Any, table: ArmTable, level: QuantileLevel) -> tuple[float, float, float]:
    """Return the weight of a threshold, by how much it falls as that rises by 1, and the least steepness."""
    weight, slope, least = 0.0, 0.0, np.inf
    for i in range(len(table.rows)):
        first, second = posterior(policy, arm_view(policy, table, i))
        excess = exceedance(policy, float(first), float(second), level)
        weight += abs(excess.rate)
        slope += excess.slope
        if excess.rate > 0.0:
            least = min(least, excess.steepness)
    return weight, slope, least
