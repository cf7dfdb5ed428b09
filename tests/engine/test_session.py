"""What is changed in a session, as in a notebook, is noticed by both engines, and by the cache on disk."""

import os
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from numba import njit

import lowregret as lr
from lowregret.engine.bridge.compiler import entry
from lowregret.engine.bridge.identity import CodeGraph, identity_of
from lowregret.policies import Arm, clock_at

SIGN = 1.0
TABLE = np.array([1.0, 5.0, 2.0])
REWARDS = [[1] * 20, [0] * 20, [1, 0] * 10]
module = ModuleType("module")
exec("sign = 1.0\ndef signed(x): return sign * x", vars(module))


def signed(x):
    return SIGN * x


def twice_signed(x):
    return 2.0 * signed(x)


@njit
def jitted(x):
    return SIGN * x


def arms(policy):
    """Return the arms that are pulled, which are the same in both engines."""
    compiled, reference = (lr.trace(policy, REWARDS, 20, engine=each) for each in ("compiled", "reference"))
    assert compiled.arm.tolist() == reference.arm.tolist()
    return compiled.arm.tolist()


def score_of(policy, arm, clock):
    return policy.score(arm, clock)


def score(policy):
    """Return the score of an arm, which is the same compiled; that compiles in a tenth of the time."""
    arm, clock = Arm(0, 4, 0.5, 0.25), clock_at(9, 20, 3, 0.0)
    compiled = entry(score_of, policy, arm, clock)(policy, arm, clock)
    assert compiled == policy.score(arm, clock)
    return compiled


class ByHelper(lr.Policy):
    def score(self, arm, clock):
        return twice_signed(arm.mean)


class ByModule(lr.Policy):
    def score(self, arm, clock):
        return module.signed(arm.mean)


class ByCompiled(lr.Policy):
    def score(self, arm, clock):
        return jitted(arm.mean)


class ByTable(lr.Policy):
    def score(self, arm, clock):
        return TABLE[arm.number] - arm.pulls


class ByLater(lr.Policy):
    def score(self, arm, clock):
        return later(arm.mean)  # noqa: F821


class Plain(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + 1.0 / arm.pulls


class Derived(Plain):
    pass


def test_a_global_of_a_helper(monkeypatch):
    assert score(ByHelper()) == 1.0
    monkeypatch.setitem(globals(), "SIGN", -1.0)
    assert score(ByHelper()) == -1.0
    monkeypatch.setitem(globals(), "SIGN", 1.0)
    assert score(ByHelper()) == 1.0


def test_a_helper_of_a_helper(monkeypatch):
    assert score(ByHelper()) == 1.0
    monkeypatch.setitem(globals(), "signed", lambda x: -x)
    assert score(ByHelper()) == -1.0


def test_a_global_of_another_module(monkeypatch):
    assert score(ByModule()) == 0.5
    monkeypatch.setattr(module, "sign", -1.0)
    assert score(ByModule()) == -0.5


def test_a_global_of_a_helper_that_numba_has_compiled(monkeypatch):
    arm, clock = Arm(0, 4, 0.5, 0.25), clock_at(9, 20, 3, 0.0)
    assert entry(score_of, ByCompiled(), arm, clock)(ByCompiled(), arm, clock) == 0.5
    monkeypatch.setitem(globals(), "SIGN", -1.0)
    assert entry(score_of, ByCompiled(), arm, clock)(ByCompiled(), arm, clock) == -0.5


def test_an_entry_of_an_array():
    assert score(ByTable()) == -3.0
    TABLE[0] = 100.0
    assert score(ByTable()) == 96.0


def test_a_helper_that_was_missing(monkeypatch):
    with pytest.raises(lr.InputError, match="later"):
        score(ByLater())
    monkeypatch.setitem(globals(), "later", lambda x: -x)
    assert score(ByLater()) == -0.5


def test_an_attribute_that_was_inherited(monkeypatch):
    """By a simulation, whose machine code depends on more than the score."""
    before = arms(Derived())
    monkeypatch.setattr(Derived, "warmup", 3)
    assert arms(Derived())[:9] == [0, 1, 2] * 3 != before[:9]
    monkeypatch.setattr(Derived, "score", lambda self, arm, clock: -arm.mean)
    assert score(Derived()) == -0.5


def test_a_class_without_a_module():
    """``exec`` in a scope without a name makes classes that claim to be builtins."""
    found = []
    for sign in (1, -1):
        scope = {"lr": lr}
        exec(
            f"class Made(lr.Policy):\n    def score(self, arm, clock):\n        return {sign} * arm.mean",
            scope,
        )
        found.append(score(scope["Made"]()))
    assert found[0] != found[1]


def test_the_type_behind_the_name_of_an_annotation(monkeypatch):
    found = []
    for kind in ("int", "float"):
        source = f"""
from __future__ import annotations
Width = {kind}
class Made(lr.Policy):
    width: Width = 1
    def score(self, arm, clock): return arm.mean + self.width
"""
        made = ModuleType("made")
        monkeypatch.setitem(sys.modules, "made", made)
        made.lr = lr
        exec(source, vars(made))
        found.append(identity_of(made.Made))
    assert found[0] != found[1]


ANNOTATED = """
import lowregret as lr
from lowregret.engine.bridge.identity import identity_of
from lowregret.policies.annotations import Positive
class Mine(lr.Policy):
    width: Positive = 1.0
    def score(self, arm, clock): return arm.mean + self.width
print(identity_of(Mine))
"""


def test_a_rule_of_a_parameter_has_no_address_in_the_identity():
    def identity(padding):
        code = f"padding = [object() for _ in range({padding})]" + ANNOTATED
        return subprocess.check_output([sys.executable, "-c", code], env=os.environ)

    assert identity(0) == identity(100_000)


BY_MODULE = """
import sys
from types import ModuleType
from numba import njit
import lowregret as lr
from lowregret.engine.bridge.compiler import entry
from lowregret.policies import Arm
module = ModuleType(sys.argv[1])
exec("def halved(x): return x / 2", vars(module))
compiled = njit(module.halved)
class {name}(lr.Policy):
    def score(self, arm, clock): return {helper}(arm.mean)
def scored(policy, arm): return policy.score(arm, arm)
arm = Arm(0, 4, 0.5, 0.25)
print(entry(scored, {name}(), arm)({name}(), arm))
"""


@pytest.mark.parametrize(("name", "helper"), [("Plain", "module.halved"), ("Compiled", "compiled")])
def test_code_on_disk_of_a_module_without_a_file_or_with_another_name(name, helper, tmp_path, forks):
    code, environ = BY_MODULE.format(name=name, helper=helper), {"XDG_CACHE_HOME": str(tmp_path)}
    for module in ("first", "first", "second"):
        assert forks.run(tmp_path, code, module, environ=environ) == ["0.25\n"]


def test_an_attribute_with_the_name_of_a_global(monkeypatch):
    """A script has a global ``t`` and a policy reads ``clock.t``: nothing is compiled anew."""

    class Plain(lr.Policy):
        def score(self, arm, clock):
            return arm.mean + clock.t / (clock.horizon * arm.pulls)

    before = identity_of(Plain), CodeGraph(Plain)
    for name in ("t", "horizon", "mean", "pulls"):
        monkeypatch.setitem(globals(), name, 3.5)
    assert before[0] == identity_of(Plain)
    assert before[1].is_current()
