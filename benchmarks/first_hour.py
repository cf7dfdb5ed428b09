"""The wait of a newcomer: ``make reproduce`` and ``make test`` in a fresh clone with empty caches.

Prints the wall-clock time and the processor time of every step. On a machine that others use the processor
time is the one to look at: on two quiet cores a step takes at least half of it.

    python benchmarks/first_hour.py [--runs 100] [--tests tests/theory]

``--runs 2 --tests tests/theory`` tries the script itself in some minutes.
"""

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="runs of the reproduction")
    parser.add_argument("--tests", default="", help="files or folders of tests; all of them unless told")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "lowregret"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        # Packages may come from the cache of pip, compiled code may not.
        cache = Path(folder) / "cache"
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        environment.pop("PYTHONPATH", None)
        reproduce = ["make", "reproduce", f"RUNS={options.runs}"]
        test = ["make", "test", f"TESTS={options.tests}"]
        steps = {
            "set up the package": ["make", ".venv/package"],
            "reproduce, nothing compiled": reproduce,
            "reproduce again, compiled": reproduce,
            "set up the tools": ["make", "setup"],
            "test, nothing compiled": test,
            "test again, compiled": test,
        }
        for name, command in steps.items():
            shutil.rmtree(clone / "reproduction", ignore_errors=True)
            if "nothing compiled" in name:
                shutil.rmtree(cache / "lowregret", ignore_errors=True)
            seconds, processor_seconds = timed(command, clone, environment)
            print(f"{name:28} {minutes(seconds)}, processor time {minutes(processor_seconds)}", flush=True)


def timed(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds that a command took, and those of the processor, its child processes included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    seconds, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{' '.join(command)} failed")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


if __name__ == "__main__":
    main()
