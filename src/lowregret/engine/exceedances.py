"""The arm with the largest of many samples, found without a sample of every arm.

Each arm has a distribution of its own, normal or beta, that changes only with its pulls. A threshold divides
the arms. An arm that is likely to exceed it is drawn at every step. The rate of any other arm is such that
a Poisson process of this rate has a point with a probability of at least that of exceeding the threshold; only
arms with a point are looked at, and the sum tree of the rates finds them. If no sample exceeds the threshold,
all arms are drawn. ``docs/simulator.md`` proves that the arm is distributed as with a sample of every arm.

The threshold changes with rewards alone, so all who know the rewards know the threshold.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lowregret.engine.compile import by_policy_class, shared, shared_inline
from lowregret.engine.rng import beta, normal
from lowregret.policies import Policy
from lowregret.policies.views import arm_with_rewards
from lowregret.special.divergences import poisson_kl
from lowregret.special.tails import beta_depth, log_peak, stirling_rest

for _function in (beta_depth, log_peak, poisson_kl, stirling_rest):
    shared(_function)

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.void]

_DENSITY = 0.3989422804014327  # of a standard normal variable at 0
LEAST_NORMAL, LEAST_BETA = 80, 8
"""With fewer arms than this, a sample of every arm is faster."""
DIRECT_NORMAL, DIRECT_BETA = 1.35, 0.4
"""An arm is drawn at every step if the threshold is fewer standard deviations than this above its mean, or
if the bound on its probability to exceed the threshold is larger than this."""

AIM, AIM_GROWTH = -0.7, 1.1
"""The weight of a new threshold is AIM + AIM_GROWTH log K."""
LEAST_SHARE, MOST_SHARE = 0.68, 1.6
"""A threshold is set anew when its weight leaves this range, relative to what it was."""
STEEP = 0.8
"""The least steepness of a threshold, relative to that of the arms when it is set."""
LONGEST, STEPS, CLOSE = 64, 12, 0.15
"""It is kept for at most LONGEST K rewards, found in at most STEPS, and accurate to CLOSE in log(weight)."""


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


class Level(NamedTuple):
    """A threshold, the least steepness, the sample that the threshold is, and 1 less that for a beta."""

    threshold: float
    steepness: float
    x: float
    rest: float


class Exceedance(NamedTuple):
    """How an arm relates to a threshold.

    ``rate`` is the rate of its Poisson process, or less than 0 for an arm that is drawn at every step. Its
    absolute value counts in the weight of the threshold, and falls by ``slope`` as the threshold rises by 1.
    The logarithm of its density falls by at least ``steepness`` as a sample above the threshold rises by 1;
    infinite for an arm that is drawn at every step.
    """

    rate: float
    slope: float
    steepness: float


def samples_posteriors(kind: type[Policy]) -> bool:
    """Return whether a class of policies states the distribution of its samples."""
    return kind.overrides("normal_posterior") or kind.overrides("beta_posterior")


def first_sampling_round() -> SamplingRound:
    """Return the round before the first reward, in which every arm is drawn."""
    return SamplingRound(0, 0, -np.inf, 0.0, 0.0, 0.0)


def tree_width(arms: int) -> int:
    """Return the number of leaves of the sum tree."""
    width = 1
    while width < arms:
        width *= 2
    return width


shared(tree_width)


def new_scores(policy: Policy, arms: int) -> Floats:
    """Return the working memory of a choice."""
    return np.zeros(4 * arms + 2 * tree_width(arms) if samples_posteriors(type(policy)) else arms)


class Table(NamedTuple):
    """The distributions of all arms, their rates, the sum tree of the rates that are not negative, and room."""

    first: Floats
    second: Floats
    rate: Floats
    tree: Floats
    samples: Floats


@shared_inline
def table_in(scores: Floats, size: int) -> Table:
    """Return the parts of the working memory."""
    first, second, rate = scores[:size], scores[size : 2 * size], scores[2 * size : 3 * size]
    return Table(first, second, rate, scores[4 * size :], scores[3 * size : 4 * size])


# Normal and beta distributions, given by two numbers: mean and deviation, or a and b.


def _normal_posterior(policy: Any, arm: Any) -> Any:
    return policy.normal_posterior(arm)


def _beta_posterior(policy: Any, arm: Any) -> Any:
    return policy.beta_posterior(arm)


def _normal_least(policy: Any) -> int:
    return LEAST_NORMAL


def _beta_least(policy: Any) -> int:
    return LEAST_BETA


def _normal_level(policy: Any, threshold: float, steepness: float) -> Level:
    return Level(threshold, steepness, threshold, 0.0)


def _beta_level(policy: Any, threshold: float, steepness: float) -> Level:
    small = exp(-abs(threshold))
    large = 1.0 / (1.0 + small)
    small *= large
    x, rest = (large, small) if threshold > 0.0 else (small, large)
    return Level(threshold, steepness, x, rest)


def _normal_distance(policy: Any, level: Level, x: float) -> float:
    return x - level.x


def _beta_distance(policy: Any, level: Level, x: float) -> float:
    return log(x / (1.0 - x)) - level.threshold if x < 1.0 else np.inf


def _normal_quantile(policy: Any, mean: float, deviation: float, z: float) -> float:
    return mean + z * abs(deviation)


def _beta_quantile(policy: Any, a: float, b: float, z: float) -> float:
    return log(a / b) + z * sqrt(1.0 / a + 1.0 / b)


@shared_inline
def drawn_always(z: float, scale: float) -> Exceedance:
    """Return how an arm that is drawn at every step relates to a threshold z deviations above its mean.

    About half the logarithm of the probability to stay below the threshold. Half, since such an arm costs the
    same wherever the threshold is.
    """
    if z > 0.0:
        weight = 0.35 * exp(-z * (1.15 + 0.4 * z))
        return Exceedance(-weight, weight * (1.15 + 0.8 * z) / scale, np.inf)
    u = min(-z, 10.0)
    return Exceedance(-(0.35 + u * (0.4 + 0.195 * u)), (0.4 + 0.39 * u) / scale, np.inf)


def _normal_exceedance(policy: Any, mean: float, deviation: float, level: Level) -> Exceedance:
    """The density right of z is at most its tangent on the log scale, of mass density(z) / z."""
    scale = abs(deviation)
    if scale == 0.0:
        if mean >= level.x:
            return Exceedance(-1.0, 0.0, np.inf)
        return Exceedance(0.0 if mean < level.x else np.nan, 0.0, np.inf)
    z = (level.x - mean) / scale
    if z != z:
        return Exceedance(np.nan, 0.0, np.inf)
    steepness = z / scale
    if z < DIRECT_NORMAL or steepness < level.steepness:
        return drawn_always(z, scale)
    bound = _DENSITY * exp(-0.5 * z * z) / z
    return Exceedance(-log1p(-bound), bound * (steepness + 1.0 / (z * scale)), steepness)


def _beta_exceedance(policy: Any, a: float, b: float, level: Level) -> Exceedance:
    """The same for log(X / (1 - X)), whose density is log-concave for all a and b."""
    total = a + b
    fall = total * level.x - a if level.x < level.rest else b - total * level.rest
    if not fall > 0.0:
        if fall != fall:
            return Exceedance(np.nan, 0.0, np.inf)
        root = sqrt(a * b / total)
        return drawn_always(fall / root, 1.0 / root)
    bound = exp(log_peak(a, b) - beta_depth(a, b, level.x, level.rest)) / fall
    if bound > DIRECT_BETA or fall < level.steepness:
        root = sqrt(a * b / total)
        return drawn_always(fall / root, 1.0 / root)
    return Exceedance(-log1p(-bound), bound * (fall + total * level.x * level.rest / fall), fall)


def _normal_draw(policy: Any, mean: float, deviation: float, rng: Any) -> float:
    return mean + deviation * rng.normal()


def _beta_draw(policy: Any, a: float, b: float, rng: Any) -> float:
    return rng.beta(a, b)


@shared_inline
def exponential_draw(rng: Any) -> float:
    """Draw from the exponential distribution of mean 1."""
    return -log(1.0 - rng.uniform())


@shared_inline
def survives(excess: float, rng: Any) -> bool:
    """Return True with probability exp(-excess)."""
    u = rng.uniform()
    if u < 1.0 - excess:
        return True
    return u * (1.0 + excess) < 1.0 and u < exp(-excess)


def _normal_draw_above(policy: Any, mean: float, deviation: float, level: Level, ahead: float, best: float, rng: Any) -> float:
    """Draw from the tangent; keep the draw with the ratio of the density to the tangent, if it leads.

    On the scale of the tangent, the draw is above the threshold by at least ``ahead``.
    """
    scale = abs(deviation)
    step = (ahead + exponential_draw(rng)) * scale / (level.x - mean)
    x = level.x + scale * step
    return x if x > best and survives(0.5 * step * step, rng) else -np.inf


def _beta_draw_above(policy: Any, a: float, b: float, level: Level, ahead: float, best: float, rng: Any) -> float:
    total = a + b
    fall = total * level.x - a if level.x < level.rest else b - total * level.rest
    step = min((ahead + exponential_draw(rng)) / fall, 700.0)
    growth = level.x * expm1(step)
    odds = level.x + growth
    x = odds / (odds + level.rest)
    return x if x > best and survives(total * (log1p(growth) - level.x * step), rng) else -np.inf


def _draw_normals(policy: Any, mean: Floats, deviation: Floats, key: Any, drawn: int, samples: Floats) -> None:
    for i in range(len(samples)):
        samples[i] = mean[i] + deviation[i] * normal(key, drawn + i + 1)


def _draw_betas(policy: Any, a: Floats, b: Floats, key: Any, drawn: int, samples: Floats) -> None:
    for i in range(len(samples)):
        samples[i] = beta(a[i], b[i], key, drawn + i + 1)


def _of_family(normal: Any, beta: Any) -> Any:
    return by_policy_class(lambda kind: normal if kind.overrides("normal_posterior") else beta)


posterior = _of_family(_normal_posterior, _beta_posterior)
least_arms = _of_family(_normal_least, _beta_least)
level_of = _of_family(_normal_level, _beta_level)
quantile_of = _of_family(_normal_quantile, _beta_quantile)
exceedance = _of_family(_normal_exceedance, _beta_exceedance)
distance_of = _of_family(_normal_distance, _beta_distance)
draw = _of_family(_normal_draw, _beta_draw)
draw_all = _of_family(_draw_normals, _draw_betas)
draw_above = _of_family(_normal_draw_above, _beta_draw_above)


@shared_inline
def set_rate(tree: Floats, i: int, rate: float) -> None:
    """Set a leaf of the sum tree, and the sums above it."""
    node = len(tree) // 2 + i
    tree[node] = rate
    while node > 1:
        node >>= 1
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@shared
def add_up(tree: Floats) -> None:
    """Compute all sums of the tree from its leaves."""
    for node in range(len(tree) // 2 - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@shared_inline
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


@shared
def fill(policy: Any, rows: Rows, rewards: Any, level: Level, table: Table) -> bool:
    """Compute the table anew; return whether every distribution is one."""
    first, second, rate, tree, _ = table
    size, width = len(rows), len(tree) // 2
    proper = True
    for i in range(size):
        first[i], second[i] = posterior(policy, arm_with_rewards(policy, rows, i, rewards))
        rate[i] = exceedance(policy, float(first[i]), float(second[i]), level).rate
        tree[width + i] = max(rate[i], 0.0)
        proper &= rate[i] == rate[i]
    for i in range(width + size, 2 * width):
        tree[i] = 0.0
    add_up(tree)
    return bool(proper)


@shared_inline
def largest_above(
    policy: Any, table: Table, level: Level, rng: Any, chosen: int, best: float
) -> tuple[int, float]:
    """Draw the arms with a point in their interval; return the arm of the largest sample and the sample.

    ``chosen`` and ``best`` are those of the arms that were drawn already.
    """
    first, second, rate, tree, _ = table
    before, total, position = -1, float(tree[1]), 0.0
    ahead, scale = lead(policy, level, best)
    while True:
        position += exponential_draw(rng) * scale
        if not position < total:
            return chosen, best
        i = find(tree, position)
        if i == before or not rate[i] > 0.0:
            continue
        before = i
        if ahead == 0.0 or is_hit(float(rate[i]), 1.0 / scale, rng):
            x = draw_above(policy, float(first[i]), float(second[i]), level, ahead, best, rng)
            if x > best:
                chosen, best = i, x
                ahead, scale = lead(policy, level, best)


@shared_inline
def lead(policy: Any, level: Level, best: float) -> tuple[float, float]:
    """Return by how much the largest sample is above the threshold at the least steepness, and exp of it."""
    if not best > level.x:
        return 0.0, 1.0
    ahead = min(max(level.steepness * distance_of(policy, level, best), 0.0), 600.0)
    return ahead, exp(ahead)


@shared_inline
def is_hit(rate: float, share: float, rng: Any) -> bool:
    """Return True with the probability that makes up for points being ``share`` as frequent.

    (1 - exp(-rate)) share / (1 - exp(-rate share)), which is at least 1 - rate / 2.
    """
    u = rng.uniform()
    return u < 1.0 - 0.5 * rate or u * expm1(-rate * share) > share * expm1(-rate)


@shared
def largest_below(policy: Any, table: Table, level: Level, rng: Any, chosen: int, best: float) -> int:
    """Draw all arms that were not drawn, given that none exceeds the threshold; return as above."""
    first, second, rate, _, samples = table
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


@shared
def largest_sample(policy: Any, rows: Rows, round: SamplingRound, rng: Any, scores: Floats) -> int:
    """Return the place of the arm with the largest sample, -1 if a distribution is none."""
    level, table = level_of(policy, round.threshold, round.steepness), table_in(scores, len(rows))
    if not fill(policy, rows, rng.rewards, level, table):
        return -1
    chosen, best = -1, -np.inf
    for i in range(len(rows)):
        if table.rate[i] < 0.0:
            x = draw(policy, float(table.first[i]), float(table.second[i]), rng)
            if chosen < 0 or x > best:
                chosen, best = i, x
    chosen, best = largest_above(policy, table, level, rng, chosen, best)
    return chosen if best >= level.x else largest_below(policy, table, level, rng, chosen, best)


@shared_inline
def weight_of(policy: Any, rows: Rows, i: int, rewards: Any, round: SamplingRound) -> float:
    """Return how much an arm counts in the weight of a threshold."""
    first, second = posterior(policy, arm_with_rewards(policy, rows, i, rewards))
    level = level_of(policy, round.threshold, round.steepness)
    return abs(exceedance(policy, float(first), float(second), level).rate)


@shared_inline
def with_weight(round: SamplingRound, weight: float) -> SamplingRound:
    """Return the round with another weight."""
    number, until, threshold, steepness, _, aim = round
    return SamplingRound(number, until, threshold, steepness, weight, aim)


@shared_inline
def is_due(round: SamplingRound, t: int) -> bool:
    """Return whether the threshold is to be set anew after ``t`` rewards."""
    kept = LEAST_SHARE * round.aim < round.weight < MOST_SHARE * round.aim
    return t >= round.until or not (kept or round.threshold == -np.inf)


@shared
def with_new_threshold(policy: Any, rows: Rows, rewards: Any, t: int, round: SamplingRound) -> SamplingRound:
    """Set the threshold anew, such that its weight is about the aim, by Newton's method on log(weight)."""
    size, until = len(rows), t + LONGEST * len(rows)
    plain = SamplingRound(round.number, until, -np.inf, 0.0, 0.0, 0.0)
    if size < least_arms(policy) or not all_active(rows):
        return plain
    aim, threshold = AIM + AIM_GROWTH * log(size), round.threshold
    if threshold == -np.inf:
        threshold = high_threshold(policy, rows, rewards)
    for _ in range(STEPS):
        weight, slope, least = weigh(policy, rows, rewards, level_of(policy, threshold, 0.0))
        if weight < 1e-9:  # far above all arms
            threshold = high_threshold(policy, rows, rewards)
            continue
        distance = log(weight / aim)
        if abs(distance) < CLOSE or not slope > 0.0:
            break
        threshold += distance * weight / slope
    steepness = STEEP * least if least < np.inf else 0.0
    usable = abs(threshold) < np.inf and weight < np.inf
    return SamplingRound(round.number + 1, until, threshold, steepness, weight, weight) if usable else plain


@shared
def all_active(rows: Rows) -> bool:
    """Return whether every arm is active."""
    active = True
    for i in range(len(rows)):
        active &= bool(rows[i]["active"])
    return active


@shared
def high_threshold(policy: Any, rows: Rows, rewards: Any) -> float:
    """Return a threshold that about one arm exceeds, or fewer."""
    high, z = -np.inf, sqrt(2.0 * log(len(rows)))
    for i in range(len(rows)):
        first, second = posterior(policy, arm_with_rewards(policy, rows, i, rewards))
        high = max(high, quantile_of(policy, float(first), float(second), z))
    return high


@shared
def weigh(policy: Any, rows: Rows, rewards: Any, level: Level) -> tuple[float, float, float]:
    """Return the weight of a threshold, by how much it falls as that rises by 1, and the least steepness."""
    weight, slope, least = 0.0, 0.0, np.inf
    for i in range(len(rows)):
        first, second = posterior(policy, arm_with_rewards(policy, rows, i, rewards))
        found = exceedance(policy, float(first), float(second), level)
        weight += abs(found.rate)
        slope += found.slope
        if found.rate > 0.0:
            least = min(least, found.steepness)
    return weight, slope, least
