"""Upper tails of the beta and Student t distributions, accurate for small and for very large parameters.

Two methods share the work. Far from the centre, or for small parameters, a continued fraction converges in
a few terms. Near the centre, for large parameters, it would need many; there the distribution is almost
normal, and the tail is a short sum of moments of the normal tail. To that end the density is written as
phi(s) g(s), where s is the signed root of the deviance and g is a power series that begins with 1.

They are our own, and not SciPy's, since they compile inside a policy and must return the same bits on every
machine and with every version of SciPy. The analysis, which does not compile, uses SciPy.
"""

from __future__ import annotations

from math import erfc, exp, log, log1p, pi, sqrt

from lowregret.special.divergences import poisson_kl

_ROOT_HALF = sqrt(0.5)
_ROOT_HALF_PI = sqrt(0.5 * pi)

_ORDER = 15
"""The highest power of s in the series of the Beta distribution's g."""


def _beta_series() -> tuple[float, ...]:
    """Return the coefficients of g(s) = s / y for the Beta distribution, in one row.

    y is the distance from the mean a / r, r = a + b, in units of sqrt(a b / r^3). With
    skew = (b - a) / sqrt(a b r) it obeys y y' = s (1 + skew y - y^2 / r). So g obeys
    s g' = g - g^3 - skew s g^2 + s^2 g / r, which gives each power of s from those before: the coefficient of
    s^k is the sum over j of skew^(k - 2j) r^-j times number j of the k-th group.
    """

    def product(first: list[list[float]], second: list[list[float]], power: int) -> list[float]:
        total = [0.0] * (power + 1)
        for k in range(1, power):
            for i, left in enumerate(first[k]):
                for j, right in enumerate(second[power - k]):
                    total[i + j] += left * right
        return total

    series, squares = [[1.0]], [[1.0]]
    for k in range(1, _ORDER + 1):
        square, cube = product(series, series, k), product(series, squares, k)
        term = [-square[j] - cube[j] for j in range(k // 2 + 1)]
        for j, value in enumerate(squares[k - 1]):
            term[j] -= value
        for j, value in enumerate(series[k - 2] if k > 1 else []):
            term[j + 1] += value
        series.append([value / (k + 2) for value in term])
        squares.append([square[j] + 2.0 * value for j, value in enumerate(series[k])])
    return tuple(value for term in series for value in term)


_BETA_SERIES = _beta_series()

_STUDENT_SERIES = (
    1.0,
    -1.0 / 48.0,
    1.0 / 2560.0,
    -61.0 / 7741440.0,
    1261.0 / 7431782400.0,
    -79.0 / 20761804800.0,
    66643.0 / 761775532277760.0,
    -16820653.0 / 8227175748599808000.0,
)
"""The coefficients of g = sqrt((u / 2) / sinh(u / 2)), u = s^2 / (degrees - 1/2), in powers of u^2."""


def stirling_rest(a: float) -> float:
    """Return log Gamma(a) - (a - 1/2) log a + a - log(2 pi) / 2, about 1 / (12 a), to about 1e-14."""
    # `math.lgamma` would do for small numbers, but Numba's differs from Python's in the last bits.
    large, product = a, 1.0
    while large < 10.0:
        product *= large
        large += 1.0
    inverse = 1.0 / large
    square = inverse * inverse
    rest = 1.0 / 1188.0 - square * (691.0 / 360360.0 - square / 156.0)
    rest = 1.0 / 1260.0 - square * (1.0 / 1680.0 - square * rest)
    rest = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * rest))
    if large == a:
        return rest
    return rest + (large - 0.5) * log(large) - (a - 0.5) * log(a) - log(product) - (large - a)


def log_peak(a: float, b: float) -> float:
    """Return the logarithm of the density of log(X / (1 - X)), X from Beta(a, b), at its peak a / (a + b)."""
    total = a + b
    rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(total)
    return 0.5 * log(a / total * b / (2.0 * pi)) - rest


def beta_depth(a: float, b: float, x: float, rest: float) -> float:
    """Return how much lower than at its peak the log of the density of log(X / (1 - X)) is at x.

    This is (a + b) kl(a / (a + b), x). ``rest`` is 1 - x, which may be known better than x tells.
    """
    total = a + b
    change = total * x - a if x < rest else b - total * rest
    return poisson_kl(a, total * x, change) + poisson_kl(b, total * rest, -change)


def beta_is_low(a: float, b: float, x: float) -> bool:
    """Return whether x lies below about the mean of Beta(a, b), where P(X < x) is the smaller tail."""
    return (a + b + 2.0) * x < a + 1.0


def beta_mills(a: float, b: float, x: float, rest: float, depth: float) -> float:
    """Return the smaller tail of Beta(a, b) at x over the density of log(X / (1 - X)) there.

    The tail is P(X < x) where ``beta_is_low(a, b, x)``, else P(X > x). ``rest`` is 1 - x and ``depth`` is
    ``beta_depth(a, b, x, rest)``. The relative error is about 1e-13.
    """
    if beta_is_low(a, b, x):
        a, b, x, rest = b, a, rest, x
    if depth < 500.0 and _reach(a, b, depth) < 0.035:
        return _beta_series_mills(a, b, depth, (a + b) * x < a)
    return 1.0 / _beta_fraction(b, a, rest, x)


