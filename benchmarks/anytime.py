"""What it costs EUCBV not to know its horizon: epochs of doubling length against the known horizon.

Both play the paper's four testbeds as a live agent does, on the same rewards; run r has seed r. The regret is
that at the testbed's horizon, which the epochs do not know and do not end at.

    python benchmarks/anytime.py [--quick]
"""

from math import sqrt
from statistics import fmean, stdev

import numpy as np
from common import Report, Sheet, arguments, say, show, shown, write

import lowregret as lr
from lowregret.engine.bridge.compiler import entry
from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.state import ArmTable, lay_out, rows_of
from lowregret.online.agent_settings import valid_settings
from lowregret.online.agent_state import AgentState
from lowregret.online.model import LiveRng, apply_live, choose_live

POLICY = lr.EUCBV()
RUNS = {1: 100, 2: 40, 3: 40, 4: 40}


def play(policy, rows, models, round, scores, sources, data, steps):
    """Ask and tell a number of times, with the simulator's rewards; only compiled code runs this."""
    table, model, rng = ArmTable(rows, None, None), models[0], LiveRng(models[0])
    for _ in range(steps):
        place, _, _ = choose_live(policy, table, model, round, scores, rng)
        x = reward(sources[place], data, rows[place]["pulls"] + 1)
        _, round = apply_live(policy, table, model, round, place, x, rng)
    return round


def regret(bandit: lr.Bandit, seed: int, horizon: int | None) -> tuple[float, int]:
    """Play one run to the testbed's horizon; return its regret and the number of epochs."""
    arms = [str(number) for number in range(len(bandit))]
    state = AgentState(valid_settings(POLICY, arms, horizon, seed, None), "run")
    sources = rows_of(bandit)
    lay_out(rows_of(bandit), state.rows["number"].copy(), np.uint64(seed), 0, sources)
    left, scores = bandit.horizon, np.zeros(len(bandit))
    while left:
        epoch = int(state.models[0]["horizon"] - state.models[0]["told"])
        steps = min(left, epoch)
        arguments = state.rows, state.models, state.round, scores, sources, bandit.data, steps
        state.round = entry(play, POLICY, *arguments)(POLICY, *arguments)
        left -= steps
        if left and steps == epoch:
            state._open_epoch()
    return float((state.rows["pulls"] * bandit.gaps[state.rows["number"]]).sum()), state.epoch + 1


def error(values: list[float]) -> float:
    """Return the standard error of a mean."""
    return stdev(values) / sqrt(len(values))


def benchmark(quick: bool) -> Report:
    """Play all testbeds."""
    rows, numbers = [], []
    for number, runs in RUNS.items():
        bandit = lr.paper(number)
        runs = 2 if quick else runs
        say(f"{bandit.name}: {runs} runs of {bandit.horizon:,} pulls, twice")
        known = [regret(bandit, seed, bandit.horizon)[0] for seed in range(runs)]
        played = [regret(bandit, seed, None) for seed in range(runs)]
        unknown, begun = [value for value, _ in played], played[0][1]
        extra = [there - here for here, there in zip(known, unknown, strict=True)]
        found = {
            "testbed": bandit.name,
            "horizon": bandit.horizon,
            "runs": runs,
            "epochs": begun,
            "known": [fmean(known), error(known)],
            "unknown": [fmean(unknown), error(unknown)],
            "extra": [fmean(extra), error(extra)],
        }
        numbers.append(found)
        means = [
            f"{shown(mean)} ± {shown(width)}"
            for mean, width in (found[key] for key in ("known", "unknown", "extra"))
        ]
        ratio = f"{fmean(unknown) / fmean(known):.2f}"
        rows.append((bandit.name, f"{bandit.horizon:,}", str(runs), *means, ratio, str(begun)))
    columns = ("testbed", "T", "runs", "T known", "T unknown", "difference", "ratio", "epochs")
    return Report([Sheet("Regret of EUCBV at T, mean ± standard error", columns, rows)], [], numbers)


def main() -> None:
    report = benchmark(arguments(__doc__.splitlines()[0]).quick)
    show(report.sheets)
    write("anytime", report.numbers)


if __name__ == "__main__":
    main()
