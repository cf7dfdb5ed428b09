"""No private names of other packages: they may change in any release.

A private name begins with one underscore. On ``self`` and ``cls`` it must be defined somewhere in the
package, on anything else in the file that uses it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import distributed
import pytest

import lowregret

ROOT = Path(lowregret.__file__).parent
FILES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in ROOT.rglob("*.py")}

DOCUMENTED = {
    # the public interface of a named tuple, underscored so as not to clash with its fields
    *("_asdict", "_field_defaults", "_fields", "_make", "_replace"),
    "_exit",  # os._exit
}
INTERNAL = ("numba.core", "numba.np", "numba.misc")
"""Modules without an underscore that their packages do not document."""

PENDING = {"online/open_agent.py", "online/transactions.py"}  # for the lead: delete once online is merged


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def defined(tree: ast.AST) -> set[str]:
    """Return the names that a file defines: functions, classes, variables and attributes it assigns to."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            names.add(node.attr)
    return names


def is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


OURS = set().union(*map(defined, FILES.values()))


def imported(node: ast.AST) -> list[str]:
    """Return the dotted names that a node imports."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), names=names):
            return [f"{module}.{alias.name}" for alias in names]
        case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(module)), *_]):
            return [module]
    return []


def private_imports(node: ast.AST) -> Iterator[str]:
    for name in imported(node):
        package, *parts = name.split(".")
        allowed = package == "lowregret" and parts[:1] == ["_common"]
        if any(map(is_private, parts[1:] if allowed else (package, *parts))) or name.startswith(INTERNAL):
            yield name
        if package == "distributed" and parts and parts[0] not in distributed.__all__:
            yield name


def private_attributes(node: ast.AST, here: set[str]) -> Iterator[str]:
    match node:
        case ast.Attribute(value=value, attr=name):
            pass
        case ast.Call(
            func=ast.Name(id="getattr" | "hasattr"), args=[value, ast.Constant(value=str(name)), *_]
        ):
            pass
        case _:
            return
    known = OURS | here if is_own(value) else here
    if is_private(name) and name not in DOCUMENTED | known:
        yield ast.unparse(node)
    if isinstance(value, ast.Name):
        if value.id == "distributed" and name not in distributed.__all__:
            yield ast.unparse(node)
        if f"{value.id}.{name}".startswith(INTERNAL):
            yield ast.unparse(node)


def found(tree: ast.AST) -> list[str]:
    here = defined(tree)
    uses = [[*private_imports(node), *private_attributes(node, here)] for node in ast.walk(tree)]
    return sorted({use for several in uses for use in several})


@pytest.mark.parametrize("file", sorted(FILES))
def test_no_private_names_of_others(file: str) -> None:
    if file in PENDING:
        pytest.skip("being rewritten")
    assert found(FILES[file]) == []


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("from numba.core.caching import FunctionCache", ["numba.core.caching.FunctionCache"]),
        ("import numba\nnumba.core", ["numba.core"]),
        ("from polars._typing import IntoExpr", ["polars._typing.IntoExpr"]),
        ("from threading import _shutdown", ["threading._shutdown"]),
        ("from distributed.utils import sync", ["distributed.utils.sync"]),
        ("from distributed import Client", []),
        ("distributed.comm.connect()", ["distributed.comm"]),
        ("distributed.connect()", []),
        ("import_module('numba.core')", ["numba.core"]),
        ("lock._is_owned()", ["lock._is_owned"]),
        ("self._is_owned", ["self._is_owned"]),
        ("getattr(pool, '_max_workers', 1)", ["getattr(pool, '_max_workers', 1)"]),
        ("def f(self):\n    self._max_workers = 1\nother._max_workers", []),
        ("pool._max_workers = 1\npool._max_workers", ["pool._max_workers"]),
        ("row._replace(a=1), row.__class__, os._exit(1)", []),
        ("from lowregret._common.validation import integer", []),
        ("from lowregret.engine.rng import _mix", ["lowregret.engine.rng._mix"]),
    ],
)
def test_the_rule(source: str, uses: list[str]) -> None:
    assert found(ast.parse(source)) == uses
