"""KL-UCB of the exponential family, and exponential rewards cut at 10, in [0, 1]."""

from math import exp, log

import lowregret as lr


class KLUCBExp(lr.Policy):
    """The largest q with n d(m, q) <= log(t) + c log(log(t)), d(x, y) = x / y - 1 - log(x / y)."""

    c: float = 0.0

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")

    def score(self, arm, clock):
        if arm.mean <= 0.0:
            return 1e9
        level = max(clock.log_t + self.c * log(max(clock.log_t, 1.0)), 0.0) / arm.pulls
        low, high = 0.0, level + 1.0 + (2 * level) ** 0.5  # with z = log(q / m): exp(-z) - 1 + z = level
        for _ in range(50):
            z = (low + high) / 2
            if exp(-z) - 1 + z <= level:
                low = z
            else:
                high = z
        return arm.mean * exp(low)


def arm(scale):
    def sample(rng):
        return min(-scale * log(1 - rng.uniform()), 10.0) / 10.0

    e = exp(-10 / scale)
    mean = scale * (1 - e)
    second = 2 * scale * scale * (1 - e) - 20 * scale * e
    return lr.Sampled(sample, mean / 10, (second - mean * mean) / 100, low=0, high=1)


arms = lr.Bandit(tuple(arm(scale) for scale in (5, 4, 3, 2, 1)), "bounded exponential")
