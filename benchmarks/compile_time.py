"""How long a policy of one's own takes to compile: new, and unchanged since it was last compiled.

Each time is the processor time of a simulation of three short runs in a fresh process, without imports, once
the engine has been used in this way on this machine. There is a row for each claim that a class may make.
With ``--against FOLDER`` (the ``src`` of another version) both versions are measured in turn.

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
import sys, time, warnings
warnings.simplefilter("ignore")
import lowregret as lr
from math import log, sqrt
from typing import NamedTuple
CONSTANT = float(sys.argv[1])
class Sum(NamedTuple):
    total: float = 0.0
class Scanned(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + CONSTANT * sqrt(log(clock.t) / arm.pulls)
class Increasing(Scanned):
    index_trend = "increasing"
class Best(lr.Policy):
    index_trend = "increasing"
    uses_best = True
    def score(self, arm, clock):
        return arm.mean - CONSTANT * clock.best + sqrt(log(clock.t) / arm.pulls)
class Mean(lr.Policy):
    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    def score(self, arm, clock):
        return arm.mean + CONSTANT * sqrt(log(clock.t) / arm.pulls)
class Variance(lr.Policy):
    index_trend = "increasing"
    index_depends_on = ("pulls", "mean", "variance")
    def score(self, arm, clock):
        return arm.mean + CONSTANT * sqrt((arm.variance + 0.1) * log(clock.t) / arm.pulls)
class Separable(lr.Policy):
    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    separable_width = True
    def score(self, arm, clock):
        return arm.mean + CONSTANT * sqrt(log(clock.t) / arm.pulls)
class Constant(lr.Policy):
    index_trend = "constant"
    def score(self, arm, clock):
        return arm.mean + CONSTANT * sqrt(log(clock.horizon) / arm.pulls)
class Rounds(lr.EUCBV):
    def score(self, arm, clock, round):
        return arm.mean + CONSTANT * self.radius(arm, round)
class Sampled(lr.Policy):
    def sample(self, arm, clock, rng):
        return arm.mean + CONSTANT * rng.normal() / arm.pulls
class Normal(lr.Policy):
    def normal_posterior(self, arm):
        return arm.mean, CONSTANT / sqrt(arm.pulls + 1.0)
class Beta(lr.Policy):
    def beta_posterior(self, arm):
        return CONSTANT + arm.mean * arm.pulls, CONSTANT + (1.0 - arm.mean) * arm.pulls
class Lists(lr.Policy):
    def list_index(self, arm, clock):
        return CONSTANT * log(clock.t) - arm.pulls
class Duels(lr.Policy):
    def duel(self, one, other, clock, rng):
        return CONSTANT * one.mean > other.mean
class Rewards(lr.Policy):
    uses_rewards = True
    def score(self, arm, clock):
        return CONSTANT * arm.rewards[-1] + 1.0 / arm.pulls
class Remembers(lr.Policy):
    Memory = Sum
    def score(self, arm, clock):
        return CONSTANT * arm.memory.total / arm.pulls
    def update_memory(self, arm, reward, clock):
        return Sum(arm.memory.total + reward)
policy, arms = globals()[sys.argv[2]](), int(sys.argv[3])
settings = {"delay": 5} if sys.argv[4] == "delayed" else {}
began = time.process_time()
lr.simulate(policy, lr.bernoulli([0.4, 0.6] * (arms // 2)), 500, runs=3, seed=1, **settings)
print(time.process_time() - began)
"""

CLASSES = {
    "a score, no claim": ("Scanned", 2),
    'index_trend = "increasing"': ("Increasing", 2),
    "uses_best": ("Best", 2),
    "index_depends_on, up to 32 arms": ("Mean", 2),
    "index_depends_on, more arms": ("Mean", 40),
    "index_depends_on with the variance, more arms": ("Variance", 40),
    "separable_width, up to 250 arms": ("Separable", 2),
    "separable_width, more arms": ("Separable", 300),
    'index_trend = "constant"': ("Constant", 2),
    "rounds and lower bounds": ("Rounds", 2),
    "sample": ("Sampled", 2),
    "normal_posterior": ("Normal", 2),
    "beta_posterior": ("Beta", 2),
    "list_index": ("Lists", 2),
    "duel": ("Duels", 2),
    "uses_rewards": ("Rewards", 2),
    "Memory": ("Remembers", 2),
    "a score, delayed rewards": ("Scanned", 2),
}
LIMITS = {"new": 5.0, "unchanged": 0.5}


def measure(script: Path, source: str, cache: str, constant: float, title: str) -> float:
    """Return the seconds of processor time of a simulation in a fresh process."""
    environ = {**os.environ, "PYTHONPATH": source, "XDG_CACHE_HOME": cache}
    name, arms = CLASSES[title]
    delayed = "delayed" if "delayed" in title else "at once"
    command = [sys.executable, str(script), str(constant), name, str(arms), delayed]
    return float(subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout)


def benchmark(quick: bool, against: str | None = None) -> Report:
    """Measure all policies, with one source or two in turn."""
    sources = {"here": SOURCE} | ({"there": against} if against else {})
    repeats = 1 if quick else 3
    best: dict[tuple[str, str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(SCRIPT, encoding="utf-8")
        for number, policy in enumerate(CLASSES):
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
    for policy in CLASSES:
        for kind, limit in LIMITS.items():
            times = [best[policy, kind, name] for name in sources]
            ratio = shown(times[0] / times[1]) if len(times) > 1 else "-"
            rows.append((policy, kind, *map(shown, times), ratio))
            claims.append(Claim(f"{policy}, {kind}: seconds of processor time", times[0], limit))
    columns = ("policy", "class", *sources, "ratio")
    sheet = Sheet(
        "Seconds of processor time of the first simulation with a class in a process", columns, rows
    )
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
