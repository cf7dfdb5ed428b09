"""The table of a run: one row per arm with its statistics and its source of rewards.

All that belongs to an arm lies side by side, so a pull touches one or two lines of the processor's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lowregret.engine.compile import adopt, compiled, inlined
from lowregret.engine.rng import beta, exponential, normal, poisson, stream, uniform
from lowregret.environments import Bandit
from lowregret.policies import Arms

adopt(Arms)

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.void]

EMPIRICAL = 6
"""The kind of an arm that resamples ``data[a : a + b]``; from here on, draws are places in the data."""
GIVEN = 7
"""The kind of an arm whose rewards are given: ``data[a : a + b]``."""

CLOSED = -1

ROW = np.dtype(
    [
        ("pulls", np.int64),
        ("forgotten", np.int64),  # pulls that no longer count
        ("origin", np.float64),
        ("total", np.float64),
        ("squares", np.float64),
        ("mean", np.float64),
        ("key", np.uint64),  # of the arm's random stream
        ("kind", np.int64),  # the family of its rewards, encoded in a to d
        ("a", np.float64),
        ("b", np.float64),
        ("c", np.float64),
        ("d", np.float64),
        ("number", np.int64),
        ("gap", np.float64),
        ("dropped", np.int64),  # when, 0 for never, CLOSED for an arm that was not in play
        ("active", np.bool_),
        ("marked", np.bool_),
    ],
    align=True,
)


def rows_of(bandit: Bandit) -> Rows:
    """Make the table of a bandit, arms in their given order and not yet pulled, without keys."""
    rows = np.zeros(len(bandit), ROW)
    rows["number"] = np.arange(len(bandit))
    rows["gap"] = bandit.gaps
    rows["kind"] = bandit.kinds
    for column, name in enumerate("abcd"):
        rows[name] = bandit.encodings[:, column]
    rows["active"] = True
    return rows


def rows_of_table(rewards: Sequence[Floats]) -> tuple[Rows, Floats]:
    """Make the table of arms whose rewards are given, and the data it points into."""
    rows = np.zeros(len(rewards), ROW)
    lengths = np.array([len(row) for row in rewards], np.int64)
    rows["number"] = np.arange(len(rewards))
    rows["kind"] = GIVEN
    rows["a"] = np.cumsum(lengths) - lengths
    rows["b"] = lengths
    rows["active"] = True
    data = np.concatenate([np.asarray(row, np.float64) for row in rewards])
    data.flags.writeable = False  # as a bandit's is, so that Numba compiles for one type of data
    return rows, data


@compiled
def deal(given: Rows, order: Integers, seed: np.uint64, run: int, rows: Rows) -> None:
    """Lay out the arms of one run in an order, each with the key of its stream."""
    for i in range(len(given)):
        rows[i] = given[order[i]]
        rows[i]["key"] = stream(seed, run, order[i])


class Law(NamedTuple):
    """Where the rewards of one arm come from: a family with its encoding, and a random stream."""

    kind: int
    key: np.uint64
    a: float
    b: float
    c: float
    d: float


@compiled
def law(row: np.void) -> Law:
    """Read the law of an arm from its row."""
    return Law(row["kind"], row["key"], row["a"], row["b"], row["c"], row["d"])


@inlined
def ended(law: Law, n: int) -> bool:
    """Say whether an arm's rewards are given, and fewer than n."""
    return law.kind == GIVEN and n > law.b


@inlined
def draw(law: Law, n: int) -> float:
    """Draw the n-th reward of an arm, or give the place of it in the data.

    No array comes in here: Numba counts references to each, at a price that a pull would feel.
    """
    if law.kind == 0:  # Bernoulli
        return law.c if uniform(law.key, n) < law.a else law.b
    if law.kind == 1:  # Gaussian
        return law.a + law.b * normal(law.key, n)
    return _draw_other(law, n)


@compiled
def _draw_other(law: Law, n: int) -> float:
    """Draw from a family that is less often used; apart, so that the others stay quick."""
    kind, key, a, b, c, d = law
    if kind == 2:  # Beta
        return c + d * beta(a, b, key, n)
    if kind == 3:  # Exponential
        return a + b * exponential(key, n)
    if kind == 4:  # Poisson
        return b + c * poisson(a, key, n)
    if kind == 5:  # Uniform
        return a + b * uniform(key, n)
    if kind == EMPIRICAL:
        return a + int(uniform(key, n) * b)
    return a + n - 1.0


@inlined
def reward_of(law: Law, data: Floats, n: int) -> float:
    """Give the n-th reward of an arm."""
    x = draw(law, n)
    return data[int(x)] if law.kind >= EMPIRICAL else x


@compiled
def reward(row: np.void, data: Floats, n: int) -> float:
    """Give the n-th reward of an arm, or nan where a table of given rewards has ended."""
    source = law(row)
    return np.nan if ended(source, n) else reward_of(source, data, n)
