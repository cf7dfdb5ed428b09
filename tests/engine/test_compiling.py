"""The disk cache: it serves, it notices edits, and it never holds a class from outside."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lowregret

PACKAGE = Path(lowregret.__file__).parent

PROGRAM = """
import sys
import lowregret as lr
from lowregret.engine.compiling import _kernels
import {module} as home
{before}
result = lr.simulate(home.{policy}(), lr.bernoulli([0.4, 0.6]), 500, runs=3, seed=1)
*_, kernel = _kernels.values()
print(result.regret(home.{policy}()).tolist(), sum(kernel.stats.cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path):
    """Run a policy in a new process, with a copy of the package and an empty cache of its own."""
    shutil.copytree(PACKAGE, tmp_path / "lowregret", ignore=shutil.ignore_patterns("__pycache__"))
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environ["PYTHONDONTWRITEBYTECODE"] = "1"

    def call(module="lowregret", policy="MOSS", before=""):
        program = PROGRAM.format(module=module, policy=policy, before=before)
        command = [sys.executable, "-W", "ignore", "-c", program]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
        regret, hits = done.stdout.rsplit(" ", 1)
        return regret, int(hits)

    return call


@pytest.mark.skipif(sys.platform != "linux", reason="the cache is moved by a variable that only Linux knows")
def test_the_cache_serves_and_notices_an_edited_policy(run, tmp_path):
    first, hits = run()
    assert hits == 0
    again, hits = run()
    assert (again, hits) == (first, 1)
    folders = list((tmp_path / "cache" / "lowregret").iterdir())
    assert len(folders) == 1
    moss = tmp_path / "lowregret" / "policies" / "moss.py"
    moss.write_text(moss.read_text().replace("return arm.mean + sqrt", "return -arm.mean + sqrt"))
    edited, hits = run()
    assert hits == 0
    assert edited != first


@pytest.mark.skipif(sys.platform != "linux", reason="the cache is moved by a variable that only Linux knows")
def test_an_edit_between_loading_and_compiling_is_not_cached(run, tmp_path):
    moss = tmp_path / "lowregret" / "policies" / "moss.py"
    original = moss.read_text()
    edited = original.replace("return arm.mean + sqrt", "return -arm.mean + sqrt")
    first, _ = run(
        module="lowregret.policies", before=f"home.MOSS; open({str(moss)!r}, 'w').write({edited!r})"
    )
    after, hits = run()
    assert hits == 0
    assert after != first


@pytest.mark.skipif(sys.platform != "linux", reason="the cache is moved by a variable that only Linux knows")
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


@pytest.mark.skipif(sys.platform != "linux", reason="the cache is moved by a variable that only Linux knows")
def test_code_from_the_cache_and_new_code_do_not_mix(run):
    """Policies of one kind and without parameters look alike to Numba but for the names of their twins."""
    alone, _ = run(policy="ThompsonBeta")
    sampler = "class Mine(lr.Policy):\n  def sample(self, arm, clock, rng):\n    return rng.uniform()\n"
    played = "lr.simulate(Mine(), lr.bernoulli([0.4, 0.6]), 500, runs=3, seed=1)\n"
    assert run(policy="ThompsonBeta", before=sampler + played) == (alone, 1)


def test_without_a_writable_cache_it_still_runs(run, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert run()[1] == 0
