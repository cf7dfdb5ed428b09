"""Table 1 without lowregret: a plain loop, compiled by Numba. python plain.py RUNS DELAY...

``late``: a policy learns that an item was replaced with the next feedback, and not at once.
"""

import sys

import numpy as np
from numba import njit

STEPS, ITEMS = 1_000_000, 10


@njit
def regret_of(seed, delay, thompson, late):
    np.random.seed(seed)
    means = np.random.beta(4.0, 4.0, ITEMS)
    pulls, wins, new_pulls, new_wins, born = np.zeros((5, ITEMS))
    replaced = np.zeros(ITEMS, np.bool_)
    regret = 0.0
    for t in range(1, STEPS + 1):
        if np.random.random() < 1e-3:
            item = np.random.randint(ITEMS)
            means[item] = np.random.beta(4.0, 4.0)
            replaced[item], new_pulls[item], new_wins[item], born[item] = True, 0.0, 0.0, t
        if not late or t % delay == 0:
            for i in range(ITEMS):
                if replaced[i]:
                    replaced[i], pulls[i], wins[i] = False, 0.0, 0.0
        best, place = -1.0, 0
        for i in range(ITEMS):
            if thompson:
                score = np.random.beta(1.0 + wins[i], 1.0 + pulls[i] - wins[i])
            elif pulls[i] == 0.0:
                score = 1e9
            else:
                level, mean = 0.5 * np.log(max(t - born[i], 1.0)), wins[i] / pulls[i]
                score = mean + np.sqrt(2.0 * mean * level / pulls[i]) + 2.0 * level / pulls[i]
            if score > best:
                best, place = score, i
        regret += means.max() - means[place]
        new_pulls[place] += 1.0
        new_wins[place] += np.random.random() < means[place]
        if t % delay == 0:
            for i in range(ITEMS):
                pulls[i] += new_pulls[i]
                wins[i] += new_wins[i]
                new_pulls[i] = new_wins[i] = 0.0
    return regret


if __name__ == "__main__":
    runs, delays = int(sys.argv[1]), [int(text) for text in sys.argv[2:]]
    for delay in delays:
        for thompson in (True, False):
            for late in (False, True):
                found = np.array([regret_of(seed, delay, thompson, late) for seed in range(runs)])
                se = found.std(ddof=1) / runs**0.5 if runs > 1 else 0.0
                learns = "with the feedback" if late else "at once"
                print(delay, "TS" if thompson else "UCB", learns, round(found.mean()), round(se), flush=True)
