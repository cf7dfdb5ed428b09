"""Compare this version with another: nanoseconds a step, and microseconds an ask and a tell.

Both versions run in processes of their own and are measured in turn; a row has the least processor time of
each, since other programs on the machine add to the time on the clock. The other version is the ``src``
folder of a clone, which must have the same public names.

    python benchmarks/versus.py FOLDER [POLICY ...]
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SIMULATED = (
    ("EUCBV", "paper-1", 60_000, 40),
    ("EUCBV", "paper-4", 400_000, 10),
    ("MOSS", "paper-1", 60_000, 40),
    ("MOSSV", "paper-1", 60_000, 30),
    ("UCB1", "paper-1", 60_000, 15),
    ("UCBTuned", "paper-1", 60_000, 15),
    ("UCBV", "paper-1", 60_000, 15),
    ("OCUCB", "paper-1", 60_000, 15),
    ("KLUCB", "paper-1", 60_000, 2),
    ("IMED", "paper-1", 60_000, 6),
    ("DMED", "paper-1", 60_000, 10),
    ("ThompsonBeta", "paper-1", 60_000, 2),
    ("ThompsonGauss", "paper-1", 60_000, 5),
    ("ThompsonNormal", "paper-1", 60_000, 1),
    ("EpsilonGreedy", "paper-1", 60_000, 8),
    ("CCB", "paper-1", 60_000, 40),
    ("UCBImproved", "paper-1", 60_000, 80),
    ("BayesUCBBeta", "paper-1", 3_000, 6),
)
"""Policy, testbed, horizon and number of runs, so many that the rest of a call does not count."""
LIVE = ("UCB1", "EUCBV", "MOSS", "ThompsonBeta", "EpsilonGreedy", "DMED")
ARMS = 100
REPEATS = 7

PROGRAM = """
import json, sys, time, warnings
import lowregret as lr
from lowregret.policies import POLICIES
warnings.simplefilter("ignore")
agents = {}

def simulated(name, testbed, horizon, runs):
    began = time.process_time()
    lr.simulate(name, testbed, horizon, runs=runs, seed=1, grid=10, threads=1, progress=False)
    return 1e9 * (time.process_time() - began) / (horizon * runs)

def live(name, arms):
    if name not in agents:
        agents[name] = lr.Agent(POLICIES[name](), [str(n) for n in range(arms)], horizon=10**6, seed=1)
        agents[name].compile()
        agents[name].tell_many([(choice, 0.5) for choice in agents[name].ask(arms)])
    agent, best = agents[name], 1e9
    for _ in range(8):
        began = time.process_time()
        for n in range(400):
            agent.tell(agent.ask(), n % 2)
        best = min(best, (time.process_time() - began) / 400)
    return 1e6 * best

for line in sys.stdin:
    kind, *arguments = json.loads(line)
    print({"simulated": simulated, "live": live}[kind](*arguments), flush=True)
"""


def start(folder: str) -> subprocess.Popen[str]:
    """Start a process with the sources of one version, and a compile cache of its own."""
    cache = f"/tmp/lowregret-versus/{folder.strip('/').replace('/', '-')}"
    environment = {**os.environ, "PYTHONPATH": folder, "XDG_CACHE_HOME": cache}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, **pipes)


def measure(process: subprocess.Popen[str], case: tuple) -> float:
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(case) + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main() -> None:
    folder, *wanted = sys.argv[1:]
    versions = start(str(Path(folder).resolve())), start(str(Path(__file__).resolve().parents[1] / "src"))
    cases = [("simulated", *case) for case in SIMULATED] + [("live", name, ARMS) for name in LIVE]
    print(f"{'':10} {'policy':15} {'':8} {'other':>8} {'this':>8} ratio")
    for kind, name, *rest in cases:
        if wanted and name not in wanted:
            continue
        times = [[measure(version, (kind, name, *rest)) for version in versions] for _ in range(REPEATS)]
        other, this = (min(column) for column in zip(*times, strict=True))
        where = rest[0] if kind == "simulated" else f"K = {rest[0]}"
        print(f"{kind:10} {name:15} {where:8} {other:8.1f} {this:8.1f} {this / other:.3f}", flush=True)


if __name__ == "__main__":
    main()
