"""No private names of other packages are used in the source."""

import ast
from pathlib import Path

import pytest

import lowregret

OURS = ("lowregret",)
ROOT = Path(lowregret.__file__).parent
PUBLIC = {"numba": ("numba", "numba.types", "numba.extending")}
"""The modules of a package that may be imported from."""

FILES = sorted(ROOT.rglob("*.py"))


def imported(tree):
    """Yield the modules that a file imports from, and the names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_are_public(path):
    for module, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        top = module.partition(".")[0]
        if top in OURS or top.startswith("__"):
            continue
        assert not any(part.startswith("_") for part in (*module.split("."), name)), f"{module}.{name}"
        assert module in PUBLIC.get(top, (module,)), module


def own_names(tree):
    """Return the private attributes that the file itself assigns or defines."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


DOCUMENTED = {"_fields", "_field_defaults", "_replace", "_asdict", "_make", "_exit"}
"""What the standard library documents: of every named tuple, and of ``os``."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_private_attributes_are_our_own(path):
    """A private attribute that a file uses is one that some file of the package defines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            assert node.attr in DOCUMENTED | defined(), f"line {node.lineno}: {node.attr}"


def defined(cache={}):  # noqa: B006  # filled once
    if not cache:
        cache["names"] = set().union(*(own_names(ast.parse(path.read_text())) for path in FILES))
    return cache["names"]
