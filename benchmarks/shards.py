"""What it costs to cut a run into shards and keep them, and what a second worker process gains.

    python benchmarks/shards.py [shards] [--rounds N]

1. Shards (100 if not given) written to disk, and the bare simulation of the same runs on as many threads.
2. 1,000 shards as large as those, but of so few steps that what is not simulation stands out; this disturbs
   less than the small difference of two large numbers.
3. 250 and 1,000 pairs of environment and policy with next to nothing to do in each.
4. ``local:1`` and ``local:2`` on paper-4, once the workers have compiled.
5. 200 shards on ``local:2``, with ten Bernoulli arms and with 20 MB of rewards.

What is compared is run in turn, and the processor's time is given beside that of the clock, since a busy
machine disturbs it less.
"""

import os
import tempfile
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import lowregret as lr
from lowregret.experiments.executors import dask_cluster
from lowregret.experiments.run import run

HORIZON = 100_000
RUNS = 128  # in a shard, which is how an experiment of this horizon is cut
SHORT = 200  # steps, as many as there are times of recording
MANY = 1_000
PAIRS = (250, 1_000)


class Taken(NamedTuple):
    """What an action took, in seconds of the processor and of the clock."""

    cpu: float
    wall: float


def taken(action: Callable[[], object]) -> Taken:
    cpu, wall = process_time(), perf_counter()
    action()
    return Taken(process_time() - cpu, perf_counter() - wall)


def kept(experiment: lr.Experiment, **options: int) -> Taken:
    """Run an experiment into a folder that is new."""
    with tempfile.TemporaryDirectory() as folder:
        return taken(lambda: run(experiment, folder, **options))


def overhead(shards: int, rounds: int) -> None:
    """Compare shards with the same runs in one piece."""
    ratios = []
    for bare, cut in _rounds(shards, HORIZON, rounds):
        times = (
            f"bare {bare.cpu:.2f} s of the processor ({bare.wall:.2f} s), cut {cut.cpu:.2f} ({cut.wall:.2f})"
        )
        print(f"  {times}", flush=True)
        ratios.append(Taken(cut.cpu / bare.cpu - 1, cut.wall / bare.wall - 1))
    for name in Taken._fields:
        every = [getattr(ratio, name) for ratio in ratios]
        spread = f"{min(every):.1%} to {max(every):.1%} in {rounds} rounds"
        print(f"{shards:,} shards add {median(every):.1%} to the bare simulation by {name} time ({spread})")


def short(rounds: int) -> None:
    """Say what a shard costs beyond its simulation, and which part of that this is."""
    extra = [1e3 * (cut.cpu - bare.cpu) / MANY for bare, cut in _rounds(MANY, SHORT, rounds)]
    simulation = [
        1e3 * taken(lambda: lr.simulate("EUCBV", "paper-1", HORIZON, runs=4 * RUNS)).cpu / 4
        for _ in range(rounds)
    ]
    part = f"{median(extra) / median(simulation):.1%} of the {median(simulation):.0f} ms of its simulation"
    print(f"a shard of {MANY:,} costs {median(extra):.1f} ms ({min(extra):.1f} to {max(extra):.1f}), {part}")


def _rounds(shards: int, horizon: int, rounds: int) -> Iterator[tuple[Taken, Taken]]:
    """Return the time of a bare simulation and of the same in shards, again and again."""
    runs = RUNS * shards
    experiment = lr.Experiment(environments="paper-1", policies="EUCBV", horizon=horizon, runs=runs)
    lr.simulate("EUCBV", "paper-1", runs=1)
    actions = {
        "bare": lambda: taken(lambda: lr.simulate("EUCBV", "paper-1", horizon, runs=runs)),
        "cut": lambda: kept(experiment, shard_steps=horizon * RUNS),
    }
    for number in range(rounds):
        order = ("bare", "cut") if number % 2 == 0 else ("cut", "bare")  # neither always comes second
        found = {name: actions[name]() for name in order}
        yield found["bare"], found["cut"]


def pairs(rounds: int) -> None:
    """Say what a pair costs by itself, and whether that grows with their number."""
    costs: dict[int, list[Taken]] = {number: [] for number in PAIRS}
    for _ in range(rounds):
        for number, found in costs.items():
            grid = {"p": [0.3 + 0.5 * i / number for i in range(number)]}
            entry = {"environment": "bernoulli:0.2,{p}", "grid": grid}
            tiny = lr.Experiment(environments=[entry], policies="MOSS", horizon=20, runs=2)
            found.append(kept(tiny))
    for number, found in costs.items():
        for name in Taken._fields:
            every = [1e3 * getattr(each, name) / number for each in found]
            spread = f"{min(every):.1f} to {max(every):.1f}"
            print(f"{number:,} pairs cost {median(every):.1f} ms each by {name} time ({spread})")


def speedup(rounds: int) -> None:
    """Say how much faster two worker processes are than one."""
    warm, experiment = (
        lr.Experiment(environments="paper-4", policies=["EUCBV", "MOSS"], runs=runs) for runs in (200, 600)
    )
    ratios = []
    for _ in range(rounds):
        times = []
        for place in ("local:1", "local:2"):  # one at a time, since workers that wait are not quite idle
            with dask_cluster(place) as executor:
                warm.run(executor=executor)  # compiles on every worker
                times.append(taken(lambda to=executor: experiment.run(executor=to)).wall)
        ratios.append(times[0] / times[1])
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    cores = os.cpu_count()
    print(f"local:2 is {median(ratios):.2f} times as fast as local:1 on paper-4 ({spread}), {cores} cores")


def rewards(rounds: int) -> None:
    """Say what a large table of rewards adds to shards that are sent to other processes."""
    table = [[(7 * i + arm) % 10 / 10 for i in range(250_000)] for arm in range(10)]
    bandits = {"ten Bernoulli arms": lr.bernoulli([0.45] * 10), "20 MB of rewards": lr.empirical(table)}
    with dask_cluster("local:2") as executor:
        for name, bandit in bandits.items():
            times = []
            for _ in range(rounds + 1):  # in the first one the workers compile and get the table
                experiment = lr.Experiment(environments=bandit, policies="MOSS", horizon=1_000, runs=51_200)
                times.append(taken(partial(run, experiment, executor=executor, shard_steps=256_000)).wall)
            spread = f"{min(times[1:]):.1f} to {max(times[1:]):.1f}"
            print(f"200 shards with {name} take {median(times[1:]):.1f} s on local:2 ({spread})")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shards", nargs="?", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    overhead(options.shards, options.rounds)
    short(options.rounds)
    pairs(options.rounds)
    speedup(options.rounds)
    rewards(options.rounds)
