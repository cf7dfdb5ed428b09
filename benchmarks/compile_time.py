"""How long a policy of one's own takes to compile: new, and unchanged since it was last compiled.

Each time is that of a simulation of three short runs in a fresh process, imports included, once the engine
has been used on this machine. With ``--against FOLDER`` (the ``src`` of another version) both versions are
measured in turn.

    python benchmarks/compile_time.py [--quick] [--against FOLDER]
"""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from common import Claim, Report, Sheet, claim_sheet, say, show, shown, write

import lowregret as lr

SOURCE = str(Path(lr.__file__).parents[1])

SCRIPT = """
import sys, time
began = time.perf_counter()
import warnings
warnings.simplefilter("ignore")
import lowregret as lr
from math import log, sqrt
CONSTANT = float(sys.argv[1])
class Scanned(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + CONSTANT * sqrt(log(clock.t) / arm.pulls)
class Increasing(Scanned):
    moves = "rising"
    index_trend = "increasing"
class Constant(lr.Policy):
    moves = "still"
    index_trend = "constant"
    def score(self, arm, clock):
        return arm.mean + CONSTANT * sqrt(log(clock.horizon) / arm.pulls)
class Sampled(lr.Policy):
    def sample(self, arm, clock, rng):
        return arm.mean + CONSTANT * rng.normal() / arm.pulls
class Rounds(lr.EUCBV):
    def score(self, arm, clock, round):
        return arm.mean + CONSTANT * self.radius(arm, round)
policy = globals()[sys.argv[2]]()
lr.simulate(policy, lr.bernoulli([0.4, 0.6]), 500, runs=3, seed=1)
print(time.perf_counter() - began)
"""

POLICIES = ("Scanned", "Increasing", "Constant", "Sampled", "Rounds")
LIMITS = {"new": 3.0, "unchanged": 0.5}


def measure(script: Path, source: str, cache: str, constant: float, policy: str) -> float:
    """Time a fresh process in seconds."""
    environ = {**os.environ, "PYTHONPATH": source, "XDG_CACHE_HOME": cache}
    command = [sys.executable, str(script), str(constant), policy]
    return float(subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout)


def benchmark(quick: bool, against: str | None = None) -> Report:
    """Measure all policies, with one source or two in turn."""
    sources = {"here": SOURCE} | ({"there": against} if against else {})
    repeats = 1 if quick else 3
    best: dict[tuple[str, str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(SCRIPT, encoding="utf-8")
        for number, policy in enumerate(POLICIES):
            say(f"measuring {policy}")
            for name, source in sources.items():
                measure(script, source, str(Path(folder) / name), 0.5, policy)  # the engine is used once
            for repeat in range(repeats):
                for kind in LIMITS:
                    for name, source in sources.items():
                        constant = 1.0 + number + 0.01 * repeat  # the first process with it compiles anew
                        time = measure(script, source, str(Path(folder) / name), constant, policy)
                        key = policy, kind, name
                        best[key] = min(time, best.get(key, time))
    return _report(best, sources)


def _report(best: dict[tuple[str, str, str], float], sources: dict[str, str]) -> Report:
    rows, claims = [], []
    for policy in POLICIES:
        for kind, limit in LIMITS.items():
            times = [best[policy, kind, name] for name in sources]
            ratio = shown(times[0] / times[1]) if len(times) > 1 else "-"
            rows.append((policy, kind, *map(shown, times), ratio))
            claims.append(Claim(f"{policy}, {kind}: seconds in a fresh process", times[0], limit))
    columns = ("policy", "class", *sources, "ratio")
    sheet = Sheet("Seconds to compile and run a class in a fresh process, imports included", columns, rows)
    numbers = [
        dict(zip(("policy", "class", "source"), key, strict=True), seconds=time) for key, time in best.items()
    ]
    return Report([sheet], claims, numbers)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="measure little, to see that it works")
    parser.add_argument("--against", metavar="FOLDER", help="the src folder of another version")
    options = parser.parse_args()
    report = benchmark(options.quick, options.against)
    show([*report.sheets, claim_sheet(report.claims)])
    write("compile_time", report.numbers)


if __name__ == "__main__":
    main()
