"""Random numbers as pure functions: draw ``n`` of stream ``key`` is always the same number.

The bits of draw n are SplitMix64's n-th output from the start ``key`` (Steele, Lea, Flood 2014). There is
no state to carry, so the n-th reward of an arm does not depend on what was drawn elsewhere, and any
draw can be had again. A draw that needs more than 64 bits takes them from the stream whose key is its
own first 64 bits.

All functions run as plain Python and compiled, and return the same. Only the four that work on the bits of a
word are written twice: Python has integers of any size, compiled code has words of 64 bits.
"""

from __future__ import annotations

from math import exp, floor, lgamma, log, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy import int64, uint64

from lowregret.engine.bridge.compile import (
    compiled_as,
    external,
    jittable,
    jittable_inline,
    register_tuple_methods,
)

_MASK = 2**64 - 1
_STEP, _MIX1, _MIX2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

POLICY_STREAM = -1  # the draws of the policy itself
SHUFFLE_STREAM = -2  # the order in which ties are broken
RESAMPLE_STREAM = -3  # the rows of a resampled log
ACCEPT_STREAM = -4  # which rows of a log count
ASSIGNMENT_STREAM = -5  # by which a live agent gives arms their minimum shares
DELAY_STREAM = -6  # the delays of rewards
PROBLEM_STREAM = -7  # the arms of a run, where each run has its own
"""What stands for the number of an arm in ``stream``, by what is drawn."""


def bits(key: Any, n: int) -> Any:
    """Return 64 random bits."""
    z = (int(key) + (int(n) & _MASK) * _STEP) & _MASK
    z = ((z ^ (z >> 30)) * _MIX1) & _MASK
    z = ((z ^ (z >> 27)) * _MIX2) & _MASK
    return z ^ (z >> 31)


@compiled_as(bits)
def _bits(key: Any, n: int) -> Any:
    z = uint64(key) + uint64(n) * uint64(_STEP)
    z = (z ^ (z >> uint64(30))) * uint64(_MIX1)
    z = (z ^ (z >> uint64(27))) * uint64(_MIX2)
    return z ^ (z >> uint64(31))


def upper_bits(word: Any) -> Any:
    """Return the upper 53 bits of a word."""
    return word >> 11


@compiled_as(upper_bits)
def _upper_bits(word: Any) -> Any:
    return word >> uint64(11)


def lower_bits(word: Any) -> Any:
    """Return the lower 8 bits of a word."""
    return word & 255


@compiled_as(lower_bits)
def _lower_bits(word: Any) -> Any:
    return word & uint64(255)


def signed_bits(word: Any) -> Any:
    """Return the upper 54 bits of a word as a signed integer."""
    return (word - 2**64 if word >= 2**63 else word) >> 10


@compiled_as(signed_bits)
def _signed_bits(word: Any) -> Any:
    return int64(word) >> 10


@jittable
def stream(seed: Any, run: int, arm: int) -> Any:
    """Return the key of the stream of one arm in one run."""
    return bits(bits(bits(seed, 1), run), arm)


@jittable_inline
def uniform(key: Any, n: int) -> float:
    """Draw from [0, 1)."""
    return upper_bits(bits(key, n)) * 2.0**-53


@jittable_inline
def positive(key: Any, n: int) -> float:
    """Draw from (0, 1]."""
    return (upper_bits(bits(key, n)) + 1.0) * 2.0**-53


def _ziggurat(layers: int = 256) -> npt.NDArray[np.float64]:
    """Return the right edges of layers of equal area under exp(-x^2 / 2), from the tail inwards."""
    start, area = 3.6541528853610088, 0.00492867323399
    edges = np.zeros(layers + 1)
    edges[0] = area / exp(-start * start / 2.0)
    edges[1] = start
    for i in range(2, layers):
        height = area / edges[i - 1] + exp(-(edges[i - 1] ** 2) / 2.0)
        edges[i] = sqrt(-2.0 * log(height))
    return edges


EDGES = _ziggurat()
RATIOS = EDGES[1:] / EDGES[:-1]


@jittable_inline
def edge(layer: int) -> float:
    """Return the right edge of a layer."""
    return EDGES[layer]


