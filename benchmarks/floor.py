"""Our time a step against the floor: one draw, one update and one score of the same policy, no more.

For a policy that samples, the floor is one draw, one update and a sample of every arm. Floor and simulator
are measured in turn, many times, on one thread, in one process; a row gives the least time of each, the ratio
of the two, and the ratio of the medians (which a busy machine disturbs less evenly). Beside them stands the
same policy played by our own rescan, which scores every arm at every step.

    python benchmarks/floor.py [--quick] [POLICY ...]
"""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from common import SEED, Claim, Report, Sheet, arguments, in_turn, ours, samples, say, show, shown, write, yes

import lowregret as lr
from lowregret.engine.bridge.compiler import entry
from lowregret.engine.kernels.rewards import draw, reward_source
from lowregret.engine.kernels.rng import policy_rng
from lowregret.engine.kernels.state import ArmTable, first_round, rows_of
from lowregret.engine.kernels.statistics import add_reward, arm_from_sums, read_sums, write_sums
from lowregret.policies.views import arm_view, clock_at

LIMITS = (
    (2.5, (1, 4), ("EUCBV", "MOSS")),
    (8.0, (1, 4), ("UCB1", "UCBTuned", "UCBV", "OCUCB", "KLUCBGauss", "BayesUCBGauss")),
    (8.0, (1,), ("KLUCB", "KLUCBPlus", "IMED", "DMED")),
    (0.6, (1,), ("ThompsonBeta",)),
    (1.2, (1, 4), ("ThompsonGauss",)),
)
"""How many times the floor a step may cost, on which of the paper's testbeds, for which policies."""

RUNS = 4
SAMPLES = 2_000_000
"""How many samples the floor of a sampling policy draws in one measurement."""


class Row(NamedTuple):
    """One policy on one testbed; times are nanoseconds a step."""

    policy: str
    testbed: str
    floor: float
    ours: float
    ratio: float
    ratio_of_medians: float
    limit: float
    rescan: float | None


def scoring(policy, round, rng, rows, best, horizon):
    """Return every arm its share of the pulls, scored after each at the time at which equal play would be.

    One arm after the other, so that its statistics stay in the processor's registers.
    """
    size = len(rows)
    scores = 0.0
    for i in range(size):
        source, sums = reward_source(rows[i]), read_sums(rows[i])
        for n in range(1, horizon // size + 1):
            sums = add_reward(sums, draw(source, n))
            arm = arm_from_sums(policy, ArmTable(rows, None, None), i, sums)
            clock = clock_at(n * size, horizon, size, max(best, arm.mean))
            scores += policy.arm_index(arm, clock, round, rng)
    return scores


def sampling(policy, round, rng, rows, steps, horizon):
    """Sample every arm at every step, and pull the arms in turn: K samples, one draw, one update."""
    size = len(rows)
    tops, i = 0.0, 0
    for t in range(1, steps + 1):
        clock = clock_at(t, horizon, size, 0.0)
        top = -np.inf
        for k in range(size):
            top = max(
                top, policy.arm_index(arm_view(policy, ArmTable(rows, None, None), k), clock, round, rng)
            )
        tops += top
        row = rows[i]
        sums = add_reward(read_sums(row), draw(reward_source(row), row["pulls"] + 1))
        write_sums(row, sums, arm_from_sums(policy, ArmTable(rows, None, None), i, sums).mean)
        i = i + 1 if i + 1 < size else 0
    return tops


def floor_of(policy: lr.Policy, bandit: lr.Bandit) -> Callable[[], float]:
    """Compile the floor of a policy; give a function that measures it in nanoseconds a step."""
    horizon, size = bandit.horizon, len(bandit)
    round = first_round(policy, size, horizon)
    rows = rows_of(bandit)
    rows["key"] = np.random.default_rng(SEED).integers(2**63, size=size, dtype=np.uint64)
    drawn = samples(policy)
    steps = min(horizon, SAMPLES // size) if drawn else horizon
    amount = steps if drawn else float(bandit.means.max())

    def measure() -> float:
        arguments = round, policy_rng(SEED, 0), rows.copy(), amount, horizon
        loop = entry(sampling if drawn else scoring, policy, *arguments)
        began = perf_counter()
        loop(policy, *arguments)
        return 1e9 * (perf_counter() - began) / steps

    measure()
    return measure


def no_slope(self, arm, clock):
    """Return that the list index has no bound."""
    return np.inf


def rescan_of(policy: lr.Policy) -> lr.Policy:
    """Return the same policy with no promise about its scores, so that all arms are scored at every step."""
    kind = type(policy)
    body: dict[str, Any] = {"index_trend": "arbitrary", "__module__": __name__, "__doc__": kind.__doc__}
    if hasattr(kind, "list_index"):
        body["list_index_slope"] = no_slope
    return type(f"Rescanned{kind.__name__}", (kind,), body)()


def measure(policy: lr.Policy, rescanned: lr.Policy | None, number: int, limit: float, quick: bool) -> Row:
    """Measure one policy on one testbed."""
    bandit = lr.paper(number)
    floor, runs = floor_of(policy, bandit), RUNS if rescanned else 1
    for player in filter(None, (policy, rescanned)):
        lr.simulate(player, bandit, runs=1, threads=1)
    repeats, budget = (3, 2.0) if quick else (30, 20.0)
    measures = [floor, lambda: ours(policy, bandit, bandit.horizon, runs)]
    floors, found = in_turn(measures, repeats, budget)
    slow = None
    if rescanned:
        again = 1 if quick else 3
        slow = min(in_turn([lambda: ours(rescanned, bandit, bandit.horizon, 1)], again)[0])
    ratios = min(found) / min(floors), median(found) / median(floors)
    return Row(str(policy), bandit.name, min(floors), min(found), *ratios, limit, slow)


def benchmark(quick: bool, wanted: list[str] | None = None) -> Report:
    """Measure all policies, or those that are wanted."""
    rows = []
    for limit, numbers, names in LIMITS:
        for name in names:
            if not wanted or name in wanted:
                say(f"measuring {name}")
                policy = getattr(lr, name)()
                # A sampling policy has none: the floor itself looks at all arms.
                rescanned = None if samples(policy) else rescan_of(policy)
                rows += [measure(policy, rescanned, number, limit, quick) for number in numbers]
    claims = [Claim(f"{row.policy} on {row.testbed}: times the floor", row.ratio, row.limit) for row in rows]
    return Report([_sheet(rows, claims)], claims, [row._asdict() for row in rows])


def _sheet(rows: list[Row], claims: list[Claim]) -> Sheet:
    columns = ("policy", "testbed", "floor", "ours", "ratio", "of medians", "limit", "holds")
    columns += ("rescan", "rescan / ours")
    cells = []
    for row, claim in zip(rows, claims, strict=True):
        times = row.floor, row.ours, row.ratio, row.ratio_of_medians
        last = row.rescan, row.rescan and row.rescan / row.ours
        holds = f"{row.limit:g}", yes(claim.holds)
        cells.append((row.policy, row.testbed, *map(shown, times), *holds, *map(shown, last)))
    return Sheet("Nanoseconds a step on one thread, against the floor and our own rescan", columns, cells)


def main() -> None:
    options = arguments(__doc__.splitlines()[0], names="POLICY")
    report = benchmark(options.quick, options.names)
    show(report.sheets)
    write("floor", report.numbers)


if __name__ == "__main__":
    main()
