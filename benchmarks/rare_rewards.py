"""Verdicts and intervals of rewards without a range where arms differ: rare, large and uneven ones.

Two arms share 20,000 decisions, half each or by epsilon-greedy with 10% exploration, and somebody looks 60
times. The tables are in docs/evidence/intervals.md. They need seconds with ``--quick``, else some minutes on
one core.

    python benchmarks/rare_rewards.py [verdicts] [ends]
"""

from collections.abc import Callable
from math import log, sqrt

import numpy as np
from common import Claim, Report, Sheet, arguments, claim_sheet, say, show, write

from lowregret.analysis.confidence_sequences import MIN_PULLS, Totals, single_intervals
from lowregret.analysis.mean_differences import log_evidence
from lowregret.analysis.nonnegative_means import (
    MIN_EFFECTIVE,
    MIN_EFFECTIVE_PAIR,
    Products,
    add_rewards,
    effective_rewards,
    lower_ends,
)

ERROR, DECISIONS, EXPLORED = 0.05, 20_000, 0.1
LOOKS = np.unique(np.geomspace(200, DECISIONS, 60).astype(int))
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def sales(share: float, price: float, spread: float = 0.0) -> Draw:
    """Return what draws sales in so many decisions, of a log-normal size with this mean."""

    def draw(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        sizes = price * np.exp(spread * random.standard_normal(shape) - 0.5 * spread**2)
        return np.where(random.random(shape) < share, sizes, 0.0)

    return draw


def pareto(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw rewards of mean 1 whose variance is infinite."""
    return (1.0 + random.pareto(1.5, shape)) / 3.0


def normal(mean: float) -> Draw:
    """Return what draws normal rewards with this mean and standard deviation 1."""
    return lambda random, shape: mean + random.standard_normal(shape)


EQUAL = None
PAIRS: dict[str, tuple[Draw, Draw, int | None, float]] = {
    "2% x 50 against 0.1% x 1,500": (sales(0.02, 50), sales(0.001, 1_500), 1, 0.5),
    "2% x 50 against 0.2% x 500": (sales(0.02, 50), sales(0.002, 500), EQUAL, 0.0),
    "3% log-normal against the same": (sales(0.03, 33.3, 1), sales(0.03, 33.3, 1), EQUAL, 0.0),
    "3% log-normal against twice as much": (sales(0.03, 33.3, 1), sales(0.03, 66.6, 1), 1, 0.999),
    "10% log-normal against 1.5 times": (sales(0.1, 10, 1), sales(0.1, 15, 1), 1, 0.5),
    "all log-normal against 1.2 times": (sales(1, 1, 1), sales(1, 1.2, 1), 1, 0.2),
    "Pareto 1.5 against the same": (pareto, pareto, EQUAL, 0.0),
    "normal against the same": (normal(0.0), normal(0.0), EQUAL, 0.0),
    "normal against 0.1 more": (normal(0.0), normal(0.1), 1, 0.1),
}
"""Two arms, the better one, and by how much."""
STREAMS: dict[str, tuple[Draw, float, int]] = {
    "0.1% sales, log-normal(1)": (sales(0.001, 1_000, 1), 1.0, 20_000),
    "0.5% sales, log-normal(1)": (sales(0.005, 200, 1), 1.0, 20_000),
    "the same, fewer": (sales(0.005, 200, 1), 1.0, 2_000),
    "3% sales, log-normal(1)": (sales(0.03, 100 / 3, 1), 1.0, 20_000),
    "1% sales, log-normal(2)": (sales(0.01, 100, 2), 1.0, 20_000),
    "all sales, log-normal(1)": (sales(1, 1, 1), 1.0, 2_000),
    "all sales, log-normal(2)": (sales(1, 1, 2), 1.0, 2_000),
    "Pareto 1.5": (pareto, 1.0, 20_000),
    "exponential": (lambda random, shape: random.exponential(size=shape), 1.0, 2_000),
    "normal, mean 5": (normal(5.0), 5.0, 2_000),
}
"""The rewards of one arm, their mean, and how many."""


def played(pair: tuple[Draw, Draw], greedy: bool, runs: int) -> tuple[Totals, np.ndarray]:
    """Return the totals at each look (runs, looks, arms), and whether no reward so far was negative."""
    random, every = np.random.default_rng(1), np.arange(runs)
    sums, shown, least = np.zeros((3, runs, 2)), [], np.zeros(runs)
    for first, last in zip((0, *LOOKS), LOOKS, strict=False):
        size = last - first
        rewards = np.stack([draw(random, (size, runs)) for draw in pair], axis=2)
        explores, either = random.random((size, runs)) < EXPLORED, random.integers(2, size=(size, runs))
        for step in range(size):
            arm = np.full(runs, (first + step) % 2)
            if greedy and first + step > 1:
                arm = np.where(explores[step], either[step], (sums[1] / sums[0]).argmax(axis=1))
            reward = rewards[step, every, arm]
            least = np.minimum(least, reward)
            for row, power in enumerate((1.0, reward, reward**2)):
                sums[row, every, arm] += power
        shown.append((sums.copy(), least >= 0.0))
    totals = np.stack([part for part, _ in shown], axis=2)
    return Totals(*totals), np.stack([positive for _, positive in shown], axis=1)


def effective(arms: Totals, positive: np.ndarray) -> np.ndarray:
    """Return the smaller effective number of two arms, infinite if a reward was negative."""
    own = [effective_rewards(*sums) for sums in zip(arms.total.ravel(), arms.squares.ravel(), strict=True)]
    return np.where(positive, np.reshape(own, arms.total.shape).min(axis=-1), np.inf)


def verdicts(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure false and right verdicts with and without the gate, and misses of differences."""
    rows, claims = [], []
    for name, (*pair, better, gap) in PAIRS.items():
        for greedy in (False, True):
            say(f"{name}, {'epsilon-greedy' if greedy else 'half each'}")
            arms, positive = played(tuple(pair), greedy, runs)
            enough, limit = effective(arms, positive), log(2 / ERROR)
            told = np.stack([evidence(arms, first) for first in (0, 1)])
            misses = np.stack([evidence(arms, first, gap) for first in (0, 1)]).max(axis=0) >= limit
            missed = (misses & (enough >= MIN_EFFECTIVE)).any(axis=1)
            cells = []
            for gate in (0.0, MIN_EFFECTIVE_PAIR):
                claimed = (told >= limit) & (enough >= gate)
                right = claimed[better] if better is not None else np.zeros_like(claimed[0])
                wrong = (claimed.any(axis=0) & ~right).any(axis=1)
                cells += [share(wrong), "-" if better is None else f"{100 * right.any(axis=1).mean():.0f}"]
                times = np.where(right.any(axis=1), LOOKS[right.argmax(axis=1)], np.inf)
                median = float(np.median(times))
                cells += ["-" if np.isinf(median) else f"{median:,.0f}"]
            rows.append([name, "epsilon-greedy" if greedy else "half each", *cells, share(missed)])
            claims.append(Claim(f"false verdict, {rows[-1][0]}, {rows[-1][1]} (%)", 100 * wrong.mean(), 5.0))
    title = f"Two arms, {DECISIONS:,} decisions, {len(LOOKS)} looks, {runs:,} runs: %"
    columns = ("arms", "decisions", "no gate: false", "right", "median", "gate: false", "right", "median")
    return [Sheet(title, (*columns, "a difference ever misses"), rows)], claims


def evidence(arms: Totals, first: int, gap: float = 0.0) -> np.ndarray:
    """Return the evidence at each look that one arm exceeds the other by more than it does."""
    shift = gap if first else -gap
    parts = [
        log_evidence(run.at((..., first)), run.at((..., 1 - first)), shift, bounded=False)
        for run in (arms.at(number) for number in range(len(arms.pulls)))
    ]
    return np.array(parts)


def ends(runs: int) -> tuple[list[Sheet], list[Claim]]:
    """Measure how often the lower and the upper end of one mean ever miss it."""
    rows, claims = [], []
    for name, (draw, mean, size) in STREAMS.items():
        say(name)
        random, looks = np.random.default_rng(2), np.unique(np.geomspace(MIN_PULLS, size, 60).astype(int))
        products, sums = [Products()] * runs, np.zeros((3, runs))
        positive = np.ones(runs, bool)
        low_misses, old_misses, misses = np.zeros((3, runs), bool)
        for first, last in zip((0, *looks), looks, strict=False):
            rewards = draw(random, (runs, last - first))
            sums += [np.full(runs, last - first), rewards.sum(axis=1), (rewards**2).sum(axis=1)]
            positive &= (rewards >= 0.0).all(axis=1)
            products = add_rewards(products, np.maximum(rewards, 0.0).tolist())
            arms = Totals(*sums)
            plain, high = single_intervals(arms, arms, False, ERROR)
            low = np.where(positive, lower_ends(products, ERROR / 2), plain)
            enough = ~positive | (effective(arms.at((..., None)), positive) >= MIN_EFFECTIVE)
            low_misses |= low > mean
            old_misses |= (plain > mean) | (high < mean)
            misses |= (low > mean) | ((high < mean) & enough)
        values = [f"{np.median(end) / mean:.3f}" for end in (low, plain)]
        kept = f"{100 * enough.mean():.0f}"
        rows.append([name, f"{size:,}", share(old_misses), share(misses), share(low_misses), kept, *values])
        claims.append(Claim(f"the lower end ever misses, {name} (%)", 100 * low_misses.mean(), 5.0))
    columns = ("rewards", "decisions", "no gate: ever misses", "gate: ever misses", "low ever misses")
    columns += ("has an upper end", "median of low / mean", "of the normal mixture's")
    return [Sheet(f"One mean, looks from {MIN_PULLS} rewards on, {runs:,} streams: %", columns, rows)], claims


def share(hits: np.ndarray) -> str:
    """Write a share in percent with its standard error."""
    mean = float(np.mean(hits))
    return f"{100 * mean:.1f} ({100 * sqrt(mean * (1 - mean) / len(hits)):.1f})"


PARTS = {"verdicts": verdicts, "ends": ends}


def main() -> None:
    """Measure, and print the tables."""
    given = arguments((__doc__ or "").splitlines()[0], names="part")
    report = Report([], [], None)
    for name in given.names or PARTS:
        sheets, claims = PARTS[name](20 if given.quick else 400)
        show([*sheets, claim_sheet(claims)])
        report = Report([*report.sheets, *sheets], [*report.claims, *claims], None)
    write("rare_rewards", [sheet._asdict() for sheet in report.sheets])


if __name__ == "__main__":
    main()
