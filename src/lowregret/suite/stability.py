"""What the means of a run are worth: ordinary intervals of the best and of the worst arm, bias, and pulls."""

from collections.abc import Mapping

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled
from lowregret.engine.kernels.rewards import RewardSource, nth_reward, reward_source
from lowregret.engine.kernels.rng import stream
from lowregret.engine.kernels.state import rows_of
from lowregret.environments import Bandit

WHAT = "cover", "fixed", "bias", "spread"
STABILITY = tuple(f"{what}_{arm}" for arm in ("best", "worst") for what in WHAT)


@compiled
def draw_moments(source: RewardSource, data: Floats, counts: Integers, order: Integers, out: Floats) -> None:
    """Write mean and squared deviations of an arm's first n rewards for the counts n that ``order`` sorts."""
    n, mean, squares = 0, 0.0, 0.0
    for k in order:
        while n < counts[k]:
            n += 1
            deviation = nth_reward(source, data, n) - mean
            mean += deviation / n
            squares += deviation * deviation * (n - 1) / n
        out[k, 0], out[k, 1] = mean, squares


def stability(bandit: Bandit, seed: int, pulls: Mapping[str, Integers]) -> dict[str, dict[str, float]]:
    """Return the STABILITY by policy, from its pulls by run and arm; nan where the arm has none.

    cover: the share of runs whose 95% interval, mean +- 1.96 s / sqrt(n), all numbers for n < 2, contains
    the mean; fixed: the same with the pulls of another run, which do not depend on the rewards; bias: of the
    mean, in deviations of a reward; spread: deviation of the pulls over their mean. Policies share rewards.
    """
    rows, table = rows_of(bandit), {name: dict[str, float]() for name in pulls}
    for which, arm in (("best", bandit.means.argmax()), ("worst", bandit.means.argmin())):
        kind, _, a, b, c, d = reward_source(rows[arm])
        counts = np.zeros((max(map(len, pulls.values()), default=0), 2 * len(pulls)), np.int64)
        for k, values in enumerate(pulls.values()):
            counts[: len(values), 2 * k] = values[:, arm]
            counts[: len(values), 2 * k + 1] = np.roll(values[:, arm], 1)
        moments = np.zeros((*counts.shape, 2))
        for run, wanted in enumerate(counts):
            source = RewardSource(kind, np.uint64(stream(np.uint64(seed), run, int(arm))), a, b, c, d)
            draw_moments(source, bandit.data, wanted, np.argsort(wanted), moments[run])
        off, pairs = moments[..., 0] - bandit.means[arm], np.maximum(counts * (counts - 1), 1)
        inside = (np.abs(off) <= 1.959964 * np.sqrt(moments[..., 1] / pairs)) | (counts < 2)
        for k, (name, values) in enumerate(pulls.items()):
            runs, n = slice(len(values)), values[:, arm]
            with np.errstate(divide="ignore", invalid="ignore"):
                bias = np.divide(off[runs, 2 * k] @ (n > 0), (n > 0).sum()) / bandit.variances[arm] ** 0.5
                numbers = *inside[runs, 2 * k : 2 * k + 2].mean(axis=0), bias, n.std() / n.mean()
            table[name] |= {f"{what}_{which}": float(x) for what, x in zip(WHAT, numbers, strict=True)}
    return table
