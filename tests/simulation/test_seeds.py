"""Simulated histories break no promise; the simulation is deterministic, and notices nine mistakes."""

import os

import pytest

from simulation.__main__ import describe, shrink, simulate
from simulation.mutations import MUTATIONS, mutated
from simulation.workload import plan_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks, and copies of files that are open")

BLOCK, SEEDS, ALL_SEEDS = 50, 300, 20_000
HEAVY_BLOCK = 985
FAILED = {
    25: "an older version called a snapshot of a newer one damaged",
    31: "copying beside a compaction raised CompactedError",
    55: "a process remembered a request that another one had erased",
    151: "an agent that was opened before the first event overlooked that all were dropped",
    166: "a process that was opened before the decisions of others believed a first reading that was ahead",
    212: "forget_where discarded decisions that had been answered meanwhile",
    239: "one reading of a clock that was ahead ended windows",
    359: "copying beside a compaction took a snapshot later than the log",
    402: "ask returned decisions of two calls with one request",
    542: "a reward of a withdrawn decision was a conflict where the log had been replayed",
    654: "copying beside forget_where advised to restore the store",
}
"""Seeds that broke a promise, and why. A change of the workload makes other histories of them."""
NOTICES = {
    "an interrupted call leaves its changes": (2, 3),
    "a group that failed is not loaded again": (27, 34, 97),
    "events of others are not applied": (0, 4),
    "who came first is overlooked": (4, 8, 12),
    "an early reward may be told again": (9, 7, 11),
    "a request is not looked up in the store": (2, 0),
    "a clock that was ahead stops the windows": (55, 94, 109),
    "a snapshot lacks the events of its call": (2, 0),
    "a call of a group is not undone": (27, 212, 223),
}
"""Seeds of which one must notice each mistake."""


def check(seed):
    violation, _ = simulate(plan_of(seed))
    if violation is not None:
        command = f".venv/bin/python -m tests.simulation --seed {seed}"
        pytest.fail(f"{violation}\nReplay it: {command}", pytrace=False)


@pytest.mark.parametrize("first", range(0, SEEDS, BLOCK))
def test_no_promise_is_broken(first):
    for seed in range(first, first + BLOCK):
        check(seed)


@pytest.mark.heavy
@pytest.mark.parametrize("first", range(SEEDS, ALL_SEEDS, HEAVY_BLOCK))
def test_no_promise_is_broken_by_many_seeds(first):
    for seed in range(first, min(first + HEAVY_BLOCK, ALL_SEEDS)):
        check(seed)


@pytest.mark.parametrize("seed", FAILED)
def test_seeds_that_failed(seed):
    check(seed)


def history(seed):
    violation, simulation = simulate(plan_of(seed))
    world = simulation.world
    commits = [(commit.steps, commit.readings) for commit in world.commits]
    calls = [(call.arguments, call.outcome) for call in world.calls]
    return repr((violation, calls, commits, world.time)).replace(str(world.folder), "")


def test_a_seed_determines_a_history():
    """One of them has forks."""
    forking = next(seed for seed in range(200) if any(op.kind == "fork" for op in plan_of(seed).operations))
    for seed in (0, 1, 2, forking):
        assert history(seed) == history(seed)


def notices(mutation, seed):
    return simulate(plan_of(seed), mutated(mutation))[0] is not None


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mistakes_are_noticed(mutation):
    assert any(notices(mutation, seed) for seed in NOTICES[mutation])


@pytest.mark.heavy
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mistakes_are_noticed_by_the_usual_seeds(mutation):
    assert any(notices(mutation, seed) for seed in range(SEEDS))


def test_a_seed_that_fails_is_made_smaller(capsys):
    mutation = "events of others are not applied"
    with mutated(mutation):
        plan = plan_of(NOTICES[mutation][0])
        violation, _ = simulate(plan)
        small = shrink(plan, violation.rule)
        again, simulation = simulate(small)
    assert again.rule == violation.rule
    assert len(small.operations) < 6
    describe(small, simulation, again)
    assert violation.rule in capsys.readouterr().out
