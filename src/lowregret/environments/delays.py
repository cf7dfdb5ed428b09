"""The delay of rewards: a number of decisions, a distribution of it, or one that depends on the reward."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowregret._common.table_files import read_table
from lowregret._common.text import unknown
from lowregret._common.validation import MAX_HORIZON, UNIT, Rule, as_list, integer, number, short_repr
from lowregret.errors import InputError

CONSTANT, GEOMETRIC, LOGNORMAL, EMPIRICAL = KINDS = range(4)
"""The kinds of distributions; the engine draws from each of them."""

ADVICE = "an integer of at least 0, or a string such as 'geometric(mean=50)'"
_AT_LEAST_0 = Rule("{name} must be from 0 to 2^53", lambda value: 0.0 <= value <= MAX_HORIZON)
_UP_TO_20 = Rule("{name} must be from 0 to 20", lambda value: 0.0 <= value <= 20.0)
_VALUES_IN_NAME = 8


class DelayPart(NamedTuple):
    """One distribution of delays: its kind, two numbers, the probability of loss, empirical values."""

    kind: int
    a: float
    b: float
    lost: float
    values: tuple[int, ...] = ()

    @property
    def longest(self) -> int:
        """The longest delay there can be, short of the largest horizon."""
        if self.kind == CONSTANT:
            return int(self.a)
        if self.kind == EMPIRICAL:
            return max(self.values)
        assert self.kind in (GEOMETRIC, LOGNORMAL), self.kind
        return MAX_HORIZON


@dataclass(frozen=True)
class Delay:
    """How many decisions later the reward of a decision is known.

    With a delay of d, the reward of decision t is known before decision t + d + 1; with 0 it is known before
    the next decision. Make one with a class method.

    Every method but `by_reward` takes ``lost``, the probability that a reward is never reported.

    Parameters
    ----------
    positive, other : DelayPart
        The delays of rewards above 0, and of all others.
    name : str
        The delay as a string, which ``simulate`` and experiment files accept.

    Examples
    --------
    >>> lr.Delay.geometric(mean=50)
    Delay('geometric(mean=50)')
    >>> lr.Delay.lognormal(median=50, sigma=1)
    Delay('lognormal(median=50, sigma=1)')
    >>> delay = lr.Delay.by_reward(positive=20, other=lr.Delay.constant(1_000, lost=0.1))
    >>> delay
    Delay('by_reward(positive=20, other=constant(1000, lost=0.1))')
    >>> delay.longest, delay.is_zero
    (1000, False)
    >>> lr.Delay.empirical([3, 10, 250]).longest
    250
    """

    positive: DelayPart  # of rewards above 0
    other: DelayPart
    name: str = field(compare=False)

    @classmethod
    def constant(cls, steps: int, *, lost: float = 0.0) -> Delay:
        """Make a delay that is always the same.

        Parameters
        ----------
        steps : int
            The delay, at least 0.
        lost : float, default 0
            Probability that a reward is never reported.
        """
        steps = integer("delay", "constant", steps, MAX_HORIZON, least=0)
        name = f"constant({steps}{_lost(lost)})" if lost else str(steps)
        return _plain(DelayPart(CONSTANT, float(steps), 0.0, _share(lost)), name)

    @classmethod
    def geometric(cls, mean: float, *, lost: float = 0.0) -> Delay:
        """Make a delay that ends with the same probability at every decision.

        Parameters
        ----------
        mean : float
            Its mean, at least 0.
        lost : float, default 0
            Probability that a reward is never reported.
        """
        mean = number("delay", "the mean of geometric", mean, _AT_LEAST_0)
        scale = 1.0 / np.log1p(1.0 / mean) if mean > 0.0 else 0.0
        part = DelayPart(GEOMETRIC, float(scale), 0.0, _share(lost))
        return _plain(part, f"geometric(mean={mean:.15g}{_lost(lost)})")

    @classmethod
    def lognormal(cls, median: float, sigma: float, *, lost: float = 0.0) -> Delay:
        """Make a log-normal delay, rounded to a number of decisions.

        Parameters
        ----------
        median : float
            Its median, at least 0.
        sigma : float
            Standard deviation of its logarithm; with 1, one delay in 44 is more than 7.4 times the median.
        lost : float, default 0
            Probability that a reward is never reported.
        """
        median = number("delay", "the median of lognormal", median, _AT_LEAST_0)
        sigma = number("delay", "the sigma of lognormal", sigma, _UP_TO_20)
        part = DelayPart(LOGNORMAL, median, sigma, _share(lost))
        return _plain(part, f"lognormal(median={median:.15g}, sigma={sigma:.15g}{_lost(lost)})")

    @classmethod
    def empirical(
        cls, values: Sequence[float] | NDArray[Any] | str | os.PathLike[str], *, lost: float = 0.0
    ) -> Delay:
        """Make a delay that is one of given values, each with equal probability.

        Parameters
        ----------
        values : sequence of float, or path
            Delays in decisions, rounded to integers; or a CSV or Parquet file with one column of them.
        lost : float, default 0
            Probability that a reward is never reported.
        """
        delays = _column(Path(values)) if isinstance(values, str | os.PathLike) else as_list(values)
        if not isinstance(delays, list) or not delays:
            raise InputError(f"delay: empirical needs at least one value, got {short_repr(values)}")
        steps = tuple(round(number("delay", "a value of empirical", value, _AT_LEAST_0)) for value in delays)
        more = ", ..." if len(steps) > _VALUES_IN_NAME else ""
        shown = f"[{', '.join(map(str, steps[:_VALUES_IN_NAME]))}{more}]"
        if isinstance(values, str | os.PathLike):
            shown = repr(os.fspath(values))
        part = DelayPart(EMPIRICAL, 0.0, float(len(steps)), _share(lost), steps)
        return _plain(part, f"empirical({shown}{_lost(lost)})")

    @classmethod
    def by_reward(cls, positive: Delay | int | str, other: Delay | int | str) -> Delay:
        """Make a delay that depends on the reward.

        Parameters
        ----------
        positive : int, str or Delay
            The delay of rewards above 0, such as clicks.
        other : int, str or Delay
            The delay of all others, such as the time-out after which there was no click.
        """
        first, second = delay_of(positive), delay_of(other)
        for delay in (first, second):
            if delay.positive != delay.other:
                raise InputError("delay: by_reward takes delays that do not depend on the reward themselves")
        name = f"by_reward(positive={first}, other={second})"
        return Delay(first.positive, second.other, name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Delay({self.name!r})"

    @property
    def is_zero(self) -> bool:
        """Whether every reward is known before the next decision."""
        nothing = DelayPart(CONSTANT, 0.0, 0.0, 0.0)
        return self.positive == self.other == nothing

    @property
    def longest(self) -> int:
        """The longest delay there can be, short of the largest horizon."""
        return max(self.positive.longest, self.other.longest)


_FORMS = {
    "constant": "constant(steps)",
    "geometric": "geometric(mean=...)",
    "lognormal": "lognormal(median=..., sigma=...)",
    "empirical": "empirical([...]) or empirical('file.csv')",
    "by_reward": "by_reward(positive=..., other=...)",
}
"""The class methods that make a delay, and how a string calls them."""


def delay_of(delay: object, folder: Path | None = None) -> Delay:
    """Return the delay that a number or a string describes, and a `Delay` unchanged."""
    if isinstance(delay, Delay):
        return delay
    if isinstance(delay, str):
        try:
            tree = ast.parse(delay.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            tree = None
        return _read(tree, delay, folder or Path())
    if isinstance(delay, bool) or not isinstance(delay, int | np.integer):
        raise InputError(f"delay: must be {ADVICE}, got {short_repr(delay)}")
    return Delay.constant(int(delay))


def _read(tree: ast.expr | None, text: str, folder: Path) -> Delay:
    if not isinstance(tree, ast.Call):
        problem = f"delay: must be {ADVICE}, got {short_repr(text)}"
        steps = _literal(tree, problem)
        if isinstance(steps, bool) or not isinstance(steps, int | float) or steps % 1 != 0:
            raise InputError(problem)
        return Delay.constant(int(steps))  # also 1e3
    if not isinstance(tree.func, ast.Name) or tree.func.id not in _FORMS:
        raise InputError(unknown("delay", ast.unparse(tree.func), _FORMS))
    name = tree.func.id
    values = [_value(node, text, folder, name) for node in tree.args]
    named = {str(node.arg): _value(node.value, text, folder, name) for node in tree.keywords}
    try:
        delay: Delay = getattr(Delay, name)(*values, **named)
        return delay
    except TypeError:
        raise InputError(f"delay: write {_FORMS[name]}, got {short_repr(text)}") from None


def _value(node: ast.expr, text: str, folder: Path, name: str) -> Any:
    """Return an argument of a delay: a number, a list, a path, or for by_reward another delay."""
    if name == "by_reward":
        return _read(node, text, folder)
    value = _literal(node, f"delay: arguments must be plain values in {short_repr(text)}")
    if name == "constant" and isinstance(value, float) and value.is_integer():
        return int(value)
    return folder / value if isinstance(value, str) else value


def _literal(node: ast.expr | None, problem: str) -> Any:
    try:
        return ast.literal_eval(node)  # type: ignore[arg-type]  # None is refused as other nodes are
    except (ValueError, TypeError, MemoryError, RecursionError):
        raise InputError(problem) from None


def _plain(part: DelayPart, name: str) -> Delay:
    return Delay(part, part, name)


def _share(lost: object) -> float:
    return number("delay", "probability lost", lost, UNIT)


def _lost(lost: float) -> str:
    return f", lost={lost:.15g}" if lost else ""


def _column(file: Path) -> list[float]:
    table = read_table(file, "delays", "delay: ")
    if table.width != 1:
        raise InputError(f"delay: {file.name!r} must have one column, of numbers")
    return table.to_series().drop_nulls().to_list()
