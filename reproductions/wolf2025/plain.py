"""UCB-Improved and ETC as the notebooks have them, without lowregret: python plain.py"""

from math import ceil, e, floor, log, log2, sqrt

import numpy as np

STEPS, RUNS = 100_000, 1_000


def one_pull(means, random):
    """Seven phases of one pull of each arm that is left, then the arm of the best mean for ever."""
    worse = int(np.argmin(means))
    regret = np.zeros(RUNS)
    for run in range(RUNS):
        sums, pulls, left, gap, steps = [0.0, 0.0], [0, 0], [0, 1], 1.0, 0
        for _ in range(floor(0.5 * log2(STEPS / e))):
            for arm in left:
                sums[arm] += random.random() < means[arm]
                pulls[arm] += 1
                steps += 1
            level = log(STEPS * gap**2)
            width = sqrt(level / (2 * ceil(2 * level / gap**2)))
            lower = max(sums[arm] / pulls[arm] - width for arm in left)
            left = [arm for arm in left if sums[arm] / pulls[arm] + width >= lower]
            gap /= 2
        chosen = max(left, key=lambda arm: sums[arm] / pulls[arm])
        regret[run] = abs(means[0] - means[1]) * (pulls[worse] + (STEPS - steps) * (chosen == worse))
    return regret


def explore_then_follow(means, random):
    """A thousand pulls of each arm, then at each step the arm of the best mean so far."""
    sums, pulls = (
        np.array([random.binomial(1000, mean, RUNS) for mean in means]).astype(float),
        np.full((2, RUNS), 1e3),
    )
    every = np.arange(RUNS)
    for _ in range(2000, STEPS):
        arm = (sums / pulls).argmax(axis=0)
        sums[arm, every] += random.random(RUNS) < np.array(means)[arm]
        pulls[arm, every] += 1
    return abs(means[0] - means[1]) * pulls[int(np.argmin(means))]


if __name__ == "__main__":
    random = np.random.default_rng(1)
    for means in ((0.9, 0.8), (0.8, 0.9), (0.9, 0.895), (0.895, 0.9), (0.5, 0.495), (0.495, 0.5)):
        for play in (one_pull, explore_then_follow):
            regret = play(means, random)
            print(
                means, play.__name__, regret.mean().round(1), (regret.std() / RUNS**0.5).round(1), flush=True
            )
