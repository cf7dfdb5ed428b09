"""Evaluate ``{expressions}`` in a string such as ``bernoulli:0.5*{K-1},{0.5+gap}`` over a grid of values."""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import isclose, isfinite
from typing import TypeAlias

from lowregret.errors import InputError

Scalar: TypeAlias = bool | int | float | str

_HOLE = re.compile(r"\{([^{}]*)\}")
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: lambda base, power: float(base) ** float(power),  # integers could grow without bound
}
ALLOWED = "numbers, names of the grid, + - * / ** and brackets"


def combinations(grid: Mapping[str, Sequence[Scalar]]) -> Iterator[dict[str, Scalar]]:
    """Yield every combination of the values of a grid; the last name varies fastest."""
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def names_in(text: str) -> set[str]:
    """Return the names that the expressions of a string use."""
    return {
        node.id
        for hole in _HOLE.findall(text)
        for node in ast.walk(_parse_expression(hole))
        if isinstance(node, ast.Name)
    }


def fill_template(text: str, values: Mapping[str, Scalar]) -> str:
    return _HOLE.sub(lambda hole: _formatted(_evaluate(hole[1], values)), text)


def _parse_expression(expression: str) -> ast.expr:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InputError(f"cannot read {{{expression}}}: use {ALLOWED}") from None


def _evaluate(expression: str, values: Mapping[str, Scalar]) -> Scalar:
    node = _parse_expression(expression)
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]  # may be a string
    try:
        value = _arithmetic(node, values)
    except (ArithmeticError, RecursionError):
        value = float("nan")
    if isinstance(value, complex) or not isfinite(value):
        grid = ", ".join(f"{name}={value}" for name, value in values.items()) or "no grid"
        raise InputError(f"{{{expression}}} is not a finite number for {grid}")
    return value


def _arithmetic(node: ast.expr, values: Mapping[str, Scalar]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            if name not in values:
                names = f"it has {', '.join(values)}" if values else "there is none"
                raise InputError(f"{{{name}}} is not a name of the grid: {names}")
            scalar = values[name]
            if isinstance(scalar, bool | str):
                raise InputError(f"{{{name}}} must be a number in arithmetic, got {scalar!r}")
            return scalar
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_arithmetic(operand, values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_arithmetic(left, values), _arithmetic(right, values))
    raise InputError(f"cannot read {{{ast.unparse(node)}}}: use {ALLOWED}")


def _formatted(value: Scalar) -> str:
    """Format a value: integers without a point, and 0.1 + 0.02 as 0.12, which is then what is read."""
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    short = f"{value:.12g}"
    return short if isclose(float(short), value, rel_tol=1e-14) else repr(float(value))
