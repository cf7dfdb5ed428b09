"""What it costs EUCBV not to know its horizon: epochs of doubling length against the known horizon.

Both play the paper's four testbeds as a live agent does, on the same rewards; run r has seed r. The regret is
that at the testbed's horizon, which the epochs do not know and do not end at.

    python benchmarks/anytime.py [--quick]
"""

from math import sqrt
from statistics import fmean, stdev

from common import Report, Sheet, arguments, say, show, shown, write
from lowregret.online.desk import Desk

import lowregret as lr
from lowregret.engine.compile import kernel
from lowregret.engine.reference import new_game
from lowregret.engine.state import reward
from lowregret.online.agent_settings import valid_settings
from lowregret.online.state import AgentState

POLICY = lr.EUCBV()
RUNS = {1: 100, 2: 40, 3: 40, 4: 40}


def play(policy, rows, models, round, laws, data, steps):
    """Ask and tell a number of times, with the simulator's rewards; only compiled code runs this."""
    desk = Desk(rows, models)
    for _ in range(steps):
        place, _, _ = desk.step(policy, round)
        x = reward(laws[place], data, rows[place]["pulls"] + 1)
        _, round = desk.learn(policy, round, place, x)
    return round


def regret(bandit: lr.Bandit, seed: int, horizon: int | None) -> tuple[float, int]:
    """Play one run to the testbed's horizon; give its regret and the number of epochs begun."""
    arms = [str(number) for number in range(len(bandit))]
    core = AgentState(valid_settings(POLICY, arms, horizon, seed, None, "refuse"), "run")
    laws = new_game(POLICY, bandit, bandit.horizon, seed, 0).arms.rows
    run, left = kernel(play, POLICY), bandit.horizon
    while left:
        epoch = int(core.models[0]["horizon"] - core.models[0]["told"])
        steps = min(left, epoch)
        core.round = run(POLICY.record, core.rows, core.models, core.round, laws, bandit.data, steps)
        left -= steps
        if left and steps == epoch:
            core._open_epoch()
    return float((core.rows["pulls"] * bandit.gaps[core.rows["number"]]).sum()), core.epoch + 1


def error(values: list[float]) -> float:
    """Give the standard error of a mean."""
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
