"""The first call after an install: README's four policies where nothing is compiled, and once all is.

Fresh processes with empty caches take turns: one compiles all classes itself, the other lets processes beside
it compile. On a busy machine the ratio of the waiting times says little; so the seconds of the processor are
printed too, of the process itself and of those beside it.

    python benchmarks/first_call.py [REPEATS]
"""

import os
import subprocess
import sys
import tempfile
from json import loads
from statistics import median

PROGRAM = """
import json, resource, time
began = time.perf_counter()
import lowregret as lr
policies = [lr.UCB1(), lr.EUCBV(), lr.MOSS(), lr.MOSSV()]
lr.simulate(policies, lr.bernoulli([0.07] * 19 + [0.10]), horizon=2_000, runs=4, seed=1, progress=False)
beside = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.perf_counter() - began, time.process_time(), beside.ru_utime + beside.ru_stime]))
"""


def first_call(cache: str, processes: str) -> list[float]:
    """Return the seconds of a call, those of the processor here, and those of the processes beside it."""
    environ = {**os.environ, "XDG_CACHE_HOME": cache, "LOWREGRET_COMPILE_PROCESSES": processes}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environ, capture_output=True, check=True)
    return list(loads(done.stdout))


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    beside = str((os.cpu_count() or 2) - 1)
    times: dict[str, list[list[float]]] = {"alone": [], "side by side": [], "compiled before": []}
    for _ in range(repeats):
        for name, processes in (("alone", "0"), ("side by side", beside)):
            with tempfile.TemporaryDirectory() as cache:
                times[name].append(first_call(cache, processes))
                if name == "alone":
                    times["compiled before"].append(first_call(cache, processes))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, medians of {repeats}: seconds,")
    print("of the processor here, and of the processor in processes beside it")
    for name, rows in times.items():
        print(f"{name:16}", *(f"{median(column):6.2f}" for column in zip(*rows, strict=True)))
    pairs = zip(times["side by side"], times["alone"], strict=True)
    print(f"side by side / alone: {median(one[0] / other[0] for one, other in pairs):.2f}")


if __name__ == "__main__":
    main()
