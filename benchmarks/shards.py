"""What it costs to cut a run into shards and keep them, and what a second worker process gains.

    python benchmarks/shards.py [shards] [--cpu]

The first ratio compares 1,000 shards (or as many as given), written to disk, with the bare simulation of the
same runs on as many threads; ``--cpu`` counts the processor's time, which a busy machine disturbs less. The
second compares ``local:1`` with ``local:2`` on paper-4, once the workers have compiled.
"""

import sys
import tempfile
import warnings
from statistics import median
from time import perf_counter, process_time

import lowregret as lr
from lowregret.experiments.cluster import cluster

HORIZON = 100_000
RUNS = 128  # in a shard, which is how an experiment of this horizon is cut


def seconds(action, clock=perf_counter) -> float:
    began = clock()
    action()
    return clock() - began


def overhead(clock, shards: int, repeats: int = 3) -> float:
    """Give the time of many shards over that of the same runs in one piece, less 1."""
    experiment = lr.Experiment(environments="paper-1", policies="EUCBV", horizon=HORIZON, runs=RUNS * shards)
    lr.simulate("EUCBV", "paper-1", runs=1)
    ratios = []
    for _ in range(repeats):
        bare = seconds(lambda: lr.simulate("EUCBV", "paper-1", HORIZON, runs=RUNS * shards), clock)
        with tempfile.TemporaryDirectory() as folder:
            cut = seconds(lambda out=folder: experiment.run(out), clock)
        print(f"  bare {bare:.2f} s, {shards:,} shards {cut:.2f} s")
        ratios.append(cut / bare)
    return median(ratios) - 1


def speedup(repeats: int = 3) -> float:
    """Give how much faster two worker processes are than one."""
    experiment = lr.Experiment(environments="paper-4", policies=["EUCBV", "MOSS"], runs=600)
    times = {}
    for workers in (1, 2):
        with cluster(f"local:{workers}") as executor:
            experiment.run(executor=executor)  # compiles on every worker
            times[workers] = min(
                seconds(lambda to=executor: experiment.run(executor=to)) for _ in range(repeats)
            )
        print(f"  local:{workers} {times[workers]:.2f} s")
    return times[1] / times[2]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    clock = process_time if "--cpu" in sys.argv else perf_counter
    shards = int(next(filter(str.isdigit, sys.argv[1:]), 1_000))
    print(f"{shards:,} shards add {overhead(clock, shards):.1%} to the bare simulation")
    print(f"local:2 is {speedup():.2f} times as fast as local:1 on paper-4")
