"""What the intervals and the verdict of an agent promise, measured.

The tables are in docs/evidence/intervals.md. Bernoulli streams of single arms bound the misses under every
policy: within 10,000 decisions an arm has at most its first 10,000 rewards.

    python benchmarks/intervals.py             # 10,000 runs: hours on one core
    python benchmarks/intervals.py misses speed  # some parts
    python benchmarks/intervals.py --quick
"""

from math import log, sqrt
from time import process_time

import numpy as np
from common import Claim, Sheet, arguments, claim_sheet, show, write
from scipy.stats import beta

import lowregret as lr
from lowregret.analysis.confidence_sequences import (
    PRIOR_REWARDS,
    TILT_SHARE,
    Totals,
    beta_binomial,
    mean_intervals,
    single_bets,
)
from lowregret.analysis.matched_rewards import (
    FIRST_REWARDS,
    Matched,
    log_matched_evidence,
    match_all,
    new_matched,
)
from lowregret.analysis.mean_differences import log_evidence
from lowregret.offline.estimators import Estimate, doubly_robust, ips, snips

ERROR, HORIZON = 0.05, 10_000
RATES = (0.002, 0.01, 0.1, 0.5)
POLICIES = ("UCB1", "MOSS", "MOSSV", "KLUCB", "ThompsonBeta", "EUCBV", "EpsilonGreedy", "RoundRobin")
FAMILIES = {"beta(0.5, 10)": (0.5, 10.0), "beta(8, 8)": (8.0, 8.0)}
PROVING = "MOSSV", "ThompsonBeta", "TopTwoThompson", "UCB1", "RoundRobin"
FALSE = (
    ("UCB1", "bernoulli:0.1*2", None),
    ("ThompsonBeta", "bernoulli:0.1*2", None),
    ("MOSSV", "bernoulli:0.1*2", None),
    ("EpsilonGreedy", "bernoulli:0.1*5", None),
    ("RoundRobin", "bernoulli:0.02*2", None),
    ("ThompsonBeta", "bernoulli:0.5,0.501", None),
    ("TopTwoThompson", "bernoulli:0.1*2", None),
    ("ThompsonBeta", "bernoulli:0.1*2", "geometric(mean=200)"),
    ("UCB1", "bernoulli:0.1*2", "constant(500)"),
    ("ThompsonGauss(0.01)", "beta:a=0.5*2;b=10", None),
    ("UCB1", "beta:a=8*2;b=8", None),
)
"""Policy, arms and delay; a window of 500 decisions is a constant delay."""
LOOKS = np.unique(np.geomspace(60, HORIZON, 600).astype(int)) - 1
"""When rewards that are not binary are looked at, since a look at all of them takes long."""
EQUAL_SHARES = {
    ".05 x4, .06": (0.05,) * 4 + (0.06,),
    ".5, .6": (0.5, 0.6),
    ".01 x2, .015": (0.01, 0.01, 0.015),
}


def share(hits: np.ndarray) -> str:
    """Write a share with its standard error."""
    mean = float(np.mean(hits))
    return f"{100 * mean:.2f} ({100 * sqrt(mean * (1 - mean) / len(hits)):.2f})"


def at_most(hits: np.ndarray) -> float:
    """Return the upper limit, in percent, of the exact one-sided 95% interval of a share."""
    count, runs = int(np.sum(hits)), len(hits)
    return 100.0 if count == runs else 100 * float(beta.ppf(0.95, count + 1, runs - count))


