"""What one ask and one tell cost: in memory against other packages, and on disk.

In memory: 100 Bernoulli arms, one thread; the time is that of the quickest block of 100 asks and tells. On
disk: an ask and a tell each wait until they are on the disk; throughput, and the median and the 99% quantile
of the latency of one call. At the start: the time from the start of the interpreter to the first decision on
SQLite, and the memory then.

    python benchmarks/live.py [--quick]
"""

import json
import statistics
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from random import Random
from time import perf_counter, thread_time

from common import Claim, Report, Sheet, arguments, claim_sheet, say, show, shown, write
from peers import HERE, PEERS, Unavailable, call, home

import lowregret as lr

K, BLOCK = 100, 100
ARMS = [f"arm {number}" for number in range(K)]
MEANS = [0.07] * (K - 1) + [0.10]
POLICIES = (lr.UCB1(), lr.EUCBV(), lr.MOSS(), lr.ThompsonBeta())
LIMIT = 20.0
"""Microseconds that an ask and a tell may cost."""
MOST_PERIOD = 2.0
"""How many times as long a tell with a period may take as one without."""
FIRST_DECISION = """
import sys, time, lowregret as lr
with lr.open_agent(sys.argv[1], lr.EUCBV(), ["a", "b", "c"], horizon=1_000, seed=1) as agent:
    agent.ask()
memory = open("/proc/self/status").read() if sys.platform == "linux" else "VmHWM: nan"  # else unknown
print(time.process_time(), 1.024e-3 * float(memory.partition("VmHWM:")[2].split()[0]))
"""
STARTS = 10
START_LIMIT = 0.3
"""Seconds from the start of the interpreter to the first decision."""


def in_memory(policy: lr.Policy, blocks: int) -> tuple[float, float]:
    """Return the microseconds of an ask and a tell in the quickest block, and in the mean."""
    agent = lr.Agent(policy, ARMS, horizon=100_000, seed=1).compile()
    random, means = Random(1).random, dict(zip(ARMS, MEANS, strict=True))
    times = []
    for _ in range(blocks):
        began = perf_counter()
        for _ in range(BLOCK):
            choice = agent.ask()
            agent.tell(choice, random() < means[choice.arm])
        times.append(perf_counter() - began)
    return 1e6 * min(times) / BLOCK, 1e6 * sum(times) / (BLOCK * blocks)


def tells_with_period(blocks: int) -> dict[str, float]:
    """Return the microseconds of the processor for a tell without and with a period, in the median block."""
    options = {"no period": {}, "period=500": {"period": 500}, "a day": {"period": timedelta(days=1)}}
    agents = {name: lr.Agent(lr.UCB1(), ARMS[:10], seed=1, **own).compile() for name, own in options.items()}
    random, times = Random(1).random, {name: [] for name in options}
    for _ in range(blocks):
        for name, agent in agents.items():
            rewards = [(choice, random() < 0.1) for choice in agent.ask(10 * BLOCK)]
            began = thread_time()
            for choice, reward in rewards:
                agent.tell(choice, reward)
            times[name].append((thread_time() - began) / (10 * BLOCK))
    return {name: 1e6 * statistics.median(own) for name, own in times.items()}


def plain(policy: lr.Policy, arms: int) -> float:
    """Return the microseconds of an ask and a tell without compiled code."""
    agent, times = lr.Agent(policy, ARMS[:arms], horizon=100_000, seed=1), []
    agent.tell_many((choice, 0.5) for choice in agent.ask(arms))  # the warm-up asks for no scores
    for _ in range(20):
        began = perf_counter()
        for _ in range(10):
            agent.tell(agent.ask(), 0.5)
        times.append(perf_counter() - began)
    return 1e6 * min(times) / 10


