"""No private names of other packages are used in the source, and none of other modules of this package."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import lowregret

ROOT = Path(lowregret.__file__).parent

PUBLIC = {"numba": ("numba", "numba.types", "numba.extending")}
"""The modules of a package that may be imported from."""

DOCUMENTED = {"_fields", "_field_defaults", "_replace", "_asdict", "_make", "_exit"}
"""What the standard library documents: of every named tuple, and of ``os``."""

SHARED = {"_repr_html_"}
"""What other modules may use too: what IPython documents."""


@cache
def trees() -> dict[str, ast.Module]:
    """Return the files of the package, parsed when a test asks and not when every process collects it."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in ROOT.rglob("*.py")
    }


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the modules that a file imports from, and the names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def test_imports_are_public():
    offenders = []
    for path, tree in trees().items():
        for module, name in imported(tree):
            package = module.partition(".")[0]
            if package == "lowregret" or package.startswith("__"):
                continue
            private = any(part.startswith("_") for part in (*module.split("."), name))
            if private or module not in PUBLIC.get(package, (module,)):
                offenders.append(f"{path}: {module} {name}")
    assert not offenders, "\n".join(offenders)


def own_names(tree: ast.Module) -> set[str]:
    """Return the attributes that a file itself assigns, defines or declares."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            names.add(node.attr)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def is_self(node: ast.expr) -> bool:
    """Return whether an expression is ``self``, ``cls`` or ``super()``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def private_attributes(tree: ast.Module, *, of_self: bool) -> Iterator[ast.Attribute]:
    """Yield the private attributes that a file uses of ``self``, or of other objects."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_self(node.value) == of_self:
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            if private and node.attr not in DOCUMENTED:
                yield node


def test_private_attributes_are_used_in_their_own_module():
    """A private attribute of an object other than ``self`` is one that the same file defines."""
    offenders = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in trees().items()
        for node in private_attributes(tree, of_self=False)
        if node.attr not in SHARED | own_names(tree)
    ]
    assert not offenders, "\n".join(offenders)


def test_private_attributes_of_self_are_our_own():
    """A private attribute of ``self`` is not one of a base class of another package."""
    ours = set().union(*map(own_names, trees().values()))
    offenders = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in trees().items()
        for node in private_attributes(tree, of_self=True)
        if node.attr not in ours
    ]
    assert not offenders, "\n".join(offenders)
