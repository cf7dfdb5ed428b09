"""GLR-klUCB against a game that computes every sum anew."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import rel_entr

import lowregret as lr


def kl(p, q):
    return rel_entr(p, q) + rel_entr(1 - p, 1 - q)


def upper(mean, level):
    if mean >= 1 or kl(mean, 1 - 1e-15) <= level:
        return 1.0
    return brentq(lambda q: kl(mean, q) - level, mean, 1 - 1e-15, xtol=1e-15)


def naive(rewards, horizon, alpha, delta, local, c, every):
    """Play GLR-klUCB on a table of rewards."""
    arms = len(rewards)
    used, seen, start, since, path = [0] * arms, [[] for _ in rewards], 0, [0] * arms, []
    period = int(arms / alpha) if alpha else None
    for t in range(1, horizon + 1):
        turn = (t - start) % period if period else 0
        fresh = [i for i in range(arms) if not seen[i]]
        forced = [i for i in range(arms) if period and turn == (i + 1) % period]
        if fresh or forced:
            choice = min(fresh + forced)
        else:
            bounds = []
            for i in range(arms):
                level = log(t - since[i])
                level += c * log(level) if level > 1 else 0
                bounds.append(upper(np.mean(seen[i]), level / len(seen[i])))
            choice = int(np.argmax(np.round(bounds, 11)))
        x = seen[choice]
        x.append(rewards[choice][used[choice]])
        used[choice] += 1
        path.append(choice)
        n, mean = len(x), np.mean(x)
        if n % every == 0:
            splits = [s for s in range(1, n) if s % every == 0]
            tests = [s * kl(np.mean(x[:s]), mean) + (n - s) * kl(np.mean(x[s:]), mean) for s in splits]
            if tests and max(tests) >= log(3 * n * sqrt(n) / delta):
                for i in [choice] if local else range(arms):
                    seen[i], since[i] = [], t
                start = start if local else t
    return path


def table(seed):
    """Return rewards that change twice."""
    draws = np.random.RandomState(seed)
    means = np.repeat([[0.2, 0.8, 0.5], [0.9, 0.3, 0.5], [0.1, 0.2, 0.9]], 150, axis=0).T
    return np.clip(means + 0.15 * draws.standard_normal(means.shape), 0.001, 0.999)


@pytest.mark.parametrize(
    ("alpha", "delta", "local", "c", "every"),
    [
        (0.1, 0.05, False, 3.0, 1),
        (0.1, 0.05, True, 0.0, 1),
        (0.0, 0.2, False, 0.0, 3),
        (1.0, 0.01, True, 3.0, 2),
    ],
)
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_choices_are_those_of_the_source(alpha, delta, local, c, every, engine):
    policy = lr.GLRKLUCB(alpha=alpha, delta=delta, local=local, c=c, every=every)
    found = lr.trace(policy, table(2), horizon=400, engine=engine).arm.tolist()
    assert found == naive(table(2), 400, alpha, delta, local, c, every)


def test_it_restarts_after_a_change_and_rarely_without():
    still = lr.bernoulli([0.3, 0.7])
    changing = lr.piecewise_drift(still, {501: [0.9, 0.3]})
    lost = [
        lr.simulate("GLRKLUCB", each, 1_000, runs=40, seed=1).regret("GLRKLUCB") for each in (still, changing)
    ]
    assert lost[0].mean() < 60
    assert lost[1].mean() < 90


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 1.5}, "alpha must be between 0 and 1, got 1.5"),
        ({"delta": 0}, "delta must be between 0 and 1, both excluded, got 0"),
        ({"every": 0}, "every must be at least 1, got 0"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(lr.InputError, match=message):
        lr.GLRKLUCB(**parameters)
