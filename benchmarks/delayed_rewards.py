"""Clicks that are reported early and zeros that are reported late: what it costs, and what a window saves.

Five arms with rates .02 .03 .04 .05 .10, 10,000 steps. A click is reported after 20 steps. Its absence is
reported as 0 after 1,000 steps; or, with a window of 1,000 decisions, never. Beside them: every reward at
once, and every reward after 1,000 steps.

    python benchmarks/delayed_rewards.py [--quick]
"""

from heapq import heappop, heappush

import numpy as np
from common import Claim, Report, Sheet, arguments, claim_sheet, say, show, write

import lowregret as lr

MEANS = {"a": 0.02, "b": 0.03, "c": 0.04, "d": 0.05, "e": 0.10}
HORIZON, WINDOW = 10_000, 1_000
POLICIES = (lr.EUCBV(), lr.MOSSV(), lr.MOSS(), lr.ThompsonBeta(), lr.UCB1())
CASES = {
    "all at once": (0, 0, {}),
    f"all after {WINDOW:,} steps": (WINDOW, WINDOW, {}),
    f"clicks after 20, zeros after {WINDOW:,}": (20, WINDOW, {}),
    f"clicks after 20, window of {WINDOW:,}": (20, None, {"matures_after": WINDOW, "default_reward": 0}),
}


def run(policy: lr.Policy, clicks: int, zeros: int | None, window: dict, seed: int) -> tuple[float, bool]:
    """Return the regret of a run, and whether the best arm was eliminated."""
    agent = lr.Agent(policy, list(MEANS), horizon=HORIZON, seed=seed, **window).compile()
    random, late, regret = np.random.default_rng(seed), [], 0.0
    for step in range(HORIZON):
        choice = agent.ask()
        regret += 0.10 - MEANS[choice.arm]
        reward = float(random.random() < MEANS[choice.arm])
        delay = clicks if reward else zeros
        if delay is not None:
            heappush(late, (step + delay, step, choice, reward))
        while late and late[0][0] <= step:
            _, _, told, value = heappop(late)
            agent.tell(told, value)
    return regret, "e" not in agent.summary().filter(state="active")["arm"].to_list()


def benchmark(quick: bool) -> Report:
    """Play all cases with the same seeds."""
    runs, rows, claims, numbers = 4 if quick else 30, [], [], []
    for policy in POLICIES:
        for case, (clicks, zeros, window) in CASES.items():
            say(f"{policy}: {case}")
            found = [run(policy, clicks, zeros, window, 100 + seed) for seed in range(runs)]
            regrets, lost = np.array([regret for regret, _ in found]), sum(gone for _, gone in found)
            error = regrets.std(ddof=1) / runs**0.5
            numbers.append(
                {"policy": str(policy), "case": case, "regret": regrets.mean(), "error": error, "lost": lost}
            )
            rows.append((str(policy), case, f"{regrets.mean():.0f} ± {error:.0f}", f"{lost} of {runs}"))
            if window and policy == lr.EUCBV():
                claims.append(Claim("EUCBV with a window: runs in which the best arm is eliminated", lost, 0))
    columns = "policy", "rewards are reported", "regret", "best arm eliminated"
    return Report([Sheet("Early clicks, late zeros", columns, rows)], claims, numbers)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = benchmark(options.quick)
    show([*report.sheets, claim_sheet(report.claims)])
    write("delayed_rewards", report.numbers)


if __name__ == "__main__":
    main()
