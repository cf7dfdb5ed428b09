"""Upper quantiles of the normal, Student and Beta distributions, by the probability that lies above them.

A bandit policy wants the quantile of 1 - 1/t; it passes the tail 1/t, so that nothing cancels for large t.

They are our own, and not SciPy's, for the reasons given in `lowregret.special.tails`.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p, sqrt

from lowregret.special.tails import (
    beta_depth,
    beta_is_low,
    beta_mills,
    log_peak,
    student_is_smooth,
    student_series,
)

_FAR = 700.0
"""Where log(x / (1 - x)) ends, since exp of much more overflows."""


def normal_upper(tail: float) -> float:
    """Return the number that a standard normal variable exceeds with probability ``tail``, in (0, 1).

    Wichura, Algorithm AS 241, Applied Statistics 37, 1988, routine PPND16.
    """
    centred = 0.5 - tail
    if abs(centred) <= 0.425:
        r = 0.180625 - centred * centred
        top = r * (r * 2509.0809287301226727 + 33430.575583588128105) + 67265.770927008700853
        top = r * (r * (r * top + 45921.953931549871457) + 13731.693765509461125) + 1971.5909503065514427
        top = r * (r * top + 133.14166789178437745) + 3.387132872796366608
        bottom = r * (r * 5226.495278852545925 + 28729.085735721942674) + 39307.89580009271061
        bottom = r * (r * (r * bottom + 21213.794301586595867) + 5394.1960214247511077) + 687.1870074920579083
        bottom = r * (r * bottom + 42.313330701600911252) + 1.0
        return centred * top / bottom
    r = sqrt(-log(tail if centred > 0.0 else 1.0 - tail))
    if r <= 5.0:
        r -= 1.6
        top = r * (r * 7.7454501427834140764e-4 + 0.0227238449892691845833) + 0.24178072517745061177
        top = r * (r * (r * top + 1.27045825245236838258) + 3.64784832476320460504) + 5.7694972214606914055
        top = r * (r * top + 4.6303378461565452959) + 1.42343711074968357734
        bottom = r * (r * 1.05075007164441684324e-9 + 5.475938084995344946e-4) + 0.0151986665636164571966
        bottom = (
            r * (r * (r * bottom + 0.14810397642748007459) + 0.68976733498510000455) + 1.6763848301838038494
        )
        bottom = r * (r * bottom + 2.05319162663775882187) + 1.0
    else:
        r -= 5.0
        top = r * (r * 2.01033439929228813265e-7 + 2.71155556874348757815e-5) + 0.0012426609473880784386
        top = r * (r * (r * top + 0.026532189526576123093) + 0.29656057182850489123) + 1.7848265399172913358
        top = r * (r * top + 5.4637849111641143699) + 6.6579046435011037772
        bottom = r * (r * 2.04426310338993978564e-15 + 1.4215117583164458887e-7) + 1.8463183175100546818e-5
        bottom = (
            r * (r * (r * bottom + 7.868691311456132591e-4) + 0.0148753612908506148525)
            + 0.13692988092273580531
        )
        bottom = r * (r * bottom + 0.59983220655588793769) + 1.0
    return top / bottom if centred > 0.0 else -top / bottom


def student_upper(degrees: float, tail: float) -> float:
    """Return the number that a variable of Student's t distribution exceeds with probability ``tail``."""
    if tail == 0.5:
        return 0.0
    above = min(tail, 1.0 - tail)
    z = normal_upper(above)
    if z < 0.01 or not student_is_smooth(degrees, z * z):
        # The square of T, over itself plus the degrees, has a Beta distribution.
        x = sqrt(degrees) * exp(0.5 * _beta_logit(0.5, 0.5 * degrees, 2.0 * above))
    else:
        size = degrees - 0.5
        s = z - z * (z * z + 3.0) / (48.0 * size * size)
        mass, density = student_series(degrees, s)
        step = (mass - above * exp(0.5 * s * s)) / density
        # The quantile as a function of its tail, to the third order.
        slope = s * (1.0 + s * s / (12.0 * size * size))
        s += step * (1.0 + step * (0.5 * slope + step * (2.0 * slope * slope + 1.0) / 6.0))
        x = sqrt(degrees * expm1(s * s / size))
    return x if tail < 0.5 else -x