@jittable_inline
def ratio(layer: int) -> float:
    """Return the right edge of the next layer over that of a layer."""
    return RATIOS[layer]


@jittable_inline
def normal(key: Any, n: int) -> float:
    """Draw from the standard normal distribution by the ziggurat method (Doornik 2005)."""
    first = bits(key, n)
    layer = lower_bits(first)
    u = signed_bits(first) * 2.0**-53
    if abs(u) < ratio(layer):
        return u * edge(layer)
    return _normal_slowly(first)


@external
def _normal_slowly(first: Any) -> float:
    """Finish a normal draw that fell into the edge of a layer or into the tail: about one in 80."""
    start = edge(1)
    now = first
    n = 0
    while True:
        layer = lower_bits(now)
        u = signed_bits(now) * 2.0**-53
        if abs(u) < ratio(layer):
            return u * edge(layer)
        if layer == 0:
            while True:
                x = -log(positive(first, n + 1)) / start
                y = -log(positive(first, n + 2))
                n += 2
                if 2.0 * y > x * x:
                    return start + x if u > 0.0 else -start - x
        x = u * edge(layer)
        outer = exp(-0.5 * (edge(layer) * edge(layer) - x * x))
        inner = exp(-0.5 * (edge(layer + 1) * edge(layer + 1) - x * x))
        if inner + uniform(first, n + 1) * (outer - inner) < 1.0:
            return x
        now = bits(first, n + 2)
        n += 2


@jittable
def exponential(key: Any, n: int) -> float:
    """Draw from the exponential distribution of mean 1."""
    return -log(positive(key, n))