def durable(name: str, folder: Path, calls: int) -> dict[str, float]:
    """Return asks and tells a second, and quantiles of the microseconds of one call."""
    with lr.open_agent(folder / name, lr.EUCBV(), ARMS, horizon=100_000, seed=1) as agent:
        agent.compile()
        times = []
        for _ in range(calls // 2):
            began = perf_counter()
            choice = agent.ask()
            middle = perf_counter()
            agent.tell(choice, 1)
            times += [middle - began, perf_counter() - middle]
    times.sort()
    quantiles = {f"p{part}": 1e6 * times[int(len(times) * part / 100)] for part in (50, 99)}
    return {"store": Path(name).suffix, "calls": len(times), "a second": len(times) / sum(times), **quantiles}


def start(folder: Path) -> dict[str, float]:
    """Return the medians over new processes: seconds to the first decision, of the processor, and MB."""
    rows = []
    for number in range(STARTS):
        began = perf_counter()
        command = [sys.executable, "-c", FIRST_DECISION, folder / f"start-{number}.db"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows.append((perf_counter() - began, *map(float, printed.split())))
    return dict(
        zip(("seconds", "processor", "MB"), map(statistics.median, zip(*rows, strict=True)), strict=True)
    )


def peer_times(quick: bool) -> list[dict]:
    """Let river and MABWiser play the same, each in its own environment."""
    found = []
    for peer in PEERS:
        if peer.key not in ("river", "mabwiser"):
            continue
        steps = 300 if quick else 3_000
        try:
            script = str(HERE / f"with_{peer.key}.py")
            printed = call([str(home(peer)), script, str(steps), "3", str(K)], "while playing")
        except Unavailable as reason:
            found.append({"peer": peer.name, "reason": str(reason)})
            continue
        found += [{"peer": f"{peer.name} {peer.version}", **_read(line)} for line in printed.splitlines()]
    return found


def _read(line: str) -> dict:
    record = json.loads(line)
    return {"policy": record["policy"], "us": 1e6 * record["seconds"] / record["steps"]}


def benchmark(quick: bool) -> Report:
    """Measure all of it."""
    blocks = 100 if quick else 1_000
    memory, claims = [], []
    for policy in POLICIES:
        say(f"{policy} in memory")
        best, mean = in_memory(policy, blocks)
        memory.append(
            {
                "policy": str(policy),
                "us": best,
                "mean": mean,
                "plain 3": plain(policy, 3),
                "plain 100": plain(policy, K),
            }
        )
        claims.append(Claim(f"{policy}: microseconds for an ask and a tell, K = {K}", best, LIMIT))
    say("tells with a period")
    tells = tells_with_period(5 if quick else 50)
    slowest = max(tells.values()) / tells["no period"]
    claims.append(Claim("a tell with period takes so many times as long", slowest, MOST_PERIOD))
    say("peers")
    peers = peer_times(quick)
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:  # /tmp may be no disk
        say("on disk")
        stores = [durable("a.db", Path(folder), 400 if quick else 6_000)]
        say("starts")
        first = start(Path(folder))
    claims.append(Claim("seconds to the first decision of a new process", first["seconds"], START_LIMIT))
    sheets = [
        Sheet(
            f"Microseconds for an ask and a tell in memory, K = {K}",
            (
                "policy",
                "compiled, quickest",
                "compiled, mean",
                "plain Python, K = 3",
                "plain Python, K = 100",
            ),
            [
                (row["policy"], *(shown(row[key]) for key in ("us", "mean", "plain 3", "plain 100")))
                for row in memory
            ],
        ),
        Sheet(
            "Microseconds of the processor for a tell in memory, UCB1, K = 10, compiled",
            tuple(tells),
            [tuple(map(shown, tells.values()))],
        ),
        Sheet(
            f"The same of other packages, K = {K}",
            ("peer", "policy", "microseconds"),
            [(row["peer"], row.get("policy", row.get("reason", "")), shown(row.get("us"))) for row in peers],
        ),
        Sheet(
            f"On disk, each call durable, EUCBV, K = {K}",
            ("store", "calls", "calls a second", "median, microseconds", "99%, microseconds"),
            [
                (row["store"], f"{row['calls']:,}", *(shown(row[key]) for key in ("a second", "p50", "p99")))
                for row in stores
            ],
        ),
        Sheet(
            f"The first decision on SQLite, EUCBV, K = 3: medians of {STARTS} new processes",
            ("seconds", "seconds of the processor", "MB"),
            [tuple(map(shown, first.values()))],
        ),
    ]
    return Report(
        sheets, claims, {"memory": memory, "tells": tells, "peers": peers, "disk": stores, "start": first}
    )


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = benchmark(options.quick)
    show([*report.sheets, claim_sheet(report.claims)])
    write("live", report.numbers)


if __name__ == "__main__":
    main()
