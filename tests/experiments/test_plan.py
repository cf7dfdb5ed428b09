"""Plans: what names a shard, and what does not."""

import dataclasses
import pickle
import sys
from pathlib import Path

import lowregret as lr
from lowregret.engine import identity
from lowregret.experiments import plan as plans
from lowregret.experiments.plan import engine_identity, group, make_plan, ungroup

BASE = {"environments": ["paper-1"], "policies": ["MOSS"], "runs": 600, "seed": 1}


def shards(**change: object) -> set[str]:
    return {shard.name for shard in make_plan(lr.Experiment(**{**BASE, **change})).shards}


def test_blocks_cover_the_runs_once() -> None:
    (pair,) = make_plan(lr.Experiment(**BASE), shard_steps=1_000_000).pairs
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
    plan = make_plan(lr.Experiment(**{**BASE, "environments": twice}))
    assert len(plan.pairs) == 2
    assert len(plan.shards) == 3


def test_huge_results_are_cut_smaller() -> None:
    experiment = lr.Experiment(environments="bernoulli:0.5*20000", policies="MOSS", horizon=10, runs=200)
    assert max(shard.runs for shard in make_plan(experiment).shards) == 64


def test_arms_survive_as_plain_data() -> None:
    bandit = lr.paper(4) + lr.empirical([[1, 2], [3]]) + lr.beta(1, [2, 2]).scaled(-1, 1)
    again = ungroup(group(bandit))
    assert again.arms == bandit.arms
    assert not again.data.flags.writeable  # else the engine would be compiled a second time


def test_a_bandit_is_made_once_from_arms_that_arrive_again() -> None:
    arms = group(lr.empirical([[1.0, 2.0], [3.0]]))
    copy = pickle.loads(pickle.dumps(arms))
    assert ungroup(copy) is ungroup(arms)
    changed = dataclasses.replace(copy, groups=())
    assert hash(changed) == hash(arms)  # only the hash of the numbers is looked at, not the numbers
    assert len(group(lr.paper(1))) == 20


def test_the_engine_is_part_of_every_name(monkeypatch) -> None:
    base = shards()
    monkeypatch.setattr(plans, "ENGINE", "other")
    assert not base & shards()


def test_the_identity_follows_the_code_that_matters(monkeypatch, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "lowregret"
    shutil.copytree(Path(lr.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(identity, "PACKAGE", copy)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = engine_identity()
    assert before == plans.ENGINE
    rng = copy / "engine" / "rng.py"
    (copy / "policies" / "moss.py").write_text("")
    rng.write_text("# A comment.\n" + rng.read_text().replace('"""Draw', '"""Now draw'))
    assert engine_identity() == before
    rng.write_text(rng.read_text().replace("2.0**-53", "2.0**-52"))
    assert engine_identity() != before


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
        return [shard.name for shard in make_plan(experiment).shards]

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    first = named()
    (tmp_path / "mine_p.py").write_text("# A comment.\n" + own)
    assert named() == first
    (tmp_path / "tools_p.py").write_text("FACTOR = 3.0\ndef helper(x):\n    return x * FACTOR\n")
    assert named() != first