@external
def _log_gamma_draw(shape: float, key: Any, n: int) -> float:
    """Draw the logarithm of a gamma variate (Marsaglia and Tsang 2000), safe for tiny shapes."""
    own = bits(key, n)
    boost = 0.0
    if shape < 1.0:
        boost = log(positive(own, 0)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    attempt = 0
    while True:
        x = normal(own, 2 * attempt + 1)
        u = positive(own, 2 * attempt + 2)
        attempt += 1
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if log(u) < 0.5 * x * x + d * (1.0 - v + log(v)):
                return log(d * v) + boost


@jittable_inline
def _gamma_draw(shape: float, key: Any) -> float:
    """Draw a gamma variate of a shape of at least 1 (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    attempt = 0
    while True:
        x = normal(key, 2 * attempt + 1)
        u = positive(key, 2 * attempt + 2)
        attempt += 1
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            square = x * x
            # The first test accepts most of what the second would, without a logarithm.
            if u < 1.0 - 0.0331 * square * square or log(u) < 0.5 * square + d * (1.0 - v + log(v)):
                return d * v


@external
def beta(a: float, b: float, key: Any, n: int) -> float:
    """Draw from the beta distribution, as X / (X + Y) of two gamma variates."""
    own = bits(key, n)
    if a >= 1.0 and b >= 1.0:
        x = _gamma_draw(a, own)
        return x / (x + _gamma_draw(b, bits(own, 0)))
    difference = _log_gamma_draw(b, own, 1) - _log_gamma_draw(a, own, 2)
    if difference > 700.0:
        return exp(-difference)
    return 1.0 / (1.0 + exp(difference))


@jittable
def student(degrees: float, key: Any, n: int) -> float:
    """Draw from Student's t distribution, as a normal variate over the root of a mean of squares."""
    own = bits(key, n)
    log_mean = _log_gamma_draw(degrees / 2.0, own, 1) - log(degrees / 2.0)
    return normal(own, 2) * exp(-0.5 * log_mean)


@external
def poisson(rate: float, key: Any, n: int) -> float:
    """Draw from the Poisson distribution: inversion for small rates, else Hormann's PTRS (1993)."""
    if rate <= 0.0:
        return 0.0
    if rate < 10.0:
        u = uniform(key, n)
        probability = exp(-rate)
        total = probability
        count = 0
        while u >= total and count < 1000:
            count += 1
            probability *= rate / count
            total += probability
        return float(count)
    own = bits(key, n)
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    peak = 0.9277 - 3.6224 / (b - 2.0)
    attempt = 0
    while True:
        u = uniform(own, 2 * attempt) - 0.5
        v = positive(own, 2 * attempt + 1)
        attempt += 1
        us = 0.5 - abs(u)
        k = floor((2.0 * a / us + b) * u + rate + 0.43) if us > 0.0 else -1.0
        if us >= 0.07 and v <= peak:
            return float(k)
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        if log(v * inverse / (a / (us * us) + b)) <= k * log(rate) - rate - lgamma(k + 1.0):
            return float(k)


@jittable
def binomial(trials: int, p: float, key: Any, n: int) -> float:
    """Draw the number of successes in a number of trials, each of probability p.

    Inversion for small means, else Hormann's BTRS (1993).
    """
    if p > 0.5:
        return trials - binomial_below(trials, 1.0 - p, key, n)
    return binomial_below(trials, p, key, n)


@external
def binomial_below(trials: int, p: float, key: Any, n: int) -> float:
    """Draw from the binomial distribution with p at most 1/2."""
    if trials <= 0 or p <= 0.0:
        return 0.0
    odds = p / (1.0 - p)
    if trials * p < 10.0:
        u = uniform(key, n)
        probability = exp(trials * log1p(-p))
        total = probability
        count = 0
        while u >= total and count < trials:
            probability *= odds * (trials - count) / (count + 1.0)
            count += 1
            total += probability
        return float(count)
    own = bits(key, n)
    spread = sqrt(trials * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = trials * p + 0.5
    peak = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    mode = floor((trials + 1.0) * p)
    top = lgamma(mode + 1.0) + lgamma(trials - mode + 1.0)
    attempt = 0
    while True:
        u = uniform(own, 2 * attempt) - 0.5
        v = positive(own, 2 * attempt + 1)
        attempt += 1
        us = 0.5 - abs(u)
        k = floor((2.0 * a / us + b) * u + c) if us > 0.0 else -1.0
        if us >= 0.07 and v <= peak:
            return float(k)
        if k < 0.0 or k > trials:
            continue
        rest = top - lgamma(k + 1.0) - lgamma(trials - k + 1.0) + (k - mode) * log(odds)
        if log(v * alpha / (a / (us * us) + b)) <= rest:
            return float(k)


STATE = np.dtype([("key", np.uint64), ("drawn", np.int64)])
"""What a policy's own stream is made of: its key, and how many draws were made."""


class Rng(NamedTuple):
    """A policy's own stream: each call makes the next draw.

    The state is one row of an array of ``STATE``, not an array: Numba would count references to that at every
    draw. So the array must live as long as this does.
    """

    state: np.void

    def next(self) -> int:
        """Count one more draw."""
        self.state["drawn"] += 1
        return self.state["drawn"]

    def uniform(self) -> float:
        return uniform(self.state["key"], self.next())

    def normal(self) -> float:
        return normal(self.state["key"], self.next())

    def beta(self, a: float, b: float) -> float:
        return beta(a, b, self.state["key"], self.next())

    def student(self, degrees: float) -> float:
        return student(degrees, self.state["key"], self.next())

    def binomial(self, trials: int, p: float) -> float:
        return binomial(trials, p, self.state["key"], self.next())

    def uniform_at(self, t: int) -> float:
        """Return the number in [0, 1) that belongs to step ``t``, the same for every arm."""
        return uniform(bits(self.state["key"], 0), t)


register_tuple_methods(Rng)


def policy_rng(seed: int, run: int) -> Rng:
    """Return a policy's own stream in a run."""
    states = np.zeros(1, STATE)
    states["key"] = stream(np.uint64(seed), run, POLICY_STREAM)
    return Rng(states[0])


@jittable
def shuffle(seed: Any, run: int, order: npt.NDArray[np.int64]) -> None:
    """Fill ``order`` with the numbers of the arms in the order in which a run breaks ties."""
    key = stream(seed, run, SHUFFLE_STREAM)
    for i in range(len(order)):
        j = int(uniform(key, i) * (i + 1))
        order[i] = order[j]
        order[j] = i
