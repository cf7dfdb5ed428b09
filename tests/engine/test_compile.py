"""The disk cache: it serves, it notices edits, and it never holds a class from outside."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lowregret as lr
from lowregret.engine.compile import SOURCES, cache_folder

PACKAGE = Path(lr.__file__).parent

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="the cache is moved by a variable that only Linux knows"
)

SIMULATED = """
import lowregret as lr
from lowregret.engine.compile import _kernels
import {module} as home
{before}
result = lr.simulate(home.{policy}(), lr.bernoulli([0.4, 0.6]), 500, runs=3, seed=1)
*_, kernel = _kernels.values()
print(result.regret(home.{policy}()).tolist(), sum(kernel.stats.cache_hits.values()))
"""

SCORED = """
from lowregret.engine.compile import kernel
from lowregret.engine.scored import ARM, CLOCK, scored
import {module} as home
{before}
compiled = kernel(scored, home.{policy}())
print(compiled(home.{policy}().record, ARM, CLOCK), sum(compiled.stats.cache_hits.values()))
"""

ENGINE = """
from lowregret.policies import Arm, clock_at
ARM, CLOCK = Arm(0, 3, 0.25, 0.0), clock_at(9, 100, 2, 0.0)
def scored(policy, arm, clock):
    return policy.score(arm, clock)
"""
"""A part of the engine that compiles in a second; what is kept on disk does not depend on the part."""


@pytest.fixture
def run(tmp_path):
    """Run a policy in a new process, with a copy of the package and an empty cache of its own."""
    shutil.copytree(PACKAGE, tmp_path / "lowregret", ignore=shutil.ignore_patterns("__pycache__"))
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environ["PYTHONDONTWRITEBYTECODE"] = "1"

    def call(module="lowregret", policy="MOSS", before="", program=SCORED):
        if program == SCORED:
            (tmp_path / "lowregret" / "engine" / "scored.py").write_text(ENGINE)
        program = program.format(module=module, policy=policy, before=before)
        command = [sys.executable, "-W", "ignore", "-c", program]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
        value, hits = done.stdout.rsplit(" ", 1)
        return value, int(hits)

    return call


def known(policy, tmp_path):
    """Simulate here; give the regret, and what this put on disk to the processes to come."""
    policy, folder = policy(), type(policy()).__name__
    regret = lr.simulate(policy, lr.bernoulli([0.4, 0.6]), 500, runs=3, seed=1).regret(policy).tolist()
    shutil.copytree(cache_folder() / folder, tmp_path / "cache" / "lowregret" / SOURCES / folder)
    return str(regret)


def turn_round(tmp_path):
    """Edit the policy: the less an arm gives, the better."""
    moss = tmp_path / "lowregret" / "policies" / "moss.py"
    text = moss.read_text()
    assert "return arm.mean + sqrt" in text
    return moss, text.replace("return arm.mean + sqrt", "return -arm.mean + sqrt")


@linux
def test_the_cache_serves_and_notices_an_edited_policy(run, tmp_path):
    first, hits = run()
    assert hits == 0
    assert run() == (first, 1)
    assert len(list((tmp_path / "cache" / "lowregret").iterdir())) == 1
    moss, text = turn_round(tmp_path)
    moss.write_text(text)
    edited, hits = run()
    assert hits == 0
    assert edited != first


@linux
def test_simulations_are_served_and_notice_an_edited_policy(run, tmp_path):
    first = known(lr.MOSS, tmp_path)
    assert run(program=SIMULATED) == (first, 1)
    moss, text = turn_round(tmp_path)
    moss.write_text(text)
    edited, hits = run(program=SIMULATED)
    assert hits == 0
    assert edited != first


@linux
def test_an_edit_between_loading_and_compiling_is_not_cached(run, tmp_path):
    moss, text = turn_round(tmp_path)
    first, _ = run(module="lowregret.policies", before=f"home.MOSS; open({str(moss)!r}, 'w').write({text!r})")
    assert not list((tmp_path / "cache").rglob("*.nb*"))
    after, hits = run()
    assert hits == 0
    assert after != first
    assert list((tmp_path / "cache").rglob("*.nb*"))


@linux
def test_a_users_policy_is_compiled_but_not_cached(run, tmp_path):
    source = "import lowregret as lr\nclass Mine(lr.Policy):\n  def score(self, arm, clock):\n    return {}\n"
    (tmp_path / "mine.py").write_text(source.format("arm.mean"))
    first, hits = run("mine", "Mine")
    assert hits == 0
    (tmp_path / "mine.py").write_text(source.format("-arm.mean"))
    edited, hits = run("mine", "Mine")
    assert hits == 0
    assert edited != first
    assert not list((tmp_path / "cache").rglob("*Mine*"))


@linux
def test_code_from_the_cache_and_new_code_do_not_mix(run, tmp_path):
    """Policies of one kind and without parameters look alike to Numba but for the names of their twins."""
    alone = known(lr.ThompsonBeta, tmp_path)
    sampler = "class Mine(lr.Policy):\n  def sample(self, arm, clock, rng):\n    return rng.uniform()\n"
    played = "lr.simulate(Mine(), lr.bernoulli([0.4, 0.6]), 500, runs=3, seed=1)\n"
    mixed = run(policy="ThompsonBeta", before=sampler + played, program=SIMULATED)
    assert mixed == (alone, 1)


def test_without_a_writable_cache_it_still_runs(run, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert run()[1] == 0
