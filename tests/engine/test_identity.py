"""The identity of code: it follows all that the code refers to, and nothing else."""

import functools
import importlib
import sys
import types

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.bridge.identity import (
    KERNELS,
    CodeGraph,
    NoIdentity,
    identity_of,
    module_identity,
    source_identity,
)
from lowregret.policies import POLICIES

MINE = """
import lowregret as lr
import tools
from tools import helper, outer, TABLE
LIMIT = 2.0
def factory():
    width = 3.0
    def closed(x):
        return x * width
    return closed
closed = factory()
class Base(lr.Policy):
    shift = 1.0
    def middle(self, x):
        return x
class Mine(Base):
    \"\"\"A policy.\"\"\"
    scale: float = 1.0
    def score(self, arm, clock):
        \"\"\"Score an arm.\"\"\"
        squares = [k * 4 for k in (1, 2)]
        return self.middle(helper(arm.mean, LIMIT) + tools.deep(1) + closed(2) + TABLE[0] + self.shift)
"""

TOOLS = """
import numpy as np
TABLE = np.array([1.0, 2.0])
FACTOR = 5
def helper(x, limit, power=2):
    return min(x, limit) ** power
def deep(x):
    return deeper(x)
def deeper(x):
    return x * FACTOR
def outer(x):
    return x
def unused(x):
    return 1
"""


def load(folder, mine, tools):
    """Import two modules from scratch."""
    for name, text in (("mine", mine), ("tools", tools)):
        sys.modules.pop(name, None)
        (folder / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module("mine").Mine


@pytest.fixture
def identity(tmp_path, monkeypatch):
    """Return the identity of the class, after an edit of one of its files."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def call(before="", after=""):
        assert before in MINE + TOOLS
        return identity_of(load(tmp_path, MINE.replace(before, after), TOOLS.replace(before, after)))

    return call


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LIMIT = 2.0", "LIMIT = 2.5"),
        ("width = 3.0", "width = 3.5"),
        ("shift = 1.0", "shift = 2.0"),
        ("scale: float", "scale: int"),
        ("scale: float = 1.0", "scale: float = 1.0\n    more: float = 1.0"),
        ("k * 4", "k * 5"),
        ("return x\nclass Mine", "return -x\nclass Mine"),
        ("np.array([1.0, 2.0])", "np.array([1.0, 2.5])"),
        ("FACTOR = 5", "FACTOR = 6"),
        ("FACTOR = 5", "FACTOR = 5.0"),
        ("power=2", "power=3"),
        ("min(x, limit)", "max(x, limit)"),
        ("x * FACTOR", "x + FACTOR"),
        ("return deeper(x)", "return -deeper(x)"),
    ],
)
def test_an_edit_that_matters_is_noticed(identity, before, after):
    assert identity() != identity(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LIMIT = 2.0", "# A comment.\nLIMIT = 2.0"),
        ("A policy.", "The same policy."),
        ("Score an arm.", "Score an arm, as before."),
        ("def deeper(x):", "\n\n\ndef deeper(x):  # a comment"),
        ("def helper(x, limit, power=2):", "def helper(x, limit, power=2):\n    'Help.'"),
        ("return 1\n", "return 2\n"),
    ],
)
def test_an_edit_that_does_not_matter_is_not(identity, before, after):
    assert identity() == identity(before, after)


def test_what_cannot_be_hashed_has_no_identity():
    stream = sys.stdout

    def function():
        return stream

    with pytest.raises(NoIdentity):
        identity_of(function)


def test_frozen_and_changing_values():
    assert identity_of({"a": (1, 2.0)}) == identity_of({"a": (1, 2.0)})
    assert identity_of([1]) != identity_of([1.0])
    assert identity_of(np.arange(3)) != identity_of(np.arange(4))
    assert identity_of(np.float64(1)) != identity_of(1.0)


@pytest.mark.parametrize("module", ["types", "builtins", "abc", "numpy", "lowregret.engine.start"])
def test_a_class_that_claims_a_module_is_not_identified_by_its_name(module):
    """``types.new_class``, ``type`` and ``exec`` give a class a module that does not have it."""

    def of_width(width):
        body = {"__module__": module, "score": lambda self, arm, clock: width * arm.mean}
        return types.new_class("Mine", (lr.Policy,), {}, lambda namespace: namespace.update(body))

    one, same, other = of_width(1.0), of_width(1.0), of_width(2.0)
    assert identity_of(one) == identity_of(same) != identity_of(other)


def test_a_function_that_has_the_name_of_another_is_identified_by_its_code():
    one, other = (functools.wraps(np.mean)(lambda x, factor=factor: factor * x) for factor in (1.0, 2.0))
    assert len({identity_of(one), identity_of(other), identity_of(np.mean)}) == 3


def test_functions_that_call_each_other_have_an_identity():
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    assert identity_of(even) == identity_of(even)
    assert {function.__name__ for function in CodeGraph(even).functions} == {"even", "odd"}


def test_every_policy_has_an_identity_of_its_own():
    assert len({identity_of(kind) for kind in POLICIES.values()}) == len(POLICIES)
    assert identity_of(lr.UCB1) == identity_of(lr.UCB1)


@pytest.mark.parametrize("identity", [module_identity, source_identity])
def test_modules_have_an_identity(identity):
    assert identity(*KERNELS) == identity(*KERNELS)
    assert identity("lowregret.engine") != identity("lowregret.special")
    with pytest.raises(ModuleNotFoundError, match="no source of lowregret.nothing"):
        identity("lowregret.nothing")