def _beta_series_mills(a: float, b: float, depth: float, left: bool) -> float:
    """Return the upper tail over the density for large parameters, from moments of the normal tail."""
    inverse = 1.0 / (a + b)
    s = -sqrt(2.0 * depth) if left else sqrt(2.0 * depth)
    scale = sqrt(a * inverse * b)
    skew = (b - a) * inverse / scale
    skew_square = skew * skew
    reach = _reach(a, b, depth)
    before = erfc(s * _ROOT_HALF) * exp(depth) * _ROOT_HALF_PI
    moment = 1.0
    mills = before + _BETA_SERIES[1] * skew
    power, size, place = s, reach, 2
    for half in range(1, _ORDER // 2 + 1):
        before, moment = moment, power + (2 * half - 1) * before
        power *= s
        even = _homogeneous(place, half, skew_square, inverse)
        mills += even * moment
        before, moment = moment, power + 2 * half * before
        power *= s
        odd = _homogeneous(place + half + 1, half, skew_square, inverse)
        mills += odd * skew * moment
        place += 2 * half + 2
        size *= reach
        if size < 1e-17:
            break
    return mills / scale


def _homogeneous(place: int, degree: int, x: float, y: float) -> float:
    """Return the sum over j of x^(degree - j) y^j times the coefficient at ``place`` + j."""
    total = _BETA_SERIES[place]
    power = 1.0
    for j in range(1, degree + 1):
        power *= y
        total = total * x + _BETA_SERIES[place + j] * power
    return total


def _reach(a: float, b: float, depth: float) -> float:
    """Return about the ratio at which the terms of ``_beta_series_mills`` fall, two by two."""
    return (2.0 * depth + 6.0) / (12.0 * min(a, b))


def _beta_fraction(a: float, b: float, x: float, rest: float) -> float:
    """Return x^a (1 - x)^b / (B(a, b) P(X < x)) as a continued fraction, for x <= (a + 1) / (a + b + 2).

    The even part of the classical fraction (DLMF 8.17.22), by Lentz's method.
    """
    centre = a * rest - b * x + 1.0
    inverse = 1.0 / (a + 1.0)
    fraction = a * centre * inverse
    numerator, denominator = fraction, 0.0
    for k in range(1, 5000):
        before = inverse
        inverse = 1.0 / (a + 2.0 * k + 1.0)
        shift = k * (b - k) * x * before
        first = (a + k - 1.0) * (a + b + k - 1.0) * x * before * shift
        second = k + shift + (a + k) * (centre + k * (1.0 + rest)) * inverse
        denominator = 1.0 / (second + first * denominator)
        numerator = second + first / numerator
        change = numerator * denominator
        fraction *= change
        if abs(change - 1.0) < 4e-16:
            break
    return fraction


def beta_tail(a: float, b: float, x: float) -> float:
    """Return P(X > x) for any number x and X from Beta(a, b), a and b positive."""
    return 0.0 if x >= 1.0 else _beta_tail(a, b, x, 1.0 - x)


def _beta_tail(a: float, b: float, x: float, rest: float) -> float:
    """Return P(X > x), X from Beta(a, b), where 1 - x is known too."""
    if x < 1e-300:
        return 1.0
    depth = beta_depth(a, b, x, rest)
    density = exp(log_peak(a, b) - depth)
    tail = density * beta_mills(a, b, x, rest, depth)
    return 1.0 - tail if beta_is_low(a, b, x) else tail


def student_tail(degrees: float, x: float) -> float:
    """Return P(T > x) for |x| < 1e150, T from Student's t distribution with at least 1 degree."""
    square = x * x
    deviance = (degrees - 0.5) * log1p(square / degrees)
    if student_is_smooth(degrees, deviance):
        mass, _ = student_series(degrees, sqrt(deviance))
        tail = mass * exp(-0.5 * deviance)
    else:
        total = degrees + square
        tail = 0.5 * _beta_tail(0.5, 0.5 * degrees, square / total, degrees / total)
    return tail if x >= 0.0 else 1.0 - tail


def student_is_smooth(degrees: float, deviance: float) -> bool:
    """Return whether ``student_series`` is accurate there."""
    return degrees > 20.0 and deviance < 0.6 * degrees and deviance < 1000.0


def student_series(degrees: float, s: float) -> tuple[float, float]:
    """Return P(T > x) and the density of s, both over exp(-s^2 / 2), for many degrees of freedom.

    s is the root of the deviance of x, (degrees - 1/2) log(1 + x^2 / degrees). The relative error of both is
    about 1e-14 where ``student_is_smooth``.
    """
    scale = 1.0 / ((degrees - 0.5) * (degrees - 0.5))
    square = s * s
    fourth = square * square
    moment = erfc(s * _ROOT_HALF) * exp(0.5 * square) * _ROOT_HALF_PI
    mass, density, total = moment, 1.0, 1.0
    power, odd_power, full, size = 1.0, s, 1.0, 1.0
    for k in range(1, len(_STUDENT_SERIES)):
        odd = 4.0 * k - 1.0
        moment = odd_power * square + odd * (odd_power + (odd - 2.0) * moment)
        full *= odd * (odd - 2.0)
        power *= fourth
        odd_power *= fourth
        size *= scale
        coefficient = _STUDENT_SERIES[k] * size
        mass += coefficient * moment
        density += coefficient * power
        total += coefficient * full
    total *= 2.0 * _ROOT_HALF_PI
    return mass / total, density / total
