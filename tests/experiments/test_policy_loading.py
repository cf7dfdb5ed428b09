"""Finding a policy's class again: ours, a file's, and what is refused."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

import lowregret as lr
from lowregret.experiments import policy_loading
from lowregret.experiments.policy_loading import Reference, UnknownClassError, find_class, load_code, refer_to
from lowregret.experiments.sharding import arm_groups, bandit_of, make_shard_plan

OWN = """
import lowregret as lr

class Mine(lr.Policy):
    def score(self, arm, clock):
        return arm.mean
"""


def test_ours() -> None:
    assert load_code(refer_to(lr.EUCBV)) is lr.EUCBV
    assert find_class("EUCBV", Path()) == refer_to(lr.EUCBV)


def test_threads_that_load_a_file_at_once_get_the_same_class(tmp_path: Path) -> None:
    (tmp_path / "mine_slow.py").write_text("import time\ntime.sleep(0.2)\n" + OWN)
    reference = Reference("mine_slow", "Mine", str(tmp_path / "mine_slow.py"))
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(load_code, [reference] * 3))
    assert len(set(found)) == 1


def test_a_file_that_changed_after_the_plan_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine_a.py").write_text(OWN)
    reference = find_class("mine_a:Mine", tmp_path)
    assert load_code(reference) is load_code(reference)
    (tmp_path / "mine_a.py").write_text(OWN + "# A comment.\n")
    assert load_code(reference).__name__ == "Mine"
    (tmp_path / "mine_a.py").write_text(OWN.replace("arm.mean", "-arm.mean"))
    with pytest.raises(UnknownClassError, match="is not what it was when the run was planned"):
        load_code(reference)


def test_an_object_whose_file_changed_since_is_refused(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "mine_b.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    kind = import_module("mine_b").Mine
    assert load_code(refer_to(kind)).__name__ == "Mine"
    (tmp_path / "mine_b.py").write_text(OWN.replace("arm.mean", "-arm.mean"))
    with pytest.raises(lr.InputError, match="has changed since it was imported"):
        refer_to(kind)


def test_a_module_may_import_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_c.py").write_text("WIDTH = 1.0\n")
    (tmp_path / "mine_c.py").write_text("from neighbour_c import WIDTH\n" + OWN)
    before = list(sys.path)
    assert load_code(find_class("mine_c:Mine", tmp_path)).__name__ == "Mine"
    assert sys.path == before


def test_a_module_that_raises_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine_d.py").write_text("1 / 0\n")
    with pytest.raises(lr.InputError, match="mine_d:Mine: cannot import the module: ZeroDivisionError"):
        load_code(find_class("mine_d:Mine", tmp_path))


def make(sign: float) -> type:
    class Inner(lr.Policy):
        def score(self, arm, clock):
            return sign * arm.mean

    return Inner


def test_a_class_inside_a_function_is_passed_by_value() -> None:
    kind = make(1.0)
    reference = refer_to(kind)
    assert load_code(reference) is kind
    assert refer_to(make(2.0)).identity != reference.identity
    assert refer_to(make(1.0)).identity == reference.identity


def test_another_process_makes_the_class_of_its_pickle(monkeypatch) -> None:
    reference = pickle.loads(pickle.dumps(refer_to(make(3.0))))
    monkeypatch.setattr(policy_loading, "_by_identity", {})
    arm = type("Arm", (), {"mean": 0.5})
    assert load_code(reference)().score(arm, None) == 1.5
    monkeypatch.setattr(policy_loading, "_by_identity", {})
    with pytest.raises(lr.InputError, match="cannot be sent to another process without cloudpickle"):
        load_code(reference._replace(pickled=None))


def test_what_cannot_be_hashed_is_refused() -> None:
    class Inner(lr.Policy):
        stream = sys.stdout

        def score(self, arm, clock):
            return arm.mean

    with pytest.raises(lr.InputError, match="Inner: its code refers to what cannot be hashed"):
        refer_to(Inner)


SAMPLERS = """
import lowregret as lr

FACTOR = 1.0

def square(rng):
    return FACTOR * rng.uniform() ** 2

def half(rng):
    return 0.5 * rng.uniform()

