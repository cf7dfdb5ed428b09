"""How many decisions a second a service makes for many clients at once, with and without group commit.

One worker and the load generator share the machine. Each client has one connection and sends its next call
when the last is answered; every call is durable before it is answered. "ask" makes single decisions, each
with a request; "ask and tell" also reports the reward of each in a call of its own. EUCBV, 10 arms.

    python benchmarks/service.py [--quick] [--store URL]
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import NamedTuple
from urllib.request import Request, urlopen

from common import Claim, Report, Sheet, claim_sheet, say, show, shown, write

CLIENTS = 64
ARMS = [f"arm {number}" for number in range(10)]
START = """
import sys
from lowregret.service.app_options import Options
from lowregret.service.serve import serve
if __name__ == "__main__":
    options = Options(sys.argv[1], most_together=int(sys.argv[2]))
    serve(options, port=0, announce=lambda url: print(url, flush=True))
"""


class Load(NamedTuple):
    """What was measured."""

    decisions: int
    seconds: float
    latencies: list[float]

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
        answer = await link.post(
            "/v1/agents/load/ask", b'{"request": "%d %d %d"}' % (number, made, os.getpid())
        )
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
    began = perf_counter()
    made = await asyncio.gather(
        *(client(port, number, began + seconds, tells, latencies) for number in range(clients))
    )
    return Load(sum(made), perf_counter() - began, latencies)


@contextmanager
def served(store: str, most_together: int) -> Iterator[int]:
    """Start a service; yield its port."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, store, str(most_together)], stdout=subprocess.PIPE, text=True
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


def resident(port: int) -> float:
    """Return the memory of the process that listens on a port, in MB."""
    found = subprocess.run(["ss", "-ltnpH", f"sport = :{port}"], capture_output=True, text=True).stdout
    pids = [part.split(",")[0] for part in found.split("pid=")[1:]]
    sizes = [
        int(line.split()[1])
        for pid in pids
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    ]
    return max(sizes) / 1024


def measure(store: str, most_together: int, seconds: float, tells: bool, clients: int = CLIENTS) -> dict:
    """Measure one variant."""
    with served(store, most_together) as port:
        create(port)
        asyncio.run(loaded(port, clients, min(3.0, seconds), tells))  # until it is compiled
        load, memory = asyncio.run(loaded(port, clients, seconds, tells)), resident(port)
    found = {f"p{part:g}": load.quantile(part / 100) for part in (50, 99, 99.9)}
    return {
        "calls": "ask and tell" if tells else "ask",
        "clients": clients,
        "together": most_together,
        "rate": load.decisions / load.seconds,
        **found,
        "MB": memory,
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


def benchmark(quick: bool, store: str | None = None) -> Report:
    """Measure all variants."""
    seconds, rows = 2.0 if quick else 10.0, []
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:  # /tmp may be no disk
        for number, (tells, most, clients) in enumerate(
            [
                (False, 256, CLIENTS),
                (False, 1, CLIENTS),
                (True, 256, CLIENTS),
                (True, 1, CLIENTS),
                (False, 256, 1),
                (False, 1, 1),
            ]
        ):
            say(f"{clients} clients, {'ask and tell' if tells else 'ask'}, {most} together")
            rows.append(measure(store or f"{folder}/{number}.db", most, seconds, tells, clients))
        decisions = 20_000 if quick else 1_000_000
        say(f"memory over {decisions:,} decisions")
        grown = memory(f"{folder}/memory.db", decisions)
    best = rows[0]
    claims = [
        Claim("decisions a second, 64 clients", best["rate"], 1_500, at_least=True),
        Claim("99% of the calls, milliseconds", best["p99"], 100),
        Claim("ratio to one transaction per call", best["rate"] / rows[1]["rate"], 2.5, at_least=True),
        Claim("one client: median against one transaction per call", rows[4]["p50"] / rows[5]["p50"], 1.1),
        Claim("memory at the end against a tenth of the decisions", grown["last"] / grown["first"], 1.1),
    ]
    columns = ("calls", "clients", "most together", "decisions a second", "50%, ms", "99%", "99.9%", "MB")
    keys = ("rate", "p50", "p99", "p99.9", "MB")
    cells = [
        (row["calls"], str(row["clients"]), str(row["together"]), *(shown(row[key]) for key in keys))
        for row in rows
    ]
    return Report([Sheet("A service on one worker", columns, cells)], claims, [*rows, grown])


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="measure little, to see that it works")
    parser.add_argument("--store", help="a URL in place of an SQLite file")
    options = parser.parse_args()
    report = benchmark(options.quick, options.store)
    show([*report.sheets, claim_sheet(report.claims)])
    write("service", report.numbers)


if __name__ == "__main__":
    main()
