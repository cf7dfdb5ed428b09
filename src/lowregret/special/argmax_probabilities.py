"""The probability of each of several independent variables to be the largest: normal, Beta or Student t.

Variable a is the largest with the probability of the integral of f_a(x) times the product of F_b(x) over all
others b. The range is cut into panels with the nodes of Gauss and Legendre, and the distribution functions
are integrals of the densities at the same nodes. A panel is as narrow as the narrowest density that varies
there.

The absolute error is below 1e-8 for Beta parameters up to a million. The tests compare with SciPy's adaptive
quadrature and with simulation. Only live agents use this, so it is vectorized and does not compile.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from math import erfc, inf, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre

from lowregret.special.tails import beta_tail, student_tail

Floats = npt.NDArray[np.float64]

ERROR = 1e-8
"""The largest absolute error of a probability."""
NODES = 16
"""The number of nodes of a panel."""
WIDTH, STUDENT_WIDTH = 6.0, 4.0
"""The width of a panel, in scales of the narrowest density."""
REACH = 6.4
"""Where the range of a normal density ends, in standard deviations: 2e-10 lies beyond."""
TINY = 1e-300
"""In place of a distribution function that is too small for a number."""
TAIL = 1e-10
"""What lies beyond the range of a Student density, about."""
ARMS_WITHOUT_SCIPY = 10_000
"""For how many arms in all distribution functions are computed one by one, in 9 us each. Importing SciPy
takes as long; it computes those of many arms at once."""
_arms = [0]  # so far


class PosteriorFamily(NamedTuple):
    """A family of distributions; all functions take arrays of the parameters.

    ``ranges`` returns the centre, the scale and the half-width of the range of each density, ``log_density``
    the logarithms of the densities at ``start + offset`` up to a constant, and ``below`` the distribution
    functions at ``start``.
    """

    ranges: Callable[..., tuple[Floats, Floats, Floats]]
    log_density: Callable[..., Floats]
    below: Callable[..., Floats]
    heavy: bool  # the tails of a density are as smooth as they are far from its centre
    low: float
    high: float
    far: float = 1.0  # how many times wider ranges are, and narrower panels


def _by_scipy(name: str, plain: Callable[..., float]) -> Callable[..., Floats]:
    """Return a function of ``scipy.special``; before it is worth its import, one that computes the same."""

    def function(first: Floats, *others: Any) -> Floats:
        _arms[0] += len(first)
        if _arms[0] > ARMS_WITHOUT_SCIPY:
            with suppress(ImportError):
                return np.asarray(getattr(import_module("scipy.special"), name)(first, *others))
        return np.array([*map(plain, *(column.tolist() for column in np.broadcast_arrays(first, *others)))])

    return function


_ndtr = _by_scipy("ndtr", lambda z: 0.5 * erfc(-sqrt(0.5) * z))
_stdtr = _by_scipy("stdtr", lambda degrees, z: student_tail(degrees, -z))
_betainc = _by_scipy("betainc", lambda a, b, x: beta_tail(b, a, 1.0 - x))


def _normal_ranges(mean: Floats, deviation: Floats) -> tuple[Floats, Floats, Floats]:
    return mean, deviation, REACH * deviation


def _normal_log_density(offset: Floats, start: float, mean: Floats, deviation: Floats) -> Floats:
    z = (offset + (start - mean)) / deviation
    return -0.5 * z * z


def _normal_below(start: float, mean: Floats, deviation: Floats) -> Floats:
    return _ndtr((start - mean) / deviation)


def _student_ranges(location: Floats, scale: Floats, degrees: Floats) -> tuple[Floats, Floats, Floats]:
    # P(T > z) is about (1 + z^2 / degrees)^(-degrees / 2).
    return location, scale, scale * np.sqrt(degrees * np.expm1(-2.0 * log(TAIL) / degrees))


def _student_log_density(
    offset: Floats, start: float, location: Floats, scale: Floats, degrees: Floats
) -> Floats:
    z = (offset + (start - location)) / scale
    return -0.5 * (degrees + 1.0) * np.log1p(z * z / degrees)


def _student_below(start: float, location: Floats, scale: Floats, degrees: Floats) -> Floats:
    return _stdtr(degrees, (start - location) / scale)


# The variable of integration is arcsin(sqrt(x)), whose density is proportional to sin^(2a - 1) cos^(2b - 1).
# The second derivative of the logarithm of that is at most -(sqrt(2a - 1) + sqrt(2b - 1))^2, so the tails are
# lighter than normal ones.


def _beta_ranges(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    sine, cosine = np.sqrt(2.0 * a - 1.0), np.sqrt(2.0 * b - 1.0)
    scale = 1.0 / (sine + cosine)
    return np.arctan2(sine, cosine), scale, REACH * scale


def _beta_log_density(offset: Floats, start: float, a: Floats, b: Floats) -> Floats:
    x = start + offset
    return (2.0 * a - 1.0) * np.log(np.sin(x)) + (2.0 * b - 1.0) * np.log(np.cos(x))


def _beta_below(start: float, a: Floats, b: Floats) -> Floats:
    return _betainc(a, b, np.sin(start) ** 2)


NORMAL = PosteriorFamily(_normal_ranges, _normal_log_density, _normal_below, False, -inf, inf)
STUDENT = PosteriorFamily(_student_ranges, _student_log_density, _student_below, True, -inf, inf)
BETA = PosteriorFamily(_beta_ranges, _beta_log_density, _beta_below, False, 0.0, pi / 2.0)
FAR_NORMAL, FAR_BETA = (family._replace(far=6.0) for family in (NORMAL, BETA))


def normal_argmax(means: Floats, deviations: Floats, far: bool = False) -> Floats:
    """Return the probability of each of several normal variables to be the largest.

    A variable of deviation 0 is constant. The first of several equal constants counts as the largest. All are
    nan if a mean or a deviation is not finite. With ``far``, small probabilities have a small relative error.

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.special.argmax_probabilities import normal_argmax
    >>> normal_argmax(np.array([0.0, 1.0]), np.array([1.0, 1.0])).round(6)
    array([0.23975, 0.76025])
    """
    return _with_constants(FAR_NORMAL if far else NORMAL, means, np.abs(deviations))


def student_argmax(locations: Floats, scales: Floats, degrees: Floats) -> Floats:
    """Return the probability of each of several variables, location + scale * t, to be the largest.

    t has Student's distribution with so many degrees of freedom. A variable of scale 0 is constant. The first
    of several equal constants counts as the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.special.argmax_probabilities import student_argmax
    >>> student_argmax(np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([1.0, 1.0])).round(6)
    array([0.25, 0.75])
    """
    return _with_constants(STUDENT, locations, scales, degrees)


def beta_argmax(a: Floats, b: Floats, far: bool = False) -> Floats:
    """Return the probability of each of several Beta(a, b) variables to be the largest; a, b are at least 1.

    With ``far``, small probabilities have a small relative error.

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.special.argmax_probabilities import beta_argmax
    >>> beta_argmax(np.array([2.0, 1.0]), np.array([2.0, 3.0])).round(6)
    array([0.8, 0.2])
    """
    return _in_any_order(FAR_BETA if far else BETA, -inf, a, b)[0]


def top_two_shares(first: Floats, leader_share: float) -> Floats:
    """Return the probabilities of top-two sampling from those of the arms to have the largest sample.

    If arm i comes first and is not pulled, arm j is, with the probability first[j] divided by the sum of all
    but first[i].
    """
    leader = int(first.argmax())
    others = np.arange(len(first)) != leader
    rest = 1.0 - first
    rest[leader] = first[others].sum()
    if not rest[leader] > 0.0:
        return first
    odds = first / rest
    second = first * (odds.sum() - odds)
    second[leader] = first[leader] * odds[others].sum()
    shares: Floats = leader_share * first + (1.0 - leader_share) * second
    return shares


def _with_constants(family: PosteriorFamily, centres: Floats, scales: Floats, *others: Floats) -> Floats:
    """Return the probabilities where a variable of scale 0 is constant."""
    if not (np.isfinite(centres) & np.isfinite(scales)).all():
        return np.full(len(centres), np.nan)
    centres = centres - centres.max()  # so that differences stay accurate far from 0
    if scales.min() > 0.0:
        return _in_any_order(family, -inf, centres, scales, *others)[0]
    constants = np.where(scales > 0.0, -inf, centres)
    largest, varies = int(constants.argmax()), scales > 0.0
    shares = np.zeros(len(centres))
    shares[largest] = 1.0
    if varies.any():
        variables = [values[varies] for values in (centres, scales, *others)]
        shares[varies], shares[largest] = _in_any_order(family, float(constants[largest]), *variables)
    return shares


def _in_any_order(family: PosteriorFamily, floor: float, *parameters: Floats) -> tuple[Floats, float]:
    """Call ``_probabilities`` in such a way that it finds what it computed for another order of the arms."""
    order = np.lexsort(parameters)
    data = np.array(parameters, np.float64)[:, order]
    ordered, none = _probabilities(family, len(order), data.tobytes(), floor)
    shares = np.empty(len(order))
    shares[order] = ordered
    return shares, none


@lru_cache(maxsize=16)
def _probabilities(family: PosteriorFamily, count: int, data: bytes, floor: float) -> tuple[Floats, float]:
    """Return the probability of each variable to be the largest and above ``floor``, and that of none."""
    parameters = np.frombuffer(data).reshape(-1, count)
    centre, scale, reach = family.ranges(*parameters)
    reach = family.far * reach
    low, high = np.maximum(centre - reach, family.low), np.minimum(centre + reach, family.high)
    start = max(float(low.max()), floor)
    rivals = (high > start).nonzero()[0]
    shares = np.zeros(count)
    if len(rivals) == 0:
        return shares, 1.0
    if len(rivals) < count:
        parameters, centre, scale, high = parameters[:, rivals], centre[rivals], scale[rivals], high[rivals]
    first = family.below(start, *parameters)
    none = float(first.prod()) if start == floor else 0.0
    if family.heavy:
        edges = _edges_of_heavy_tails(centre - start, scale, high - start)
    else:
        edges = _edges(scale / family.far, high - start)
    shares[rivals] = _integrals(family, start, edges, first, parameters[:, :, None])
    return shares, none


def _edges(scale: Floats, ends: Floats) -> Floats:
    """Return the edges of the panels, from 0 to the last end of a range."""
    order = np.argsort(-ends)
    remaining = ends[order].tolist()
    widths = (WIDTH * np.minimum.accumulate(scale[order])).tolist()
    edges, at = [0.0], 0.0
    while at < remaining[0]:
        while remaining[-1] <= at:
            remaining.pop()
        at = min(at + widths[len(remaining) - 1], remaining[0])
        edges.append(at)
    return np.array(edges)


def _edges_of_heavy_tails(centre: Floats, scale: Floats, ends: Floats) -> Floats:
    """Return the edges of panels which, far from every centre, are half as wide as they are far from it."""
    order = np.argsort(-ends)
    remaining, centre, scale = ends[order].tolist(), centre[order], STUDENT_WIDTH * scale[order]
    edges, at, least = [0.0], 0.0, 1e-13 * remaining[0]
    while at < remaining[0]:
        while remaining[-1] <= at:
            remaining.pop()
        size = len(remaining)
        width = float(np.maximum(scale[:size], 0.5 * np.abs(centre[:size] - at)).min())
        at = min(at + max(width, least), remaining[0])
        edges.append(at)
    return np.array(edges)


@cache
def _rule() -> tuple[Floats, Floats]:
    """Return the nodes in [0, 1], and a matrix of integrals from 0 to each of them and to 1."""
    nodes, _ = legendre.leggauss(NODES)
    values = legendre.legvander(nodes, NODES - 1)
    primitives = legendre.legint(np.eye(NODES), lbnd=-1)
    integrals = legendre.legval(np.append(nodes, 1.0), primitives)
    matrix = np.linalg.solve(values.T, integrals) / 2.0
    return (nodes + 1.0) / 2.0, np.asarray(matrix, np.float64)


def _integrals(
    family: PosteriorFamily, start: float, edges: Floats, first: Floats, parameters: Any
) -> Floats:
    """Return the probability of each variable to be the largest and above ``start``."""
    nodes, matrix = _rule()
    widths, count = edges[1:] - edges[:-1], len(first)
    offsets = (edges[:-1, None] + widths[:, None] * nodes).ravel()
    density = family.log_density(offsets, start, *parameters)
    density -= density.max(axis=1, keepdims=True)
    np.exp(density, out=density)
    # One small product for each variable: a single large one would wait for the threads of BLAS.
    integrals = density.reshape(count, len(widths), NODES) @ matrix
    integrals *= widths[:, None]
    masses = integrals[:, :, -1]
    mass = masses.cumsum(axis=1)
    factor = ((1.0 - first) / mass[:, -1])[:, None]
    mass -= masses
    mass *= factor
    mass += first[:, None]
    below = integrals[:, :, :-1] * factor[:, :, None]
    below += mass[:, :, None]
    below = below.reshape(count, -1)
    below[below == 0.0] = TINY
    density /= below
    density *= (widths[:, None] * matrix[:, -1]).ravel() * below.prod(axis=0)
    shares: Floats = density.sum(axis=1) * factor[:, 0]
    return shares