arms = lr.Sampled(square, 1 / 3, 4 / 45, 0, 1), lr.Sampled(half, 0.25, 1 / 48, 0, 1)
two = lr.Bandit(arms, "two")

def three():
    return two + lr.bernoulli(0.1)
"""
TOML = 'policies = "UCB1"\nenvironments = "samplers:three"\nhorizon = 50\nruns = 3\n'


def shard_names(folder: Path) -> list[str]:
    plan = make_shard_plan(lr.Experiment.from_toml(folder / "my.toml"))
    return [shard.name for shard in plan.shards]


def test_a_sampler_is_named_by_its_code(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text(TOML)
    (tmp_path / "samplers.py").write_text(SAMPLERS)
    before = shard_names(tmp_path)
    (tmp_path / "samplers.py").write_text("# A comment." + SAMPLERS)
    assert shard_names(tmp_path) == before
    for old, new in (
        ("FACTOR = 1.0", "FACTOR = 0.5"),
        ("0.5 * rng", "0.4 * rng"),
        ("square, 1 / 3", "square, 0.3"),
    ):
        (tmp_path / "samplers.py").write_text(SAMPLERS.replace(old, new))
        assert shard_names(tmp_path) != before


def test_a_sampler_of_a_module_plays_as_in_simulate(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "my.toml").write_text(TOML)
    (tmp_path / "samplers.py").write_text(SAMPLERS)
    experiment = lr.Experiment.from_toml(tmp_path / "my.toml")
    (case,) = experiment.resolved_environments
    stored = experiment.run(tmp_path / "out", threads=1)
    assert stored.finals["regret"].equals(lr.simulate("UCB1", case.bandit, 50, 3).finals["regret"])
    arms = pickle.loads(pickle.dumps(arm_groups(case.bandit)))
    (tmp_path / "samplers.py").write_text(SAMPLERS.replace("0.5 * rng", "0.4 * rng"))
    bandit_of.cache_clear()
    with pytest.raises(UnknownClassError, match="half: its code, or what it calls, is not what it was"):
        bandit_of(arms)


def test_a_sampler_of_a_function_is_passed_by_value(monkeypatch) -> None:
    def arm(sign: float) -> lr.Sampled:
        return lr.Sampled(lambda rng: sign * rng.uniform(), sign / 2, 1 / 12)

    one, other = (arm_groups(lr.Bandit((arm(sign),), "own")) for sign in (1.0, -1.0))
    assert one != other and one == arm_groups(lr.Bandit((arm(1.0),), "another name"))
    monkeypatch.setattr(policy_loading, "_by_identity", {})
    bandit_of.cache_clear()
    (again,) = bandit_of(pickle.loads(pickle.dumps(one))).arms
    assert again.sample(type("Rng", (), {"uniform": staticmethod(lambda: 0.25)})) == 0.25
    assert again.mean == 0.5
    stream = sys.stdout
    unhashable = lr.Sampled(lambda rng: float(stream.fileno()), 1, 1)
    with pytest.raises(lr.InputError, match="its code refers to what cannot be hashed"):
        arm_groups(lr.Bandit((unhashable,), "own"))


SCRIPT = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import lowregret as lr
if __name__ == "__main__":
    def helper(x):
        return -x
    class Mine(lr.Policy):
        def score(self, arm, clock):
            return helper(arm.mean)
    def square(rng):
        return -rng.uniform() ** 2
    own = lr.Bandit((lr.Sampled(square, -1 / 3, 4 / 45), *lr.bernoulli(0.1)), "own")
    experiment = lr.Experiment(environments=["bernoulli:0.4,0.6", own], policies=Mine(), runs=4, horizon=50)
    here = experiment.run(threads=2)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        there = experiment.run(executor=pool)
    print(here.summary().equals(there.summary()))
"""


def test_a_class_of_a_script_runs_in_threads_and_in_processes(tmp_path: Path, forks) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    assert forks.run(tmp_path, SCRIPT, name=str(script)) == ["True\n"]


@pytest.mark.parametrize("text", ["a b:Mine", "x:", ":Mine", "x:y z", "../x:Mine"])
def test_what_cannot_be_read(text: str, tmp_path: Path) -> None:
    with pytest.raises(lr.InputError, match="write module:Class"):
        find_class(text, tmp_path)
