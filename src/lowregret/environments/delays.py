"""The delay of rewards: a number of decisions, a distribution of it, or one that depends on the reward.

A distribution is declared once, as a class that ``DISTRIBUTIONS`` lists: strings, checks and the engine know
it from there. Its sampler is the branch for its ``kind`` in engine/kernels/delayed_rewards.py.
"""

from __future__ import annotations

import ast
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowregret._common.table_files import read_table
from lowregret._common.text import unknown_name_message
from lowregret._common.validation import MAX_HORIZON, UNIT, Rule, as_list, integer, number, short_repr
from lowregret.errors import InputError

CONSTANT, GEOMETRIC, LOGNORMAL, EMPIRICAL = range(4)
"""The samplers of the engine."""

_AT_LEAST_0 = Rule("{name} must be from 0 to 2^53", lambda value: 0.0 <= value <= MAX_HORIZON)
_UP_TO_20 = Rule("{name} must be from 0 to 20", lambda value: 0.0 <= value <= 20.0)
_VALUES_IN_NAME = 8


class DelayEncoding(NamedTuple):
    """What the engine draws delays from: the sampler, two numbers, the probability of loss, and values."""

    kind: int
    a: float
    b: float
    lost: float
    values: tuple[int, ...] = ()


@dataclass(frozen=True)
class DelayDistribution(ABC):
    """A distribution of delays. The fields of a subclass are its arguments in a string."""

    name: ClassVar[str]
    """What a string calls it."""
    example: ClassVar[str]
    """A string with which messages and the documentation explain it."""
    kind: ClassVar[int]
    """Which sampler of the engine draws from it."""
    rules: ClassVar[Mapping[str, Rule]] = {}
    """Which values its parameters may have."""

    lost: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        for name, rule in self.rules.items():
            value = number("delay", f"the {name} of {self.name}", getattr(self, name), rule)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "lost", number("delay", "probability lost", self.lost, UNIT))

    @property
    @abstractmethod
    def encoding(self) -> DelayEncoding:
        """The distribution as its sampler takes it."""

    @property
    def longest(self) -> int:
        """The longest delay there can be, short of the largest horizon."""
        return MAX_HORIZON

    @property
    def arguments(self) -> str:
        """Its parameters, as a string has them."""
        return ", ".join(f"{name}={getattr(self, name):.15g}" for name in self.rules)

    def __str__(self) -> str:
        return f"{self.name}({self.arguments}{f', lost={self.lost:.15g}' if self.lost else ''})"


@dataclass(frozen=True)
class ConstantDelay(DelayDistribution):
    """The same number of decisions always; without loss, its string is the number."""

    name = "constant"
    example = "constant(500, lost=0.1)"
    kind = CONSTANT
    steps: int

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "steps", integer("delay", self.name, self.steps, MAX_HORIZON, least=0))

    @property
    def encoding(self) -> DelayEncoding:
        return DelayEncoding(self.kind, float(self.steps), 0.0, self.lost)

    @property
    def longest(self) -> int:
        return self.steps

    @property
    def arguments(self) -> str:
        return str(self.steps)

    def __str__(self) -> str:
        return super().__str__() if self.lost else self.arguments


@dataclass(frozen=True)
class GeometricDelay(DelayDistribution):
    """0, 1, 2, ... decisions, with the same probability to end at each: an exponential, rounded down."""

    name = "geometric"
    example = "geometric(mean=50)"
    kind = GEOMETRIC
    rules: ClassVar[Mapping[str, Rule]] = {"mean": _AT_LEAST_0}
    mean: float

    @property
    def encoding(self) -> DelayEncoding:
        scale = 1.0 / np.log1p(1.0 / self.mean) if self.mean > 0.0 else 0.0
        return DelayEncoding(self.kind, float(scale), 0.0, self.lost)


@dataclass(frozen=True)
class LogNormalDelay(DelayDistribution):
    """A log-normal number, rounded; ``sigma`` is the standard deviation of its logarithm."""

    name = "lognormal"
    example = "lognormal(median=50, sigma=1)"
    kind = LOGNORMAL
    rules: ClassVar[Mapping[str, Rule]] = {"median": _AT_LEAST_0, "sigma": _UP_TO_20}
    median: float
    sigma: float

    @property
    def encoding(self) -> DelayEncoding:
        return DelayEncoding(self.kind, self.median, self.sigma, self.lost)


@dataclass(frozen=True)
class EmpiricalDelay(DelayDistribution):
    """One of some values, each with equal probability; the values may be the only column of a file."""

    name = "empirical"
    example = "empirical('delays.csv')"
    kind = EMPIRICAL
    values: Any
    file: str | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.values, str | os.PathLike):
            delays: object = _read_column(Path(self.values))
            object.__setattr__(self, "file", os.fspath(self.values))
        else:
            delays = as_list(self.values)
        if not isinstance(delays, list) or not delays:
            raise InputError(f"delay: empirical needs at least one value, got {short_repr(self.values)}")
        steps = tuple(round(number("delay", "a value of empirical", value, _AT_LEAST_0)) for value in delays)
        object.__setattr__(self, "values", steps)

    @property
    def encoding(self) -> DelayEncoding:
        return DelayEncoding(self.kind, 0.0, float(len(self.values)), self.lost, self.values)

    @property
    def longest(self) -> int:
        return int(max(self.values))

    @property
    def arguments(self) -> str:
        if self.file is not None:
            return repr(self.file)
        more = ", ..." if len(self.values) > _VALUES_IN_NAME else ""
        return f"[{', '.join(map(str, self.values[:_VALUES_IN_NAME]))}{more}]"