def limits(rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return for each number of rewards the successes at which an interval excludes the rate."""
    pulls, limit = np.arange(1.0, HORIZON + 1), log(1 / (ERROR * TILT_SHARE))
    ends = []
    for outer in (-1.0 + 0 * pulls, pulls + 1):
        inner = np.floor(pulls * rate) if outer[0] < 0 else np.ceil(pulls * rate)
        while (np.abs(outer - inner) > 1).any():
            middle = np.where(np.abs(outer - inner) > 1, np.trunc((outer + inner) / 2), inner)
            excluded = beta_binomial(Totals(pulls, middle, middle), np.full(HORIZON, rate)) >= limit
            outer, inner = np.where(excluded, middle, outer), np.where(excluded, inner, middle)
        ends.append(outer)
    return ends[0], ends[1]


def misses_of_streams(rate: float, runs: int) -> np.ndarray:
    """Return in which streams of Bernoulli rewards the interval ever misses."""
    random, (low, high) = np.random.default_rng(1), limits(rate)
    missed = []
    for _ in range(runs // 500):
        sums = (random.random((500, HORIZON)) < rate).cumsum(axis=1)
        missed.append(((sums <= low) | (sums >= high)).any(axis=1))
    return np.concatenate(missed)


def misses_of_family(shape: tuple[float, float], runs: int) -> np.ndarray:
    """Return in which streams of other rewards the mixture ever excludes the mean."""
    random, mean, pulls = np.random.default_rng(2), shape[0] / sum(shape), np.arange(1.0, HORIZON + 1)
    missed = []
    for _ in range(runs):
        rewards = random.beta(*shape, HORIZON)
        arm = Totals(pulls, rewards.cumsum(), (rewards**2).cumsum())
        tilts = beta_binomial(arm, np.full(HORIZON, mean)) + log(TILT_SHARE)
        for side in (np.array(0.0), np.array(1.0)):
            bets = single_bets(arm, np.full(HORIZON, mean), side) + log(1 - TILT_SHARE)
            tilts = np.logaddexp(tilts, bets)
        missed.append((tilts >= log(1 / ERROR)).any())
    return np.array(missed)


def misses_under_policy(name: str, rate: float, runs: int) -> np.ndarray:
    """Return in which runs the interval of the first of two equal arms ever misses."""
    low, high = limits(rate)
    missed = []
    for seed in range(runs):
        run = lr.trace(name, lr.bernoulli([rate, rate]), HORIZON, seed=seed)
        sums = np.cumsum(run.reward[run.arm == 0])
        missed.append(((sums <= low[: len(sums)]) | (sums >= high[: len(sums)])).any())
    return np.array(missed)


def cumulated(run: object, arms: int) -> Totals:
    """Return the totals of a run after each decision, in the order in which rewards count."""
    arm, reward = run.arm, run.reward
    if run.delay is not None:
        order = np.argsort(np.arange(len(arm)) + run.delay, kind="stable")
        arm, reward = arm[order], reward[order]
    hot = arm[:, None] == np.arange(arms)
    parts = (hot, hot * reward[:, None], hot * (reward**2)[:, None])
    return Totals(*(part.cumsum(axis=0).astype(float) for part in parts))


def divergence(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the Bernoulli divergences."""
    x, p = np.clip(x, 1e-12, 1 - 1e-12), np.clip(p, 1e-12, 1 - 1e-12)
    return x * np.log(x / p) + (1 - x) * np.log((1 - x) / (1 - p))


def has_verdict(arms: Totals, bounded: bool = True) -> np.ndarray:
    """Return for each time, a row, the arm of a verdict, -1 for none.

    Of binary rewards the evidence is at most the largest likelihood ratio to the mean of both arms, so that
    most times need no closer look.
    """
    times, size = arms.pulls.shape
    limit, rows, leader = log(size / ERROR), np.arange(times), arms.means.argmax(axis=1)
    first, enough = arms.at((rows, leader)), arms.pulls.min(axis=1) > 0
    binary = bounded and bool(arms.binary.all())
    for rival in range(size):
        other = arms.at((rows, rival))
        both = (first.total + other.total) / np.maximum(first.pulls + other.pulls, 1)
        if binary:
            parts = (arm.pulls * divergence(arm.means, both) for arm in (first, other))
            enough &= (leader == rival) | (sum(parts) >= limit)
    for rival in range(size):
        places = np.flatnonzero(enough & (leader != rival))
        told = log_evidence(first.at(places), arms.at((places, rival)), bounded=bounded)
        enough[places[told < limit]] = False
    return np.where(enough, leader, -1)


def false_verdicts(policy: str, bandit: lr.Bandit, delay: str | None, runs: int) -> np.ndarray:
    """Return in which runs a verdict ever names an arm that is not the only best one."""
    best, false = np.flatnonzero(bandit.gaps == 0), []
    for seed in range(runs):
        run = lr.trace(policy, bandit, HORIZON, seed=seed, delay=delay or 0)
        arms = cumulated(run, len(bandit))
        told = has_verdict(arms if bandit.binary else arms.at(LOOKS), bandit.support[1] <= 1.0)
        right = best[0] if len(best) == 1 else -1
        false.append(((told >= 0) & (told != right)).any())
    return np.array(false)


def verdict_times(rates: tuple[float, ...], runs: int) -> dict[str, np.ndarray]:
    """Return the decisions to a verdict at equal shares: ours, and those of a normal mixture."""
    size, looks = len(rates), np.unique(np.geomspace(50, 400_000, 300).astype(int))
    random, limit = np.random.default_rng(3), log(size / ERROR)
    times = {"verdict": [], "normal mixture": [], "tuned": []}
    for _ in range(runs):
        steps = random.binomial(np.diff(looks, prepend=0)[:, None], np.array(rates))
        sums = steps.cumsum(axis=0).astype(float)
        arms = Totals(np.repeat(looks[:, None], size, axis=1).astype(float), sums, sums)
        rows, last = np.arange(len(looks)), size - 1  # the best arm
        first, done = arms.at((rows, last)), np.ones((3, len(looks)), bool)
        for rival in range(last):
            other = arms.at((rows, rival))
            done[0] &= log_evidence(first, other, bounded=True) >= limit
            both = 0.5 * (first.means + other.means)
            half = looks / 2.0
            z2 = (first.means - other.means) ** 2 * half / np.maximum(both * (1 - both), 1e-12)
            for place, prior in ((1, PRIOR_REWARDS / 2), (2, half / 12)):
                ratio = half / prior
                evidence = 0.5 * z2 * ratio / (1 + ratio) - 0.5 * np.log1p(ratio)
                done[place] &= (evidence >= limit) & (first.means > other.means)
        for found, name in zip(done, times, strict=True):
            times[name].append(size * looks[found.argmax()] if found.any() else np.inf)
    return {name: np.array(values) for name, values in times.items()}


DAY = 500
"""The decisions of a day in the measurements with ``period``."""
WEEKS = " | rhythm: every=500; weekend=1.75"
FALSE_BY_DAY = (
    ("UCB1", "bernoulli:0.1*2" + WEEKS),
    ("ThompsonBeta", "bernoulli:0.1*2" + WEEKS),
    ("TopTwoThompson", "bernoulli:0.1*2" + WEEKS),
    ("EpsilonGreedy(0.3)", "bernoulli:0.1*2" + WEEKS),
    ("RoundRobin", "bernoulli:0.02*2" + WEEKS),
    ("UCB1", "bernoulli:0.1*5" + WEEKS),
    ("EpsilonGreedy(0.3)", "bernoulli:0.3,0.301" + WEEKS),
    ("UCB1", "bernoulli:0.1*2 | rhythm: every=500; trend=0.5,1.5; periods=20"),
)
SLOWER = "RoundRobin", "EpsilonGreedy(0.3)", "TopTwoThompson", "UCB1"
"""Whose verdicts with ``period`` are compared with those without."""


def said_by_day(run: object, size: int, looks: np.ndarray, best: int | None = None) -> np.ndarray:
    """Return at which looks the verdict with ``period`` names an arm, or one in particular."""
    matched, told, limit = new_matched(len(run.arm) // DAY + 1, size), [], log(size / ERROR)
    sums = cumulated(run, size)
    days = np.arange(len(run.arm)) // DAY
    for day in range(days[-1] + 1):
        begin = max(day * DAY, FIRST_REWARDS) - 1
        matched.before[day] = sums.pulls[begin], sums.total[begin]
    for first, last in zip((0, *looks), looks, strict=False):
        part = slice(max(first, FIRST_REWARDS), last)
        match_all(*matched, *(values[part] for values in (run.arm, days, run.reward)))
        so_far = Matched(*(values[: (last - 1) // DAY + 1] for values in matched))
        arms = range(size) if best is None else [best]
        others = np.arange(size)
        told.append(
            any(log_matched_evidence(so_far, arm, others[others != arm]).min() >= limit for arm in arms)
        )
    return np.array(told)


def measure_periods(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure false verdicts with ``period``, looked at every 100 decisions, and how much later it comes."""
    rows, claims, looks = [], [], np.arange(100, HORIZON + 1, 100)
    for policy, bandit in FALSE_BY_DAY:
        environment, false = lr.environment(bandit), []
        size = len(environment)
        for seed in range(runs):
            run = lr.trace(policy, environment, HORIZON, seed=seed, period=DAY)
            wrong = [0] if bandit.startswith("bernoulli:0.3,") else range(size)
            false.append(any(said_by_day(run, size, looks, arm).any() for arm in wrong))
        rows.append([policy, bandit, f"{runs:,}", share(np.array(false)), f"{at_most(false):.2f}"])
        print(*rows[-1], flush=True)
        claims.append(Claim(f"false verdict with period, {policy}, {bandit} (%)", at_most(false), 5.0))
    title = "A false verdict with period within 10,000 decisions, looked at every 100, %"
    sheets = [Sheet(title, ("policy", "arms", "runs", "false", "at most"), rows)]
    rows, looks = [], np.arange(250, 40_001, 250)
    for policy in SLOWER:
        times = {"with": [], "without": []}
        for seed in range(max(runs // 10, 10)):
            run = lr.trace(policy, "bernoulli:0.1,0.13", 40_000, seed=seed, period=DAY)
            plain = has_verdict(cumulated(run, 2).at(looks - 1)) == 1
            for name, said in (("with", said_by_day(run, 2, looks, 1)), ("without", plain)):
                times[name].append(looks[said.argmax()] if said.any() else np.inf)
        rows.append([policy, *(f"{np.median(values):,.0f}" for values in times.values())])
        print(*rows[-1], flush=True)
    title = f"Median decisions to a verdict, .10 and .13, constant rates, {max(runs // 10, 10)} runs"
    return [*sheets, Sheet(title, ("policy", "within periods", "of plain means"), rows)], claims


def proofs(runs: int) -> list[list[str]]:
    """Return the share of runs with a verdict at the end, and the regret."""
    rates, rows = EQUAL_SHARES[".05 x4, .06"], []
    result = lr.simulate(PROVING, lr.bernoulli(rates), 50_000, runs, record_rewards=True, threads=1)
    for name in PROVING:
        run = result[name]
        sums = run.rewards
        told = has_verdict(Totals(run.pulls.astype(float), sums, sums)) >= 0
        regret = run.regret[:, -1]
        rows.append([name, share(told), f"{regret.mean():.0f} ({regret.std() / sqrt(runs):.0f})"])
    return rows


def milliseconds_of_summary(arms: int, binary: bool) -> float:
    """Return how long the summary of an agent takes, in milliseconds of the processor."""
    agent, random = lr.Agent("UCB1", [str(number) for number in range(arms)]), np.random.default_rng(4)
    draws = random.random(20 * arms)
    rewards = draws < 0.1 if binary else draws
    agent.tell_many(zip(agent.ask(20 * arms), rewards.tolist(), strict=True))
    times = []
    for _ in range(5):
        began = process_time()
        agent.summary()
        times.append(1000 * (process_time() - began))
    return float(np.median(times))


def measure_misses(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure how often an interval ever misses, and its width."""
    rows, claims = [], []
    for rate in RATES:
        missed = misses_of_streams(rate, 10 * runs)
        rows.append([f"bernoulli {rate:g}", f"{10 * runs:,}", share(missed)])
        claims.append(Claim(f"an interval ever misses, rate {rate:g} (%)", 100 * missed.mean(), 5.0))
    for name, shape in FAMILIES.items():
        missed = misses_of_family(shape, runs)
        rows.append([name, f"{runs:,}", share(missed)])
        claims.append(Claim(f"an interval ever misses, {name} (%)", 100 * missed.mean(), 5.0))
    title = "An interval ever misses within 10,000 rewards, %"
    sheets = [Sheet(title, ("rewards", "streams", "misses"), rows)]
    widths = []
    for pulls in (1e3, 1e4, 1e5):
        arm = Totals(*(np.array([value]) for value in (pulls, 0.01 * pulls, 0.01 * pulls)))
        errors = ERROR, ERROR / TILT_SHARE
        ours, plain = (np.diff(mean_intervals(arm, error), axis=0).item() for error in errors)
        old = sqrt((pulls + 126) * log((pulls + 126) / (126 * ERROR**2))) / pulls
        widths.append([f"{pulls:,.0f}", f"{ours:.5f}", f"{ours / plain:.3f}", f"{old / ours:.1f}"])
        claims.append(Claim(f"width at 1%, {pulls:,.0f} pulls, by the mixture's", ours / plain, 1.15))
    columns = "pulls", "width", "by that of the mixture alone", "deviation 1/2: times as wide"
    return [*sheets, Sheet("The interval at a rate of 1%", columns, widths)], claims


def measure_policies(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure how often an interval ever misses under a policy."""
    runs = max(runs // 10, 10)
    rows = [[name, *(share(misses_under_policy(name, rate, runs)) for rate in RATES)] for name in POLICIES]
    title = f"The interval of the first of two equal arms ever misses, {runs} runs, %"
    return [Sheet(title, ("policy", *map(str, RATES)), rows)], []


def measure_false(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure how often a verdict is ever false."""
    rows, claims = [], []
    for policy, bandit, delay in FALSE:
        false = false_verdicts(policy, lr.environment(bandit), delay, runs)
        rows.append([policy, bandit, delay or "-", f"{runs:,}", share(false)])
        text = f"false verdict, {policy}, {bandit}, delay {delay or 0} (%)"
        claims.append(Claim(text, 100 * false.mean(), 5.0))
    title = "A false verdict within 10,000 decisions, looked at after each, %"
    return [Sheet(title, ("policy", "arms", "delay", "runs", "false"), rows)], claims


def measure_times(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure how long a verdict takes at equal shares."""
    rows, claims = [], []
    for name, rates in EQUAL_SHARES.items():
        medians = {key: float(np.median(values)) for key, values in verdict_times(rates, runs).items()}
        rows.append([name, *(f"{value:,.0f}" for value in medians.values())])
        ratio = medians["verdict"] / medians["normal mixture"]
        claims.append(Claim(f"median time to a verdict, {name}, by a normal mixture's", ratio, 1.3))
    title = f"Median decisions to a verdict at equal shares, {runs:,} runs"
    return [Sheet(title, ("arms", "verdict", "normal mixture", "tuned for every time"), rows)], claims


def measure_proofs(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure what policies earn and prove."""
    title = f"Earning and proving: .05 x4, .06, 50,000 decisions, {runs:,} runs"
    return [Sheet(title, ("policy", "verdict, %", "regret"), proofs(runs))], []


def measure_speed(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure how long a summary takes."""
    claims = []
    for arms, binary in ((1000, True), (1000, False), (50, True)):
        text = f"summary of {arms} arms, {'binary' if binary else 'other'} rewards (ms)"
        claims.append(Claim(text, milliseconds_of_summary(arms, binary), 50.0))
    return [], claims


def logs(epsilon: float, rates: np.ndarray, rows: int, runs: int) -> tuple[np.ndarray, ...]:
    """Return arms, rewards and propensities of the logs of epsilon-greedy policies; a row is a run."""
    random, size, every = np.random.default_rng(5), len(rates), np.arange(runs)
    pulls, sums = np.zeros((runs, size)), np.zeros((runs, size))
    columns = np.zeros((3, rows, runs))
    for row in range(rows):
        best = ((sums + 1) / (pulls + 2)).argmax(axis=1)
        arm = np.where(random.random(runs) < epsilon, random.integers(size, size=runs), best)
        reward = (random.random(runs) < rates[arm]).astype(float)
        columns[:, row] = arm, reward, epsilon / size + (1 - epsilon) * (arm == best)
        pulls[every, arm] += 1
        sums[every, arm] += reward
    arms, rewards, propensities = columns.transpose(0, 2, 1)
    return arms.astype(np.int64), rewards, propensities


def measure_replay(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure the coverage of the intervals of arms from logs with propensities."""
    rows = []
    for epsilon in (0.5, 0.2, 0.05):
        for rates in (np.array([0.1, 0.1]), np.array([0.1, 0.15])):
            covered = {name: [] for name in ("mean", "IPS", "SNIPS", "DR")}
            for arm, reward, propensity in zip(*logs(epsilon, rates, 5_000, runs), strict=True):
                of = arm == 0
                weight = of / propensity
                naive = Estimate(
                    int(of.sum()), float(reward[of].mean()), float(reward[of].std() / sqrt(of.sum()))
                )
                shares = np.array([1.0, 0.0])
                estimates = naive, ips(weight, reward), snips(weight, reward)
                estimates = *estimates, doubly_robust(shares, arm, propensity, reward)
                for name, estimate in zip(covered, estimates, strict=True):
                    low, high = estimate.interval or (np.inf, -np.inf)
                    covered[name].append(low <= rates[0] <= high)
            rows.append(
                [f"{epsilon:g}", "equal" if rates[0] == rates[1] else "worse", *map(share, covered.values())]
            )
    title = f"Coverage of 95% intervals of the first of two arms, 5,000 rows, {runs:,} logs, %"
    return [Sheet(title, ("epsilon", "the arm is", "mean of its rows", "IPS", "SNIPS", "DR"), rows)], []


PARTS = {
    "misses": measure_misses,
    "policies": measure_policies,
    "false": measure_false,
    "times": measure_times,
    "periods": measure_periods,
    "proofs": measure_proofs,
    "speed": measure_speed,
    "replay": measure_replay,
}


def main() -> None:
    """Measure, and print the tables."""
    given = arguments(__doc__ or "", names="part")
    runs = 100 if given.quick else 10_000
    sheets, claims = [], []
    for name in given.names or PARTS:
        more_sheets, more_claims = PARTS[name](runs)
        show([*more_sheets, claim_sheet(more_claims)] if more_claims else more_sheets)
        sheets, claims = sheets + more_sheets, claims + more_claims
    plain = {"sheets": [sheet._asdict() for sheet in sheets], "claims": [claim._asdict() for claim in claims]}
    write("intervals", plain)


if __name__ == "__main__":
    main()
