"""Compilation: what compiled code sees of a policy, the disk cache, threads, and errors in one sentence."""

import ast
import inspect
import math
import os
import subprocess
import sys
import threading
from importlib import import_module
from math import sqrt
from pathlib import Path
from pkgutil import walk_packages
from typing import NamedTuple

import numpy as np
import pytest
from numba import float64, njit

import lowregret as lr
from lowregret._common import progress
from lowregret.engine import kernels
from lowregret.engine.bridge import code_cache, external
from lowregret.engine.bridge.compiler import dispatch, entry
from lowregret.engine.bridge.identity import is_kernel
from lowregret.engine.bridge.policy_types import class_of, policy_type
from lowregret.engine.kernels import rng
from lowregret.policies import POLICIES
from lowregret.special.quantiles import normal_upper

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="the cache is moved by a variable that only Linux knows"
)


class Seen(NamedTuple):
    """What the small policies of these tests look at."""

    mean: float
    pulls: int


SEEN = Seen(0.25, 4)


def scored(policy, seen):
    return policy.score(seen, seen)


def compared(policy, seen):
    return policy.score(seen, seen) > 0.5


def compiled_score(policy, seen=SEEN):
    return entry(scored, policy, seen)(policy, seen)


class Numbers(lr.Policy):
    width: float = 1.5
    count: int = 3
    on: bool = True
    mode: str = "any"
    limit: float | None = None

    shift = 10

    def score(self, arm, clock):
        return arm.mean + self.width * self.count + (100 if self.on else 0) + self.shift


class Override(Numbers):
    shift = 20

    def score(self, arm, clock, sign=-1):
        return sign * self.half(arm.mean)

    def half(self, value):
        return value / 2.0


def test_compiled_code_reads_the_numbers_and_calls_the_methods():
    for policy in (Numbers(), Numbers(width=0.5, count=-2, on=False, mode="x", limit=1.0), Override()):
        assert compiled_score(policy) == policy.score(SEEN, SEEN)


def test_each_class_has_a_type_of_its_own():
    kinds = [policy_type(kind) for kind in (*POLICIES.values(), Numbers, Override)]
    assert len({kind.name for kind in kinds}) == len(kinds)
    assert class_of(policy_type(Override)) is Override


def make(sign):
    def helper(x):
        return sign * x

    class Closed(lr.Policy):
        def score(self, arm, clock):
            return helper(arm.mean) + np.sqrt(arm.pulls) + sqrt(4.0)

    return Closed


def test_classes_made_by_a_function_differ_by_what_they_close_over():
    assert compiled_score(make(1.0)()) == 0.25 + 4.0
    assert compiled_score(make(-1.0)()) == -0.25 + 4.0
    assert policy_type(make(1.0)) is policy_type(make(1.0))
    assert policy_type(make(1.0)) is not policy_type(make(2.0))


def test_classes_made_by_type_differ_by_their_methods():
    scores = [lambda self, arm, clock: arm.mean + 1.0, lambda self, arm, clock: arm.mean + 2.0]
    one, two = (type("Made", (lr.Policy,), {"score": score}) for score in scores)
    assert one.__module__ == two.__module__ == __name__
    assert (compiled_score(one()), compiled_score(two())) == (1.25, 2.25)