DISTRIBUTIONS: dict[str, type[DelayDistribution]] = {
    distribution.name: distribution
    for distribution in (ConstantDelay, GeometricDelay, LogNormalDelay, EmpiricalDelay)
}
DELAY_EXAMPLES = {name: distribution.example for name, distribution in DISTRIBUTIONS.items()} | {
    "by_reward": "by_reward(positive=20, other=1000)"
}
"""By the names in strings an example of each."""
DELAY_ADVICE = f"an integer of at least 0, or a string such as {GeometricDelay.example!r}"


@dataclass(frozen=True)
class Delay:
    """How many decisions later the reward of a decision is known.

    With a delay of d, the reward of decision t is known before decision t + d + 1; with 0 it is known before
    the next decision. Make one with a class method.

    Every method but `by_reward` takes ``lost``, the probability that a reward is never reported.

    Parameters
    ----------
    positive, other : DelayDistribution
        The delays of rewards above 0, and of all others.

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

    positive: DelayDistribution
    other: DelayDistribution

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
        return _independent(ConstantDelay(steps, lost=lost))

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
        return _independent(GeometricDelay(mean, lost=lost))

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
        return _independent(LogNormalDelay(median, sigma, lost=lost))

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
        return _independent(EmpiricalDelay(values, lost=lost))

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
        return Delay(first.positive, second.other)

    def __str__(self) -> str:
        """Return the delay as a string, which ``simulate`` and experiment files accept."""
        if self.positive == self.other:
            return str(self.positive)
        return f"by_reward(positive={self.positive}, other={self.other})"

    def __repr__(self) -> str:
        return f"Delay({str(self)!r})"

    @property
    def is_zero(self) -> bool:
        """Whether every reward is known before the next decision."""
        return self.positive == self.other == ConstantDelay(0)

    @property
    def longest(self) -> int:
        """The longest delay there can be, short of the largest horizon."""
        return max(self.positive.longest, self.other.longest)


def _independent(distribution: DelayDistribution) -> Delay:
    """Return a delay that does not depend on the reward."""
    return Delay(distribution, distribution)


def delay_of(delay: object, folder: Path | None = None) -> Delay:
    """Return the delay that a number or a string describes, and a `Delay` unchanged."""
    if isinstance(delay, Delay):
        return delay
    if isinstance(delay, str):
        try:
            tree = ast.parse(delay.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            tree = None
        return _delay_of_tree(tree, delay, folder or Path())
    if isinstance(delay, bool) or not isinstance(delay, int | np.integer):
        raise InputError(f"delay: must be {DELAY_ADVICE}, got {short_repr(delay)}")
    return Delay.constant(int(delay))


def _delay_of_tree(tree: ast.expr | None, text: str, folder: Path) -> Delay:
    if not isinstance(tree, ast.Call):
        problem = f"delay: must be {DELAY_ADVICE}, got {short_repr(text)}"
        steps = _literal(tree, problem)
        if isinstance(steps, bool) or not isinstance(steps, int | float) or steps % 1 != 0:
            raise InputError(problem)
        return Delay.constant(int(steps))  # also 1e3
    if not isinstance(tree.func, ast.Name) or tree.func.id not in DELAY_EXAMPLES:
        raise InputError(unknown_name_message("delay", ast.unparse(tree.func), DELAY_EXAMPLES))
    name = tree.func.id
    values = [_argument(node, text, folder, name) for node in tree.args]
    named = {str(node.arg): _argument(node.value, text, folder, name) for node in tree.keywords}
    try:
        if name in DISTRIBUTIONS:
            return _independent(DISTRIBUTIONS[name](*values, **named))
        return Delay.by_reward(*values, **named)
    except TypeError:
        raise InputError(f"delay: write it as in {DELAY_EXAMPLES[name]}, got {short_repr(text)}") from None


def _argument(node: ast.expr, text: str, folder: Path, name: str) -> Any:
    """Return an argument of a delay: a number, a list, a path, or for by_reward another delay."""
    if name not in DISTRIBUTIONS:
        return _delay_of_tree(node, text, folder)
    value = _literal(node, f"delay: arguments must be plain values in {short_repr(text)}")
    if isinstance(value, float) and value.is_integer():
        return int(value)  # constant(1e3)
    return folder / value if isinstance(value, str) else value


def _literal(node: ast.expr | None, problem: str) -> Any:
    try:
        return ast.literal_eval(node)  # type: ignore[arg-type]  # None is refused as other nodes are
    except (ValueError, TypeError, MemoryError, RecursionError):
        raise InputError(problem) from None


def _read_column(file: Path) -> list[float]:
    table = read_table(file, "delays", "delay: ")
    if table.width != 1:
        raise InputError(f"delay: {file.name!r} must have one column, of numbers")
    return table.to_series().drop_nulls().to_list()
