"""Our time a step against other packages, on the paper's first testbed, on one thread, on this machine.

Each peer lives in an environment of its own under ``.venv-peers``, made here with the versions pinned in
``benchmarks/peers/<peer>.txt``, and is played by ``benchmarks/peers/with_<peer>.py``. Imports, compilation
and warm-up do not count. A peer that cannot be installed or run keeps its row, with the reason.

    python benchmarks/peers.py [--quick] [PEER ...]

``--quick`` plays 2,000 steps in place of 60,000.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from common import SEED, Claim, Report, Sheet, arguments, claim_sheet, in_turn, ours, say, show, shown, write

import lowregret as lr

HERE = Path(__file__).parent / "peers"
HOMES = Path(__file__).parents[1] / ".venv-peers"
TESTBED = lr.paper(1)
POLICIES = ("UCB1", "ThompsonBeta", "ThompsonGauss")
RUNS = 100
SECONDS = 1800
"""How long a peer may take."""


class Peer(NamedTuple):
    """A package, under its own name; how many runs it plays, and how much faster UCB1 must be here."""

    name: str
    runs: int
    times: float | None = None

    @property
    def key(self) -> str:
        """The name of its files."""
        return self.name.lower()

    @property
    def pins(self) -> str:
        """What is to be installed."""
        return (HERE / f"{self.key}.txt").read_text()

    @property
    def version(self) -> str:
        """Its own version among the pins."""
        lines = [line for line in self.pins.splitlines() if line.lower().startswith(f"{self.key}==")]
        return lines[0].partition("==")[2]


PEERS = (
    Peer("MABWiser", runs=1),
    Peer("SMPyBandits", runs=3, times=200.0),
    Peer("pymab", runs=3),
    Peer("river", runs=3, times=200.0),
    Peer("JAX", runs=100, times=1.0),
)
IN_SINGLE = 1 / 1.2
"""How much faster UCB1 must be than the quickest form of JAX, which is in single precision."""


class Unavailable(Exception):  # noqa: N818  # it is a finding, not an error
    """Why a peer could not be measured, in one line."""


def home(peer: Peer) -> Path:
    """Make the environment of a peer, unless it is there; give its interpreter."""
    folder = HOMES / peer.key
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists() or ready.read_text() != peer.pins:
        say(f"installing {peer.name} {peer.version}")
        call([sys.executable, "-m", "venv", "--clear", str(folder)], "venv")
        pins = str(HERE / f"{peer.key}.txt")
        call([str(python), "-m", "pip", "install", "--quiet", "--requirement", pins], "pip")
        ready.write_text(peer.pins)
    return python


def call(command: list[str], name: str) -> str:
    """Run a command; give what it printed, or fail with the last thing it complained about."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{name}: took more than {SECONDS} s") from None
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["no message"]
        raise Unavailable(f"{name}: {errors[-1]:.120}")
    return done.stdout


def play(peer: Peer, steps: int) -> list[dict[str, Any]]:
    """Let a peer play; give a record per policy, or one that says why there is none."""
    about = {"peer": peer.name, "version": peer.version}
    try:
        command = [str(home(peer)), str(HERE / f"with_{peer.key}.py"), str(steps), str(peer.runs)]
        say(f"playing {peer.name}")
        printed = call(command, "while playing")
    except Unavailable as reason:
        return [{**about, "reason": str(reason)}]
    return [{**about, **json.loads(line)} for line in printed.splitlines() if line.startswith("{")]


@cache
def our_play(policy: str, steps: int) -> tuple[float, float]:
    """Return our nanoseconds a step over as many steps, and our mean regret."""
    player = getattr(lr, policy)()
    result = lr.simulate(player, TESTBED, steps, RUNS, SEED, threads=1)
    times = in_turn([lambda: ours(player, TESTBED, steps, RUNS)], 10, budget=5.0)
    return min(times[0]), float(result.regret(player).mean())


def benchmark(quick: bool, names: Sequence[str] = ()) -> Report:
    """Measure all peers, or those that are named."""
    records, claims = [], []
    for peer in [each for each in PEERS if not names or each.name in names]:
        found = play(peer, 2_000 if quick else TESTBED.horizon)
        for record in found:
            if "policy" in record:
                time, regret = our_play(record["policy"], record["horizon"])
                record["ns"] = 1e9 * record["seconds"] / record["steps"]
                record |= {"ours": time, "our_regret": regret, "times": record["ns"] / time}
        records += found
        if peer.times:
            raced = [record for record in found if record.get("policy") == "UCB1"]
            for record in raced or [{"times": None}]:
                form = f", {record['form']}" if record.get("form") else ""
                text = f"UCB1 on paper-1: times faster than {peer.name}{form}"
                limit = IN_SINGLE if record.get("form") == "by hand" else peer.times
                claims.append(Claim(text, record["times"], limit, True))
    return Report([_sheet(records)], claims, records)


def _sheet(records: list[dict[str, Any]]) -> Sheet:
    columns = ("policy", "peer", "ns a step", "ours", "times faster", "regret", "our regret", "steps timed")
    played = [record for record in records if "policy" in record]
    played.sort(key=lambda record: (POLICIES.index(record["policy"]), -record["ns"]))
    rows = []
    for record in played:
        form = f", {record['form']}" if record["form"] else ""
        numbers = [shown(record[name]) for name in ("ns", "ours", "times", "regret", "our_regret")]
        name = f"{record['peer']} {record['version']}{form}"
        rows.append((record["policy"], name, *numbers, f"{record['steps']:,}"))
    for record in records:
        if "reason" in record:
            rows.append(("-", f"{record['peer']} {record['version']}: {record['reason']}", *["-"] * 6))
    return Sheet("Nanoseconds a step on paper-1, one thread, peers and ours", columns, rows)


def main() -> None:
    options = arguments(__doc__.splitlines()[0], names="PEER")
    report = benchmark(options.quick, options.names)
    show([*report.sheets, claim_sheet(report.claims)])
    write("peers", report.numbers)


if __name__ == "__main__":
    main()