def test_two_threads_may_compile_at_once():
    kinds = [type(f"Threaded{number // 2}", (make(float(number // 2 + 7)),), {}) for number in range(4)]
    found, barrier = {}, threading.Barrier(len(kinds))

    def work(number):
        barrier.wait(120)
        found[number] = compiled_score(kinds[number]())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(kinds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: 0.25 * (number // 2 + 7) + 4.0 for number in range(len(kinds))}


def test_a_compilation_is_reported_once(monkeypatch, capsys):
    monkeypatch.delenv(progress.LINES_SWITCH)
    monkeypatch.setattr(progress, "LINE_SECONDS", -math.inf)  # every line is written
    policy = make(np.random.default_rng().random())()
    compiled_score(policy)
    compiled_score(policy)
    told = "lowregret: compiling Closed, which takes some seconds the first time\n"
    assert capsys.readouterr() == ("", told)


def unknown(x):
    return x.nothing


class Attribute(lr.Policy):
    def score(self, arm, clock):
        return arm.nothing


class Name(lr.Policy):
    def score(self, arm, clock):
        return nobody(arm.mean)  # noqa: F821


class Import(lr.Policy):
    def score(self, arm, clock):
        import numpy as np

        return np.sqrt(arm.mean)


class Text(lr.Policy):
    def score(self, arm, clock):
        return "high"


class Nothing(lr.Policy):
    def score(self, arm, clock):
        arm.mean  # noqa: B018


class Array(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + np.zeros(3)[1]


class Step(NamedTuple):
    number: int
    until: int


class NoRound(lr.Policy):
    def first_round(self, clock):
        return Step(0, 10)

    def next_round(self, arms, clock, round):
        return None

    def score(self, arm, clock, round):
        return arm.mean


class Helped(lr.Policy):
    def score(self, arm, clock):
        return self.inner(arm.mean)

    def inner(self, x):
        return unknown(x)


class Word(lr.Policy):
    mode: str = "a"

    def score(self, arm, clock):
        return 1.0 if self.mode == "a" else 0.0


class Complex(lr.Policy):
    def score(self, arm, clock):
        return 1j


class Super(Numbers):
    def score(self, arm, clock):
        return super().score(arm, clock)


class Missing(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + self.width


class Table(lr.Policy):
    weights = (1.0, 2.0)

    def score(self, arm, clock):
        best = arm.mean
        return best * self.weights[arm.pulls]


class Try(lr.Policy):
    def score(self, arm, clock):
        try:
            return arm.mean / arm.pulls
        except ZeroDivisionError:
            return 0.0


class Recursive(lr.Policy):
    def score(self, arm, clock):
        return self.depth(arm.pulls)

    def depth(self, n):
        return 0.0 if n <= 0 else 1.0 + self.depth(n - 1)


def factorial(n):
    return 1.0 if n <= 0 else n * factorial(n - 1)


class Factorial(lr.Policy):
    def score(self, arm, clock):
        return factorial(arm.pulls)


def make_table():
    table = [1.0, 2.0]

    class Closure(lr.Policy):
        def score(self, arm, clock):
            return table[arm.pulls]

    return Closure


LOOKUP = {4: 1.0}


class Lookup(lr.Policy):
    def score(self, arm, clock):
        return LOOKUP[arm.pulls]


class Property(lr.Policy):
    @property
    def width(self):
        return 2.0

    def score(self, arm, clock):
        return arm.mean + self.width


class Static(lr.Policy):
    @staticmethod
    def width(pulls):
        return 1.0 / pulls

    def score(self, arm, clock):
        return arm.mean + self.width(arm.pulls)


def line_of(method, more=0):
    """Return the first line of a method, or one after it."""
    return method.__code__.co_firstlineno + more


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            Attribute,
            r"Attribute: Numba cannot compile score \(test_compile.py, line \d+\): Unknown attribute",
        ),
        (Name, r"Name: Numba cannot compile score \(.*\): name 'nobody' is not defined"),
        (
            Import,
            rf"Import: Numba cannot compile score \(test_compile.py, line {line_of(Import.score, 1)}\): "
            "import at the top of the file, not inside$",
        ),
        (Text, r"Text: score \(test_compile.py, line \d+\) must return a number, and returns str$"),
        (Nothing, r"Nothing: score \(test_compile.py, line \d+\) must return a number, and returns none"),
        (Helped, r"Helped: Numba cannot compile unknown \(.*\): Unknown attribute 'nothing' of type float64"),
        (Complex, r"Complex: score \(.*\) must return a number, and returns complex128$"),
        (Super, r"Super: Numba cannot compile score \(.*\): super\(\) cannot be compiled"),
        (Missing, r"Missing: Numba cannot compile score \(.*\): Unknown attribute 'width' of type Missing$"),
        (Word, r"Word: Numba cannot compile score \(.*\): it reads mode, and only parameters that are float"),
        (
            Table,
            rf"score \(test_compile.py, line {line_of(Table.score, 2)}\): it reads weights, and only",
        ),
        (
            Try,
            rf"score \(test_compile.py, line {line_of(Try.score, 3)}\): try and except cannot be",
        ),
        (
            Recursive,
            rf"depth \(test_compile.py, line {line_of(Recursive.depth, 1)}\): it calls itself, which",
        ),
        (Factorial, r"factorial \(.*\): it calls itself, which cannot be compiled; write a loop$"),
        (
            make_table(),
            r"score \(.*\): it reads table, a list; use a tuple of numbers or a NumPy array$",
        ),
        (Lookup, r"score \(.*\): it reads LOOKUP, a dict; use a tuple of numbers or a NumPy array$"),
        (Property, r"score \(.*\): width is a property; write a plain method, or a function$"),
        (Static, r"score \(.*\): width is a staticmethod; write a plain method, or a function$"),
    ],
)
def test_an_error_names_the_method_and_the_line(policy, message):
    with pytest.raises(lr.InputError, match=message) as caught:
        entry(compared, policy(), SEEN)(policy(), SEEN)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert "\n" not in str(caught.value)


def test_the_traceback_of_numba_is_shown_on_request(monkeypatch):
    monkeypatch.setattr("lowregret.engine.bridge.compiler.TRACEBACK", True)
    with pytest.raises(lr.InputError) as caught:
        entry(compared, Attribute(), SEEN)
    assert "nothing" in str(caught.value.__cause__)


SCRIPT = """
import sys
from math import sqrt
from typing import Any, NamedTuple, cast
import lowregret as lr
from lowregret.engine.bridge.compiler import counts, entry
from seen import SEEN, scored
{source}
policy = Mine()
print(entry(scored, policy, SEEN)(policy, SEEN), counts["loaded"])
"""

SEEN_MODULE = """
from typing import Any, NamedTuple, cast
class Seen(NamedTuple):
    mean: float
    pulls: int
SEEN = Seen(0.25, 4)
def scored(policy, seen):
    return policy.score(seen, seen)
"""

MINE = "class Mine(lr.Policy):\n  def score(self, arm, clock):\n    return {}\n"


@pytest.fixture
def run(tmp_path, forks):
    """Run a policy of the script itself in new processes, with a cache of their own."""
    (tmp_path / "seen.py").write_text(SEEN_MODULE)

    def start(source, count=1, **more):
        code = SCRIPT.format(source=source)
        (tmp_path / "script.py").write_text(code)
        environ = {"XDG_CACHE_HOME": str(tmp_path / "cache"), **more}
        printed = forks.run(tmp_path, code, count=count, environ=environ, name="script.py")
        return [(float(value), int(loaded)) for value, loaded in map(str.split, printed)]

    def call(source, **more):
        return start(source, **more)[0]

    call.start = start
    return call


@linux
def test_a_class_of_a_script_is_kept_and_an_edit_noticed(run, tmp_path):
    (tmp_path / "tools.py").write_text("def helper(x):\n  return x * FACTOR\nFACTOR = 2.0\n")
    source = "from tools import helper\n" + MINE.format("helper(arm.mean)")
    assert run(source) == (0.5, 0)
    assert run(source) == (0.5, 1)
    assert run("# A comment.\n" + source) == (0.5, 1)
    (tmp_path / "tools.py").write_text("def helper(x):\n  return x * FACTOR\nFACTOR = 4.0\n")
    assert run(source) == (1.0, 0)


OWN_TUPLE = """
class Seen(NamedTuple):
    mean: float
    pulls: int
SEEN = Seen(0.25, 4)
def scored(policy, seen) -> int:
    return int(8 * policy.score(seen, seen))
"""


@linux
def test_named_tuples_of_a_script_are_no_hindrance(run):
    assert run(OWN_TUPLE + MINE.format("arm.mean")) == (2.0, 0)
    assert run(OWN_TUPLE + MINE.format("arm.mean")) == (2.0, 1)
    assert run(OWN_TUPLE.replace("8 *", "16 *") + MINE.format("arm.mean")) == (4.0, 0)


@linux
@pytest.mark.parametrize(
    "variable", ["NUMBA_CACHE_DIR", pytest.param("NUMBA_CACHE_LOCATOR_CLASSES", marks=pytest.mark.heavy)]
)
def test_numbas_own_settings_make_nothing_stale(run, tmp_path, variable):
    value = str(tmp_path / "own") if variable == "NUMBA_CACHE_DIR" else "InTreeCacheLocator"
    assert run(MINE.format("arm.mean"), **{variable: value}) == (0.25, 0)
    assert run(MINE.format("arm.mean"), **{variable: value}) == (0.25, 1)
    assert run(MINE.format("-arm.mean"), **{variable: value}) == (-0.25, 0)


@linux
def test_two_processes_may_compile_at_once(run):
    source = MINE.format("arm.mean + arm.pulls")
    assert [value for value, _ in run.start(source, 2)] == [4.25, 4.25]
    assert run(source) == (4.25, 1)


@linux
def test_without_a_writable_cache_it_still_runs(run, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert run(MINE.format("arm.mean")) == (0.25, 0)


def test_counting_references_changes_nothing():
    """The variable is read when the engine is imported."""
    code = """
import lowregret as lr
from lowregret.engine.bridge.compiler import dispatch, entry
class Mine(lr.Policy):
  def score(self, arm, clock): return arm.mean
def scored(policy, arm): return policy.score(arm, arm)
arm = lr.policies.Arm(0, 4, 0.25, 0.0)
print(entry(scored, Mine(), arm)(Mine(), arm))
"""
    environment = {**os.environ, "LOWREGRET_COUNT_REFERENCES": "1"}
    assert subprocess.check_output([sys.executable, "-c", code], env=environment) == b"0.25\n"


def test_a_full_disk_costs_only_the_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(code_cache, "_off", False)
    monkeypatch.setattr(code_cache, "cache_folder", lambda: tmp_path)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    assert compiled_score(make(31.0)()) == 0.25 * 31.0 + 4.0


def score_of_a_policy(sign):
    return compiled_score(make(sign)()) - 0.25 * sign


def drawn_from_python(_):
    return dispatch(rng.uniform, False)(np.uint64(5), 1)


def quantile_by_address(_):
    return external.machine_code(normal_upper, float64(float64)).ctypes(0.5)


@pytest.mark.parametrize("compute", [score_of_a_policy, drawn_from_python, quantile_by_address])
def test_a_disk_that_is_full_when_numba_writes_costs_only_the_cache(monkeypatch, tmp_path, compute):
    value = compute(37.0)
    monkeypatch.setattr(code_cache, "_off", False)
    monkeypatch.setattr(code_cache, "cache_folder", lambda: tmp_path)
    refused, real_open = [], open

    def full(path, mode="r", *arguments, **named):
        if "w" in mode and str(path).startswith(str(tmp_path)):
            refused.append(path)
            raise OSError(28, "No space left on device")
        return real_open(path, mode, *arguments, **named)

    monkeypatch.setattr("builtins.open", full)
    assert compute(38.0) == value
    assert len(refused) == 1 and code_cache.is_off()


@linux
@pytest.mark.heavy
def test_with_little_space_on_the_disk_it_still_runs(tmp_path):
    """Small files can be written, and machine code cannot."""
    code = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
import lowregret as lr
print(lr.simulate("RoundRobin", lr.bernoulli([0.2, 0.5]), 10, 1).finals["regret"].item())
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    assert subprocess.check_output([sys.executable, "-c", code], env=environment) == b"1.5\n"


def test_the_modules_of_all_numbers_in_kernels_identify_the_machine_code():
    """Numba takes a global number for a constant, so code on disk is stale if a number changes elsewhere."""
    missing = set()
    for info in walk_packages(kernels.__path__, "lowregret.engine.kernels."):
        for node in ast.walk(ast.parse(inspect.getsource(import_module(info.name)))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("lowregret."):
                values = vars(import_module(str(node.module)))
                numbers = [name.name for name in node.names if isinstance(values.get(name.name), int | float)]
                if not is_kernel(node.module) and node.module not in code_cache.COMPILED:
                    missing |= {f"{node.module}.{number}" for number in numbers}
    assert not missing


def test_old_folders_are_deleted(monkeypatch, tmp_path):
    monkeypatch.setattr(code_cache, "_off", False)
    monkeypatch.setattr(code_cache, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(code_cache, "POLICIES", 3)
    for number in range(6):
        assert code_cache.file_for(f"group{number}", "name", number)
        os.utime(tmp_path / f"group{number}", (number, number))
    assert {path.name for path in tmp_path.iterdir()} == {"group2", "group3", "group4", "group5"}


def test_an_old_folder_that_another_process_deletes_meanwhile(monkeypatch, tmp_path):
    monkeypatch.setattr(code_cache, "_off", False)
    monkeypatch.setattr(code_cache, "cache_folder", lambda: tmp_path)
    (tmp_path / "gone").mkdir()
    real = Path.is_dir

    def is_dir(path):
        found = real(path)
        if path.name == "gone":
            path.rmdir()
        return found

    monkeypatch.setattr(Path, "is_dir", is_dir)
    assert code_cache.file_for("group", "name", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["group"]


def test_an_entry_is_compiled_once():
    policy = Numbers()
    assert entry(scored, policy, SEEN) is entry(scored, Numbers(width=9.0), SEEN)


def factor(x):
    return 2.0 * x


class Noted(lr.Policy):
    def score(self, arm, clock):
        return factor(arm.mean)


def test_a_helper_that_is_defined_anew_is_noticed(monkeypatch):
    """As when a cell of a notebook is run again."""
    policy = Noted()
    assert compiled_score(policy) == 0.5
    monkeypatch.setitem(globals(), "factor", lambda x: 4.0 * x)
    assert compiled_score(policy) == 1.0
    monkeypatch.setattr(Noted, "score", lambda self, arm, clock: -arm.mean)
    assert compiled_score(policy) == -0.25


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            Array,
            rf"Array: Numba cannot compile score \(test_compile.py, line {line_of(Array.score)}\): it makes "
            r"an array, a list or a string, and only numbers and tuples of them can be made$",
        ),
        (
            NoRound,
            rf"NoRound: next_round \(test_compile.py, line {line_of(NoRound.next_round)}\) must return a "
            r"round as first_round does, Step\(int64 x 2\), and returns none$",
        ),
    ],
)
def test_an_error_of_a_simulation_is_one_sentence(policy, message):
    with pytest.raises(lr.InputError, match=message):
        lr.simulate(policy(), "bernoulli:0.2,0.8", horizon=50, runs=2)


def test_numba_that_compiles_nothing():
    script = """
import lowregret as lr
print(lr.simulate("UCB1", "bernoulli:0.2,0.8", 50, 2, engine="reference").regret("UCB1").tolist())
try:
    lr.simulate("UCB1", "bernoulli:0.2,0.8", 50, 2)
except lr.InputError as error:
    print(error)
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], env=environment, capture_output=True, text=True
    )
    wanted = lr.simulate("UCB1", "bernoulli:0.2,0.8", 50, 2).regret("UCB1").tolist()
    assert done.stdout.splitlines() == [
        str(wanted),
        "UCB1: NUMBA_DISABLE_JIT is set, so nothing can be compiled: unset it, or use engine='reference' of "
        "simulate and trace",
    ], done.stderr


def earlier(x: float) -> float:
    return later(x) + 1.0


def later(x: float) -> float:
    return 2.0 * x


def unlucky(x: float) -> float:
    return 3.0 * x


def slot_of(function) -> external.Slot:
    external.implement_external(function)
    return external.slots.pop(function)


def test_an_external_function_is_compiled_when_it_is_first_called():
    slots = [slot_of(function) for function in (earlier, later)]  # one calls what is declared after it
    first, second = slots
    called = njit(lambda x: earlier(x) + x if x > 0.0 else 0.0)
    assert called(0.0) == 0.0 and first.machine_code is second.machine_code is None
    assert called(1.0) == called(1.0) == 4.0
    assert all(slot.address.value == slot.machine_code.address for slot in slots)


def test_an_external_function_that_cannot_be_compiled_is_computed_by_python(monkeypatch):
    slot, called = slot_of(unlucky), njit(lambda x: unlucky(x))
    with monkeypatch.context() as patch:
        patch.setattr(code_cache, "compile_or_load", raise_interrupt)
        assert called(1.0) == 3.0 and slot.machine_code is None
    assert called(2.0) == 6.0 and slot.machine_code is not None


def raise_interrupt(*_):
    raise KeyboardInterrupt


def test_a_simulation_compiles_the_draws_it_makes_alone(tmp_path):
    """Bernoulli rewards need no draw of a rare family, and Poisson rewards need no beta."""
    script = """
import lowregret as lr
from lowregret.engine.bridge.external import slots
for bandit in ("bernoulli:0.2,0.8", "poisson:1,2"):
    lr.simulate("UCB1", bandit, 50, 2, clip=True)
    print(sorted(function.__name__ for function, slot in slots.items() if slot.machine_code))
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(2):  # compiled, and from the disk
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script], env=environment, capture_output=True, text=True
        )
        assert done.stdout.splitlines() == ["[]", "['_draw_other', 'poisson']"], done.stderr
