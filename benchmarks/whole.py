"""What a user waits for: the whole paper on all cores, compilation, threads, progress, memory.

The paper is simulated in a process of its own, with a compile cache that begins empty: once with one run of
each policy (cold), once more (warm), and then with all runs. What a cold cache adds is the difference of the
first two; all times are of the whole process, imports included.

    python benchmarks/whole.py [--quick]
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from common import SEED, Claim, Report, Sheet, arguments, claim_sheet, in_turn, say, show, shown, write

import lowregret as lr
from lowregret.cli.progress import progress_bar
from lowregret.reproductions.sheet import read_sheet

PAPERS_RUNS = 100
MANY_RUNS = 10_000


def curves() -> dict[str, list[str]]:
    """Return the policies that the text names for the published curves, by figure."""
    sheet, policies = read_sheet(), {}
    for place, _, policy, _ in dict.fromkeys(point.curve for point in sheet.published):
        policies.setdefault(place, []).append(sheet.names[policy])
    return policies


def play_paper(runs: int) -> None:
    """Play all policies of the paper's figures on its four testbeds; runs in a process of its own."""
    for place, policies in curves().items():
        lr.simulate(policies, lr.paper(int(place.removeprefix("Figure "))), runs=runs, seed=SEED)


def play_many(runs: int, horizon: int) -> None:
    """Simulate many runs of EUCBV and print the most memory the process ever held, in megabytes."""
    lr.simulate(lr.EUCBV(), lr.paper(4), horizon, runs, SEED)
    status = Path("/proc/self/status")
    if status.exists():  # getrusage on Linux also counts what the parent held when it started this process
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        print(int(lines["VmHWM"].split()[0]) * 1024 / 1e6)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def apart(call: str, cache: Path | None = None) -> tuple[float, str]:
    """Call a function of this file in a new process; give its seconds and what it printed."""
    environment = {**os.environ, **({"XDG_CACHE_HOME": str(cache)} if cache else {})}
    code = f"import whole; whole.{call}"
    began = perf_counter()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=Path(__file__).parent,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return perf_counter() - began, done.stdout


def paper(quick: bool) -> tuple[list[Claim], dict[str, Any]]:
    """Time the whole paper, and what a cold compile cache adds to it."""
    runs = 2 if quick else PAPERS_RUNS
    with TemporaryDirectory() as folder:
        cold, _ = apart("play_paper(1)", Path(folder))
        moved = any(Path(folder).iterdir())  # not every system looks for its cache there
        warm, _ = apart("play_paper(1)", Path(folder))
        whole, _ = apart(f"play_paper({runs})", Path(folder))
    policies = sum(map(len, curves().values()))
    claims = [
        Claim(f"seconds for the whole paper, {policies} curves of {runs} runs on all cores", whole, 120.0),
        Claim("seconds that a cold compile cache adds", cold - warm if moved else None, 90.0),
    ]
    return claims, {"runs": runs, "curves": policies, "seconds": whole, "cold": cold, "warm": warm}


def play_alone(policy: lr.Policy, runs: int, count: int = 1) -> float:
    """Simulate on paper-4; give the seconds."""
    return lr.simulate(policy, lr.paper(4), runs=runs, seed=SEED, threads=count)[policy].seconds


def threads(quick: bool) -> tuple[list[Claim], dict[str, Any]]:
    """Time two threads against one, and two processes, which share nothing, against one."""
    claims, numbers = [], {}
    runs = 8 if quick else 40
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for policy in (lr.EUCBV(), lr.UCB1()):
            play = partial(play_alone, policy)

            def in_processes(play: Callable[[int], float] = play) -> float:
                return max(pool.map(play, [runs, runs]))

            in_processes()  # compiles, which does not count
            play(1)
            measures = [partial(play, runs), partial(play, runs, 2), in_processes]
            one, two, both = in_turn(measures, 2 if quick else 10, budget=60.0, least=2)
            numbers[str(policy)] = {"one": one, "two": two, "two processes": both}
            several = (os.cpu_count() or 1) > 1
            text = f"{policy} on paper-4: times faster with two threads than with one"
            claims.append(Claim(text, min(one) / min(two) if several else None, 1.8, at_least=True))
    return claims, numbers


class Terminal(StringIO):
    """A place for the progress bar to draw on as if it were a terminal."""

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


def progress(quick: bool) -> tuple[list[Claim], dict[str, Any]]:
    """Time a simulation with and without the progress bar that the command line draws."""
    policy, bandit, runs = lr.EUCBV(), lr.paper(4), 20 if quick else 200
    lr.simulate(policy, bandit, runs=1)

    def seconds(report: Any = False) -> float:
        return lr.simulate(policy, bandit, runs=runs, seed=SEED, progress=report)[policy].seconds

    def drawn() -> float:
        with redirect_stderr(Terminal()) as terminal, progress_bar() as report:
            taken = seconds(report)
        assert "EUCBV" in terminal.getvalue(), "the progress bar was not drawn"
        return taken

    quiet, shown_too = in_turn([seconds, drawn], 3 if quick else 20, budget=90.0)
    percent = 100.0 * (min(shown_too) / min(quiet) - 1.0)
    return [Claim("percent of time that progress costs", percent, 1.0)], {"without": quiet, "with": shown_too}


def memory(quick: bool) -> tuple[list[Claim], dict[str, Any]]:
    """Measure the most memory of many runs; it does not depend on the horizon."""
    horizon = 4_000 if quick else lr.paper(4).horizon
    seconds, printed = apart(f"play_many({MANY_RUNS}, {horizon})")
    megabytes = float(printed)
    text = f"megabytes of memory for {MANY_RUNS:,} runs of EUCBV on paper-4, T = {horizon:,}"
    return [Claim(text, megabytes, 1000.0)], {"megabytes": megabytes, "seconds": seconds}


def benchmark(quick: bool) -> Report:
    """Measure all of it."""
    claims: list[Claim] = []
    numbers: dict[str, Any] = {"cores": os.cpu_count()}
    for part in (paper, threads, progress, memory):
        say(f"measuring {part.__name__}")
        found, numbers[part.__name__] = part(quick)
        claims += found
    whole, many = numbers["paper"], numbers["memory"]
    rows = [
        ("the whole paper, one run of each, cold cache", shown(whole["cold"])),
        ("the same, warm cache", shown(whole["warm"])),
        (f"the whole paper, {whole['runs']} runs of each, warm cache", shown(whole["seconds"])),
        (f"{MANY_RUNS:,} runs of EUCBV on paper-4", shown(many["seconds"])),
    ]
    gains = [
        (
            policy,
            shown(min(found["one"]) / min(found["two"])),
            shown(2.0 * min(found["one"]) / min(found["two processes"])),
        )
        for policy, found in numbers["threads"].items()
    ]
    sheets = [
        Sheet(f"Seconds on {os.cpu_count()} cores", ("what", "seconds"), rows),
        Sheet(
            "Times faster on paper-4 than one thread",
            ("policy", "two threads", "two processes, which share nothing"),
            gains,
        ),
    ]
    return Report(sheets, claims, numbers)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = benchmark(options.quick)
    show([*report.sheets, claim_sheet(report.claims)])
    write("whole", report.numbers)


if __name__ == "__main__":
    main()
