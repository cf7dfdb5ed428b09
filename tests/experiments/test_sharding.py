"""Plans: what names a shard, and what does not."""

import dataclasses
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import lowregret as lr
from lowregret.experiments import sharding as plans
from lowregret.experiments.sharding import arm_groups, bandit_of, make_shard_plan

BASE = {"environments": ["paper-1"], "policies": ["MOSS"], "runs": 600, "seed": 1}


def shards(**change: object) -> set[str]:
    return {shard.name for shard in make_shard_plan(lr.Experiment(**{**BASE, **change})).shards}


def test_blocks_cover_the_runs_once() -> None:
    (pair,) = make_shard_plan(lr.Experiment(**BASE), shard_steps=1_000_000).pairs
    runs = [run for shard in pair.shards for run in range(shard.first, shard.first + shard.runs)]
    assert runs == list(range(600))
    assert {shard.runs for shard in pair.shards} == {16, 8}


def test_what_determines_the_result_names_the_shard() -> None:
    base = shards()
    for change in (
        {"seed": 2},
        {"horizon": 50_000},
        {"policies": ["MOSSAnytime"]},
        {"policies": ["MOSSAnytime(alpha=2)"]},
        {"environments": ["bernoulli:0.07*19,0.11"], "horizon": 60_000},
        {"grid": {"points": 100}},
        {"delay": 5},
        {"delay": "geometric(mean=5)"},
        {"batch": 5},
        {"period": 1_000},
    ):
        assert not base & shards(**change), change


def test_no_delay_and_no_batch_leave_the_names_as_they_were() -> None:
    assert shards() == shards(delay="0", batch=1) == shards(delay=lr.Delay.by_reward(0, 0))
    assert shards(delay=5) == shards(delay="constant(5)") != shards(delay="constant(5, lost=0.1)")


def test_names_and_other_entries_do_not() -> None:
    base = shards()
    entry = {"environment": "bernoulli:0.07*19,0.1", "name": "renamed", "horizon": 60_000}
    assert base == shards(name="other", environments=[entry])
    assert base < shards(policies=["UCB1", "MOSS"], environments=["paper-2", "paper-1"])


def test_more_runs_leave_the_whole_blocks_as_they_are() -> None:
    assert len(shards() & shards(runs=1000)) == 2  # 256 runs each; the third block has 88


def test_equal_environments_share_their_shards() -> None:
    twice = [{"environment": "paper-1", "name": name} for name in "ab"]
    plan = make_shard_plan(lr.Experiment(**{**BASE, "environments": twice}))
    assert len(plan.pairs) == 2
    assert len(plan.shards) == 3


def test_huge_results_are_cut_smaller() -> None:
    experiment = lr.Experiment(environments="bernoulli:0.5*20000", policies="MOSS", horizon=10, runs=200)
    assert max(shard.runs for shard in make_shard_plan(experiment).shards) == 64


def test_arms_survive_as_plain_data() -> None:
    bandit = lr.paper(4) + lr.empirical([[1, 2], [3]]) + lr.beta(1, [2, 2]).scaled(-1, 1)
    again = bandit_of(arm_groups(bandit))
    assert again.arms == bandit.arms
    assert not again.data.flags.writeable  # else the engine would be compiled a second time


def test_a_bandit_is_made_once_from_arms_that_arrive_again() -> None:
    arms = arm_groups(lr.empirical([[1.0, 2.0], [3.0]]))
    copy = pickle.loads(pickle.dumps(arms))
    assert bandit_of(copy) is bandit_of(arms)
    changed = dataclasses.replace(copy, groups=())
    assert hash(changed) == hash(arms)  # only the hash of the numbers is looked at, not the numbers
    assert len(arm_groups(lr.paper(1))) == 20


def test_the_engine_is_part_of_every_name(monkeypatch) -> None:
    base = shards()
    monkeypatch.setattr(plans, "ENGINE", "other")
    assert not base & shards()


NAMES = """
import lowregret as lr
from lowregret.experiments.sharding import make_shard_plan
experiment = lr.Experiment(
    environments=["paper-1", {"environment": "bernoulli:0.1,0.2", "horizon": 100}],
    policies=["EUCBV", "MOSS", "DMED"],
    runs=3,
    delay="geometric(mean=5)",
)
print(lr.__file__, *sorted(shard.name for shard in make_shard_plan(experiment).shards))
"""

EDITS = {
    "a comment and a docstring of a kernel": (
        "engine/kernels/rng.py",
        '"""Draw from [0, 1)."""',
        '"""No."""  # x',
    ),
    "a docstring that goes": ("engine/kernels/rng.py", '    """Return 64 random bits."""\n', ""),
    "a note on a constant": ("engine/kernels/rng.py", "_MASK = 2**64 - 1", '_MASK = 2**64 - 1\n"""Ones."""'),
    "a message of the engine": ("engine/status.py", "it eliminated every arm", "no arm stayed"),
    "a message of compilation": ("engine/bridge/compile_errors.py", "must return", "has to return"),
    "a check of policies": ("engine/start.py", "of a round must be a number", "is no number"),
    "a message of a policy": ("policies/eucbv.py", "the paper's guarantee", "its guarantee"),
    "the message of all policies": ("policies/base.py", "must be {allowed}", "has to be {allowed}"),
    "a message of environments": ("environments/bandit.py", "InputError(", "InputError('' + "),
    "the service": ("service/handlers.py", "async def", "Edited = 1\n\n\nasync def"),
    "a chart": ("reporting/curve_charts.py", "MAX_GROUPS = 8", "MAX_GROUPS = 9"),
}


def names_of(package: Path) -> list[str]:
    """Return the names of shards that a copy of the package makes."""
    environ = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", NAMES]
    where, *names = subprocess.run(
        command, env=environ, capture_output=True, text=True, check=True
    ).stdout.split()
    assert Path(where).is_relative_to(package)
    return names


def test_names_follow_the_kernels_and_nothing_else(tmp_path: Path) -> None:
    """Messages, docstrings, the service and charts may change; a kernel may not."""
    package = tmp_path / "lowregret"
    shutil.copytree(Path(lr.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = names_of(package)
    for what, (file, old, new) in EDITS.items():
        text = (package / file).read_text("utf-8")
        assert old in text, what
        (package / file).write_text(text.replace(old, new, 1), "utf-8")
    assert names_of(package) == before
    rng = package / "engine" / "kernels" / "rng.py"
    rng.write_text(rng.read_text("utf-8").replace("2.0**-53", "2.0**-52"), "utf-8")
    assert not set(names_of(package)) & set(before)


def test_a_policy_is_named_by_its_code(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "tools_p.py").write_text("FACTOR = 2.0\ndef helper(x):\n    return x * FACTOR\n")
    own = "import lowregret as lr\nfrom tools_p import helper\nclass Mine(lr.Policy):\n"
    own += "    def score(self, arm, clock):\n        return helper(arm.mean)\n"
    (tmp_path / "mine_p.py").write_text(own)

    def named():
        sys.modules.pop("tools_p", None)
        for name in [name for name in sys.modules if name.startswith("mine_p")]:
            del sys.modules[name]
        experiment = lr.Experiment(environments="paper-4", policies="mine_p:Mine", runs=1, folder=tmp_path)
        return [shard.name for shard in make_shard_plan(experiment).shards]

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    first = named()
    (tmp_path / "mine_p.py").write_text("# A comment.\n" + own)
    assert named() == first
    (tmp_path / "tools_p.py").write_text("FACTOR = 3.0\ndef helper(x):\n    return x * FACTOR\n")
    assert named() != first