def beta_upper(a: float, b: float, tail: float) -> float:
    """Return the number that a variable of the Beta(a, b) distribution exceeds with probability ``tail``.

    a and b are at least 0.05. The tail is positive; one of at least 1 gives 0. The relative error is about
    1e-14, or 2e-13 for parameters below 1.
    """
    if tail >= 1.0:
        return 0.0
    return 1.0 / (1.0 + exp(-_beta_logit(a, b, tail)))


def _beta_logit(a: float, b: float, tail: float) -> float:
    """Return log(x / (1 - x)) of the upper quantile x of Beta(a, b).

    On this scale the logarithm of the tail is a concave function, almost a line far out, so that Newton's
    method needs few steps from anywhere.
    """
    left = tail > 0.5
    if left:
        a, b, tail = b, a, 1.0 - tail
    peak, target = log_peak(a, b), log(tail)
    logit = min(max(_beta_logit_start(a, b, tail), -_FAR), _FAR)
    for _ in range(50):
        small = exp(-abs(logit))
        rest = 1.0 / (1.0 + small)
        x = small * rest
        if logit > 0.0:
            x, rest = rest, x
        depth = beta_depth(a, b, x, rest)
        mills = beta_mills(a, b, x, rest, depth)
        if beta_is_low(a, b, x):
            density = exp(peak - depth)
            mass = 1.0 - density * mills
            hazard = density / mass
            excess = log(mass) - target
        else:
            hazard = 1.0 / mills
            excess = peak - depth + log(mills) - target
        newton = excess / hazard
        curve = hazard + a * rest - b * x
        bend = 0.5 * newton * curve
        third = newton * newton * (curve * (curve + hazard) - (a + b) * x * rest) / 6.0
        # Householder's step of the fourth order, held near Newton's while still far away. Newton's step from
        # far out to the right cannot pass the root; a longer one could, and end where the tail is flat.
        longest = 1.0 if excess < -1.0 else 2.0
        step = newton * min(max((1.0 + bend) / (1.0 + 2.0 * bend + third), 0.5), longest)
        logit = min(max(logit + step, -_FAR), _FAR)
        if abs(excess) < 1e-3 or abs(logit) == _FAR:
            break
    return -logit if left else logit


def _beta_logit_start(a: float, b: float, tail: float) -> float:
    """Return about the quantile that ``_beta_logit`` looks for, for a tail of at most 1/2."""
    if min(a, b) < 4.0:
        return _beta_logit_far(a, b, tail)
    # The expansion of Cornish and Fisher, from the cumulants of log(X / (1 - X)).
    z = normal_upper(tail)
    square = z * z
    of_a, of_b = 1.0 / (a - 0.5), 1.0 / (b - 0.5)
    total, difference = of_a + of_b, of_b - of_a
    cubes = of_a * of_a * of_a + of_b * of_b * of_b
    variance = total - cubes / 12.0
    deviation = sqrt(variance)
    skewness = difference * total / (variance * deviation)
    kurtosis = 2.0 * cubes / (variance * variance)
    fifth = 6.0 * difference * total * (of_a * of_a + of_b * of_b) / (variance * variance * deviation)
    skewness_square = skewness * skewness
    first = skewness * (square - 1.0) / 6.0
    second = z * (kurtosis * (square - 3.0) / 24.0 - skewness_square * (2.0 * square - 5.0) / 36.0)
    third = fifth * (square * (square - 6.0) + 3.0) / 120.0
    third -= skewness * kurtosis * (square * (square - 5.0) + 2.0) / 24.0
    third += skewness * skewness_square * (square * (12.0 * square - 53.0) + 17.0) / 324.0
    # Far out to the right any start will do; to the left the tail is flat, and Newton's method would leap.
    standard = max(z + first + second + third, -1.0)
    return log(of_b / of_a) - difference * total / 24.0 + deviation * standard


def _beta_logit_far(a: float, b: float, tail: float) -> float:
    """Return a start for small parameters, from the powers that the density is near 0 and near 1."""
    total = a + b
    left = exp(a * log(a / total)) / a
    right = exp(b * log(b / total)) / b
    mass = left + right
    if tail * mass < right:
        depth = -log(tail * mass * b) / b
        return depth + log(-expm1(-depth))
    depth = -(log1p(-tail) + log(mass * a)) / a
    return -depth - log(-expm1(-depth))
